// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestSyncWaitsForTheSlowestDestination cuts the power when one of two
// destinations has everything and the other one nothing: the lines for which
// Sync has returned are there.
func TestSyncWaitsForTheSlowestDestination(t *testing.T) {
	const lines = 10
	m, f, other := vfstest.NewMem(nil), &far{}, &far{do: down}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, both(other, Config{SegmentSize: segment.MinSize, fs: m, SyncDelay: time.Hour, tick: time.Hour, Drain: 1}))
	<-s.maker.safe // the segment is synced before
	for n := range lines {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	for of(t, s.Stats(), defaultName).Pending > 0 {
		s.chain.poke()
	}
	must(t, s.Sync(context.Background()))
	after := m.CrashClone(vfstest.Nothing)
	f, other = &far{}, &far{}
	s = open(t, memDir, f, both(other, Config{SegmentSize: segment.MinSize, fs: after, boot: 99}))
	must(t, s.Flush(context.Background()))
	checkLines(t, other.take(), 0, lines, 100)
}

// TestNumbersGoOnAfterAReboot loses delivered lines in a power failure: their
// numbers are not used again, and the cursor is past them although nothing is
// delivered afterwards.
func TestNumbersGoOnAfterAReboot(t *testing.T) {
	m, f := vfstest.NewMem(nil), &far{}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, boot: 1, Sync: SyncNever})
	<-s.maker.safe
	for n := range 10 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	must(t, s.Flush(context.Background()))
	m = m.CrashClone(vfstest.Nothing)
	s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, boot: 2, Sync: SyncNever})
	if s.chain.opened <= f.seqs[9] {
		t.Errorf("numbers begin at %d, and %d was delivered", s.chain.opened, f.seqs[9])
	}
	must(t, s.Flush(context.Background()), s.Close())
	c, seq, ok, err := cursorOf(m, s.chain.dir.Spool)
	must(t, err, c.File.Close())
	if !ok || seq != s.chain.opened {
		t.Errorf("the cursor is at %d, want %d", seq, s.chain.opened)
	}
}

// TestMissingSegmentIsDamage deletes a segment between others: its lines were
// committed, so they do not count as calls that did not return.
func TestMissingSegmentIsDamage(t *testing.T) {
	const lines, gone = 600, 247
	m, f := memBacklog(t, lines, 200, SyncNever), &far{}
	must(t, m.Remove(filepath.Join(memDir, store.SegmentName(2))))
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
	must(t, s.Flush(context.Background()))
	if st := checkIdentity(t, s); st.Lost() != gone || st.Unfinished != 0 || st.Delivered != lines-gone {
		t.Errorf("got %+v, want %d damaged", st, gone)
	}
}

// TestMarkOfAnotherSpoolIsNotUsed has a cursor that another spool has left.
func TestMarkOfAnotherSpoolIsNotUsed(t *testing.T) {
	m, c := memBacklog(t, 10, 60, SyncNever), &clerk{}
	cur, _, _, err := cursorOf(m, 0)
	must(t, err)
	cur.Mark = []byte("of another one")
	must(t, cur.Put(store.Position{Spool: 4711, Seq: 7}, &store.Losses{}), cur.File.Close())
	s := open(t, memDir, c, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
	must(t, s.Flush(context.Background()))
	checkLines(t, c.lines, 0, 10, 60)
	if len(c.marks) == 0 || c.marks[0] != nil {
		t.Errorf("Resume got the marks %q, want none first", c.marks)
	}
}

// TestWriteThatFailedIsTakenBack lets a write fail after it has written a
// record to the file. The line gets another number, and if the process dies the
// line is left once; a rejected line is not left at all.
func TestWriteThatFailedIsTakenBack(t *testing.T) {
	for _, half := range []bool{false, true} {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		faulty := vfstest.NewFaulty(m)
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: faulty, Sync: SyncNever, Drain: 1})
		awaitNext(s)
		for n := range 6 {
			if n == 3 {
				faulty.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 1, Err: os.ErrDeadlineExceeded, Done: !half, Half: half})
			}
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 300)))
		}
		f, image := &far{}, m.CrashClone(vfstest.Everything)
		s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: image, Sync: SyncNever})
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, 6, 300)
		if st := checkIdentity(t, s); st.Lost() > 0 {
			t.Errorf("got %+v, want nothing lost", st)
		}
	}
}

// TestSegmentThatIsNotBegunIsNoGap has the last line of a segment written to
// the segment after the next, because a write to the first one fails, and to
// the header of the second. No number is damaged at the next start.
func TestSegmentThatIsNotBegunIsNoGap(t *testing.T) {
	for _, times := range []int{1, 0} { // 0 is always
		m, f := vfstest.NewMem(nil), &far{}
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		conf := Config{
			SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {},
		}
		s := open(t, memDir, nil, conf)
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 300)))
		awaitNext(s)
		for n, times := range []int{1, times} {
			m.Fail(vfstest.Fault{
				Op: vfstest.OpWrite, Path: store.SegmentName(uint64(n)+1) + "*", Times: times,
				Err: syscall.EIO,
			})
		}
		must(t, s.WriteRecord(record(nib.LevelInfo, 1, 300)))
		if n := s.chain.active.Load().Number; n != 3 {
			t.Errorf("the line is in segment %d, want 3", n)
		}
		conf.fs = m.CrashClone(vfstest.Everything)
		must(t, s.Close())
		s = open(t, memDir, f, conf)
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, 2, 300)
		if st := checkIdentity(t, s); st.Lost() > 0 {
			t.Errorf("got %+v, want nothing lost", st)
		}
	}
}

// cursorOf opens the cursor of a destination without a name, as a process with
// a spool does.
func cursorOf(m *vfstest.Mem, spool uint64) (c *store.Cursor, seq uint64, ok bool, err error) {
	d := store.LookInto(m, memDir)
	d.Spool = spool
	return store.OpenCursor(d, defaultName)
}
