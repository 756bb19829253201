// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A clerk is a destination that determines which records it has: its mark is
// the number of its lines. It survives the processes of a test, as a file
// would.
type clerk struct {
	far
	marks    [][]byte // passed to Resume
	asked    []int    // sizes of the batches passed to Resume
	resumed  func() error
	syncs    int // how often SyncMark returns true
	unmarked bool
}

func (c *clerk) Mark() []byte {
	if c.unmarked {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return binary.AppendUvarint([]byte{'m'}, uint64(len(c.lines)))
}

func (c *clerk) SyncMark() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.syncs--
	return c.syncs >= 0
}

func (c *clerk) Resume(_ context.Context, mark []byte, batch []nib.Record) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.marks, c.asked = append(c.marks, bytes.Clone(mark)), append(c.asked, len(batch))
	if c.resumed != nil {
		if err := c.resumed(); err != nil {
			return 0, err
		}
	}
	taken := 0
	for _, r := range batch {
		if !slices.ContainsFunc(c.lines, func(l []byte) bool { return bytes.Equal(l, r.Line) }) {
			break
		}
		taken++
	}
	return taken, nil
}

// crashed returns the files of a spool that was killed after its destination
// had accepted lines, and before the cursor was written.
func crashed(t *testing.T, c *clerk, lines int) *vfstest.Mem {
	t.Helper()
	m := vfstest.NewMem(nil)
	var image *vfstest.Mem
	s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m})
	for n := range lines {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 60)))
	}
	must(t, s.Close())
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.cursor", Reached: func() {
		if image == nil {
			image = m.CrashClone(vfstest.Everything)
		}
	}})
	s = open(t, memDir, &c.far, Config{SegmentSize: segment.MinSize, fs: m})
	must(t, s.Flush(context.Background()), s.Close())
	return image
}

// TestResume checks that no number of records accepted before a crash is
// delivered again.
func TestResume(t *testing.T) {
	for _, left := range []int{0, 1, 10, 999} {
		c := &clerk{}
		image := crashed(t, c, 10)
		c.lines = c.lines[:max(len(c.lines)-left, 0)]
		s := open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: image})
		must(t, s.Flush(context.Background()), s.WriteRecord(record(nib.LevelInfo, 10, 60)), s.Flush(context.Background()))
		checkLines(t, c.lines, 0, 11, 60)
		if st := checkIdentity(t, s); st.Delivered != 11 || st.Recovered != 10 {
			t.Errorf("%d left: got %+v, want 11 delivered", left, st)
		}
	}
}

// TestResumeAsksForMore checks that Resume is called again when the destination
// has all of a batch.
func TestResumeAsksForMore(t *testing.T) {
	c := &clerk{}
	m := vfstest.NewMem(nil)
	s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, fs: m, OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	const lines = 3000
	for n := range lines {
		r := record(nib.LevelInfo, n, 60)
		must(t, s.WriteRecord(r))
		if n < lines-10 {
			c.lines = append(c.lines, r.Line)
		}
	}
	must(t, s.Close())
	s = open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: m})
	must(t, s.Flush(context.Background()))
	checkLines(t, c.lines, 0, lines, 60)
	if len(c.asked) < 3 || c.marks[0] != nil || c.marks[1] == nil {
		t.Errorf("Resume was given batches of %d with the marks %q, want some, and a mark from the second on", c.asked, c.marks)
	}
}

// TestMarkIsStored checks that the mark is stored together with its position,
// also if nothing was delivered yet.
func TestMarkIsStored(t *testing.T) {
	m, c := vfstest.NewMem(nil), &clerk{}
	stored := func() []byte {
		cur, _, _, err := cursorOf(m, 5)
		must(t, err)
		defer cur.File.Close()
		b := make([]byte, store.SlotSize)
		_, _ = cur.File.ReadAt(b, int64(cur.Count%2)*store.SlotGap) // zeros if there is none
		return store.MarkIn(b)
	}
	var first []byte
	c.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
		if first == nil {
			first = stored()
		}
		return delivery.Result{Accepted: 1}, nil, false
	})
	s := open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: m})
	must(t, s.WriteRecord(record(0, 0, 60)), s.WriteRecord(record(0, 1, 60)), s.Flush(context.Background()), s.Close())
	if string(first) != "m\x00" || string(stored()) != "m\x02" {
		t.Errorf("got the marks %q before and %q after, want none and two lines", first, stored())
	}
	if len(c.asked) != 0 {
		t.Error("Resume was called, and no process had left records")
	}
	c.unmarked = true
	s = open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: m})
	must(t, s.Close())
	if string(stored()) != "m\x02" {
		t.Errorf("got the mark %q, want that of the process before", stored())
	}
}

