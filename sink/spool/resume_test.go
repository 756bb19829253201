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
	"github.com/nib-log/nib/internal/vfs"
)

// A clerk is a destination that finds out what it has: its mark is how many lines
// that was. It survives the processes of a test, as a file would.
type clerk struct {
	far
	marks    [][]byte // that Resume was given
	asked    []int    // sizes of batches that Resume was given
	resumed  func() error
	syncs    int // how often SyncMark is to say true
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

// crashed returns what a spool leaves that is killed after its destination has taken lines,
// and before the cursor says so.
func crashed(t *testing.T, c *clerk, lines int) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem(nil)
	var image *vfs.Mem
	s := open(t, memDir, nil, Config{SegmentSize: minSegment, fs: m})
	for n := range lines {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 60)))
	}
	must(t, s.Close())
	m.Fail(vfs.Fault{Op: vfs.OpWrite, Path: "*.cursor", Reached: func() {
		if image == nil {
			image = m.CrashClone(vfs.Everything)
		}
	}})
	s = open(t, memDir, &c.far, Config{SegmentSize: minSegment, fs: m})
	must(t, s.Flush(context.Background()), s.Close())
	return image
}

// TestResume does not deliver again what the destination has taken before the
// crash, however much that is.
func TestResume(t *testing.T) {
	for _, left := range []int{0, 1, 10, 999} {
		c := &clerk{}
		image := crashed(t, c, 10)
		c.lines = c.lines[:max(len(c.lines)-left, 0)]
		s := open(t, memDir, c, Config{SegmentSize: minSegment, fs: image})
		must(t, s.Flush(context.Background()), s.WriteRecord(record(nib.LevelInfo, 10, 60)), s.Flush(context.Background()))
		checkLines(t, c.lines, 0, 11, 60)
		if st := checkIdentity(t, s); st.Delivered != 11 || st.Recovered != 10 {
			t.Errorf("%d left: got %+v, want 11 delivered", left, st)
		}
	}
}

// TestResumeAsksForMore when the destination has all of a batch.
func TestResumeAsksForMore(t *testing.T) {
	c := &clerk{}
	m := vfs.NewMem(nil)
	s := open(t, memDir, nil, Config{SegmentSize: minSegment, Size: 64 * minSegment, fs: m, OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
	const lines = 3000
	for n := range lines {
		r := record(nib.LevelInfo, n, 60)
		must(t, s.WriteRecord(r))
		if n < lines-10 {
			c.lines = append(c.lines, r.Line)
		}
	}
	must(t, s.Close())
	s = open(t, memDir, c, Config{SegmentSize: minSegment, fs: m})
	must(t, s.Flush(context.Background()))
	checkLines(t, c.lines, 0, lines, 60)
	if len(c.asked) < 3 || c.marks[0] != nil || c.marks[1] == nil {
		t.Errorf("Resume was given batches of %d with the marks %q, want some, and a mark from the second on", c.asked, c.marks)
	}
}

// TestMarkIsStored with the records that it belongs to, also if nothing was delivered yet.
func TestMarkIsStored(t *testing.T) {
	m, c := vfs.NewMem(nil), &clerk{}
	stored := func() []byte {
		cur, _, _, err := openCursor(&dir{fs: m, path: memDir, spool: 5}, defaultName)
		must(t, err)
		defer cur.file.Close()
		b := make([]byte, slotSize)
		_, _ = cur.file.ReadAt(b, int64(cur.count%2)*slotGap) // zeros if there is none
		return markIn(b)
	}
	var first []byte
	c.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
		if first == nil {
			first = stored()
		}
		return delivery.Result{Accepted: 1}, nil, false
	})
	s := open(t, memDir, c, Config{SegmentSize: minSegment, fs: m})
	must(t, s.WriteRecord(record(0, 0, 60)), s.WriteRecord(record(0, 1, 60)), s.Flush(context.Background()), s.Close())
	if string(first) != "m\x00" || string(stored()) != "m\x02" {
		t.Errorf("got the marks %q before and %q after, want none and two lines", first, stored())
	}
	if len(c.asked) != 0 {
		t.Error("Resume was called, and no process had left records")
	}
	c.unmarked = true
	s = open(t, memDir, c, Config{SegmentSize: minSegment, fs: m})
	must(t, s.Close())
	if string(stored()) != "m\x02" {
		t.Errorf("got the mark %q, want that of the process before", stored())
	}
}

// TestSyncMark syncs the cursor before the next Deliver, and takes no offence at one that
// settles nothing for it.
func TestSyncMark(t *testing.T) {
	m, c := vfs.NewMem(nil), &clerk{syncs: 3}
	calls, synced := 0, 0
	m.Fail(vfs.Fault{Op: vfs.OpSync, Path: "*.cursor", Reached: func() { synced++ }})
	heal := m.Fail(vfs.Fault{Op: vfs.OpWrite, Path: "*.cursor", Skip: 1, Times: 2, Err: syscall.EIO})
	defer heal()
	c.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
		if calls++; calls <= 3 {
			return delivery.Result{}, nil, true
		}
		return delivery.Result{Accepted: 1}, nil, false
	})
	s := open(t, memDir, c, Config{SegmentSize: minSegment, fs: m, tick: time.Microsecond})
	must(t, s.WriteRecord(record(0, 0, 60)), s.Flush(context.Background()))
	if st := s.Stats(); synced < 3 || st.Failures != 0 || st.Errors != 2 {
		t.Errorf("got %d syncs and %+v, want 3, no failures and 2 errors", synced, st)
	}
}

// TestFaultyResume panics, fails and answers nonsense before it works.
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
	told := make(chan error, 10)
	s := open(t, memDir, c, Config{SegmentSize: minSegment, fs: image, tick: time.Microsecond, OnError: func(err error) { told <- err }})
	must(t, s.Flush(context.Background()))
	checkLines(t, c.lines, 0, 10, 60)
	if st := s.Stats(); st.Failures != 2 || !errors.Is(<-told, errDown) {
		t.Errorf("got %+v, want two failures and to be told", st)
	}
}
