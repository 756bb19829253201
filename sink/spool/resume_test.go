// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
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

// TestResumeIsCalledAgainAfterAWholeBatch checks that Resume is called again
// when the destination has all of a batch.
func TestResumeIsCalledAgainAfterAWholeBatch(t *testing.T) {
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