// TestSyncMark checks that the cursor is synced before the next Deliver, and
// that a Deliver that settles nothing for that reason is not a failure.
func TestSyncMark(t *testing.T) {
	m, c := vfstest.NewMem(nil), &clerk{syncs: 3}
	calls, synced := 0, 0
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*.cursor", Reached: func() { synced++ }})
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.cursor", Skip: 1, Times: 2, Err: syscall.EIO})
	defer heal()
	c.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
		if calls++; calls <= 3 {
			return delivery.Result{}, nil, true
		}
		return delivery.Result{Accepted: 1}, nil, false
	})
	s := open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: m, tick: time.Microsecond})
	must(t, s.WriteRecord(record(0, 0, 60)), s.Flush(context.Background()))
	if st := s.Stats(); synced < 3 || st.Failures != 0 || st.Errors != 2 {
		t.Errorf("got %d syncs and %+v, want 3, no failures and 2 errors", synced, st)
	}
}

// TestFaultyResume has a Resume that panics, fails and returns invalid counts
// before it works.
func TestFaultyResume(t *testing.T) {
	c := &clerk{}
	image := crashed(t, c, 10)
	calls := 0
	c.resumed = func() error {
		switch calls++; calls {
		case 1:
			return errDown
		case 2:
			panic("no")
		}
		return nil
	}
	reported := make(chan error, 10)
	s := open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: image, tick: time.Microsecond, OnError: func(err error) { reported <- err }})
	must(t, s.Flush(context.Background()))
	checkLines(t, c.lines, 0, 10, 60)
	if st := s.Stats(); st.Failures != 2 || !errors.Is(<-reported, errDown) {
		t.Errorf("got %+v, want two failures and to be notified", st)
	}
}

// A scribe is a destination whose mark the test sets.
type scribe struct {
	far
	mark   func() []byte
	resume func(n int) (int, error)
	wants  bool // SyncMark, once
}

func (x *scribe) Mark() []byte { return x.mark() }

func (x *scribe) Resume(_ context.Context, _ []byte, batch []nib.Record) (int, error) {
	return x.resume(len(batch))
}

func (x *scribe) SyncMark() (wants bool) {
	wants, x.wants = x.wants, false
	return wants
}

// markOf returns the mark stored in memDir.
func markOf(t testing.TB, m *vfstest.Mem) []byte {
	t.Helper()
	slot, _, _, err := store.ReadSlots(bytes.NewReader(memFile(t, m, filepath.Join(memDir, defaultName+store.CursorExt))))
	must(t, err)
	if slot == nil {
		t.Fatal("the cursor has no slot")
	}
	return store.MarkIn(slot)
}

// marked returns a spool with the mark "old" and an undelivered line.
func marked(t testing.TB) *vfstest.Mem {
	t.Helper()
	m, x := vfstest.NewMem(nil), &scribe{mark: func() []byte { return []byte("old") }}
	s := open(t, memDir, x, Config{SegmentSize: segment.MinSize, fs: m, Drain: 1, OnError: func(error) {}})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 60)), s.Flush(context.Background()))
	x.set(down)
	must(t, s.WriteRecord(record(nib.LevelInfo, 1, 60)))
	closeDown(t, s)
	if got := string(markOf(t, m)); got != "old" {
		t.Fatalf("got mark %q", got)
	}
	return m
}

// TestWhichMarkIsStored gets the mark of a destination at each occasion. An
// empty mark replaces the previous one only after a delivery.
func TestWhichMarkIsStored(t *testing.T) {
	whole := bytes.Repeat([]byte{'w'}, store.MaxMark)
	for _, c := range []struct {
		answer                 string
		mark                   func() []byte
		want, wantAfterDeliver string
		errors                 uint64
	}{
		{"a mark", func() []byte { return []byte("new") }, "new", "new", 0},
		{"40 bytes", func() []byte { return whole }, string(whole), string(whole), 0},
		{"41 bytes", func() []byte { return append(whole, 'x') }, "old", "old", 1},
		{"nil", func() []byte { return nil }, "old", "", 0},
		{"a panic", func() []byte { panic("no") }, "old", "old", 1},
	} {
		for _, when := range []string{"Resume", "before Deliver", "Deliver", "SyncMark"} {
			m := marked(t)
			asked, calls, want := 0, 0, c.want
			x := &scribe{resume: func(n int) (int, error) { return 0, nil }}
			first := when == "Resume" || when == "before Deliver"
			x.mark = func() []byte {
				if asked++; asked == 1 && !first || asked > 2 {
					return nil
				}
				return c.mark()
			}
			stored := make(chan string, 1)
			switch when {
			case "Resume":
				x.resume = func(n int) (int, error) { return n, nil }
			case "Deliver":
				want = c.wantAfterDeliver
			case "SyncMark":
				x.wants = true
				fallthrough
			default:
				x.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
					if calls++; calls == 2 || when == "before Deliver" && calls == 1 {
						stored <- string(markOf(t, m))
					}
					return delivery.Result{}, nil, true
				})
			}
			s := open(t, memDir, x, Config{SegmentSize: segment.MinSize, fs: m, tick: time.Microsecond, Drain: 1, OnError: func(error) {}})
			var got string
			if when == "Resume" || when == "Deliver" {
				must(t, s.Flush(context.Background()))
				got = string(markOf(t, m))
			} else {
				got = <-stored
			}
			closeDown(t, s)
			if got != want || s.Stats().Errors < c.errors {
				t.Errorf("%s at %s: got mark %q and %d errors, want %q and %d", c.answer, when, got, s.Stats().Errors, want, c.errors)
			}
		}
	}
}

// TestInvalidResultsOfResumeAreErrors returns impossible counts: nothing is
// settled, and Resume is called again.
func TestInvalidResultsOfResumeAreErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(n int) (int, error)
		want   error
	}{
		{"less than nothing", func(int) (int, error) { return -1, nil }, deliver.ErrTaken},
		{"more than there is", func(n int) (int, error) { return n + 1, nil }, deliver.ErrTaken},
		{"an error", func(int) (int, error) { return 3, errDown }, errDown},
		{"an error and less than nothing", func(int) (int, error) { return -1, errDown }, errDown},
	} {
		m, x := memBacklog(t, 10, 60, SyncNever), &scribe{mark: func() []byte { return nil }}
		asked := 0
		x.resume = func(n int) (int, error) {
			if asked++; asked == 1 {
				return c.answer(n)
			}
			return 0, nil
		}
		reported := make(chan error, 10)
		s := open(t, memDir, x, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, tick: time.Microsecond, OnError: func(err error) { reported <- err }})
		must(t, s.Flush(context.Background()))
		checkLines(t, x.take(), 0, 10, 60)
		if err := <-reported; !errors.Is(err, c.want) || asked != 2 || s.Stats().Failures != 1 {
			t.Errorf("%s: Resume was called %d times, %d attempts failed with %v; want 2 times, and once %v", c.name, asked, s.Stats().Failures, err, c.want)
		}
	}
}

// TestCursorIsSyncedOnceBeforeDelivery checks that the cursor is not synced for
// each batch, and that failures count even if the destination may require a
// sync.
func TestCursorIsSyncedOnceBeforeDelivery(t *testing.T) {
	m, c := vfstest.NewMem(nil), &clerk{}
	synced, calls := 0, 0
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Reached: func() { synced++ }})
	c.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		if calls++; calls <= 3 {
			return delivery.Result{}, nil, true
		}
		return delivery.Result{Accepted: len(batch)}, nil, false
	})
	s := open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: m, tick: time.Microsecond, OnError: func(error) {}})
	for n := range 5 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 60)), s.Flush(context.Background()))
	}
	must(t, s.Close())
	if st := s.Stats(); synced != 1 || st.Failures != 3 {
		t.Errorf("got %d syncs and %d failures, want 1 and 3", synced, st.Failures)
	}
}
