// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestWhichSegmentAStartContinues has the last segment of the previous process
// in each state: a start continues it only if it is as that process left it. In
// each state all lines arrive.
func TestWhichSegmentAStartContinues(t *testing.T) {
	at := func(n int) int { return segment.HeaderSize + n*segment.Align(segment.RecordHead+200) }
	for _, c := range []struct {
		name      string
		conf      Config
		harm      func(t testing.TB, m *vfstest.Mem)
		continues bool
		lines     int // that the previous process has left
	}{
		{"as it was left", Config{}, nil, true, 10},
		{"in another run of the system", Config{boot: 2}, nil, false, 10},
		{"with another size", Config{SegmentSize: 2 * segment.MinSize}, nil, false, 10},
		{"a claim that was not committed", Config{}, func(t testing.TB, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(1), func(b []byte) { clear(b[at(4):at(5)]) })
		}, false, 9},
		{"something behind the last record", Config{}, func(t testing.TB, m *vfstest.Mem) {
			edit(t, m, store.SegmentName(1), func(b []byte) { b[at(100)] = 1 })
		}, false, 10},
		{"a file that was cut off", Config{}, func(t testing.TB, m *vfstest.Mem) {
			f, err := m.Open(filepath.Join(memDir, store.SegmentName(1)), os.O_RDWR, 0)
			must(t, err, f.Truncate(int64(at(20))), f.Close())
		}, false, 10},
		{"a cursor that is farther", Config{}, func(t testing.TB, m *vfstest.Mem) {
			d := store.LookInto(m, memDir)
			_, err := d.List()
			must(t, err)
			cur, _, _, err := store.OpenCursor(d, defaultName)
			must(t, err, cur.Put(store.Position{Spool: d.Spool, Seq: 21}, &store.Losses{}))
			must(t, cur.File.Close())
		}, false, 0},
		{"dropped lines without a notice", Config{}, func(t testing.TB, m *vfstest.Mem) {
			s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
			if err := s.WriteRecord(record(nib.LevelInfo, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) {
				t.Fatal(err)
			}
			must(t, s.Close())
		}, false, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, f := memBacklog(t, 10, 200, SyncNever), &far{}
			if c.harm != nil {
				c.harm(t, m)
			}
			c.conf.fs, c.conf.Sync, c.conf.SegmentSize = m, SyncNever, max(c.conf.SegmentSize, segment.MinSize)
			s := open(t, memDir, f, c.conf)
			if got := s.chain.active.Load().Number == 1; got != c.continues {
				t.Errorf("the start continues the segment: got %v, want %v", got, c.continues)
			}
			must(t, s.WriteRecord(record(nib.LevelInfo, 10, 200)), s.Flush(context.Background()), s.Close())
			got := f.take()
			if len(got) != c.lines+1 || string(got[c.lines]) != string(record(nib.LevelInfo, 10, 200).Line) {
				t.Errorf("got %d lines, want %d and the new one", len(got), c.lines)
			}
			if st := checkIdentity(t, s); st.Lost() != 0 || st.Errors != 0 || m.Opened() != 0 {
				t.Errorf("got %+v and %d open files, want no losses, no errors and none", st, m.Opened())
			}
		})
	}
}

// TestFirstLinesSurvivePowerLoss syncs lines of a new spool, of a spool that a
// process continues, and of a new slot, and loses everything that was not
// synced, including names.
func TestFirstLinesSurvivePowerLoss(t *testing.T) {
	for _, c := range []struct {
		name   string
		shared bool
		before int
	}{{"a new directory", false, 0}, {"a segment that goes on", false, 10}, {"a new slot", true, 0}} {
		m := vfstest.NewMem(nil)
		if c.before > 0 {
			m = memBacklog(t, c.before, 200, SyncSoon)
		}
		conf := Config{SegmentSize: segment.MinSize, fs: m, boot: 1, Shared: c.shared}
		home := filepath.Join(memDir, "app", "spool")
		if c.before > 0 {
			home, conf.boot = memDir, 0
		}
		must(t, m.MkdirAll(filepath.Dir(home), 0o700), m.SyncDir(string(filepath.Separator)), m.SyncDir(memDir))
		s := open(t, home, nil, conf)
		<-s.maker.safe
		for n := range 5 {
			must(t, s.WriteRecord(record(nib.LevelInfo, c.before+n, 200)))
		}
		must(t, s.Sync(context.Background()))
		path := s.chain.dir.Path
		after := m.CrashClone(vfstest.Nothing)
		must(t, s.Close())
		f := &far{}
		s = open(t, path, f, Config{SegmentSize: segment.MinSize, fs: after, boot: 2})
		must(t, s.Flush(context.Background()))
		if got := len(f.take()); got != c.before+5 {
			t.Errorf("%s: got %d lines, want %d", c.name, got, c.before+5)
		}
	}
}

// TestStartWithASmallerSize starts with a Size that the last segment of the
// previous process exceeds. All lines are settled, so the first call waits
// until that segment is deleted.
func TestStartWithASmallerSize(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	f := &far{}
	s := open(t, memDir, f, Config{SegmentSize: 4 * segment.MinSize, fs: m})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()), s.Close())

	hold := make(chan struct{})
	m.Fail(vfstest.Fault{Op: vfstest.OpRename, Path: "*" + store.MadeExt, Hold: hold})
	s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: m})
	written := make(chan error, 1)
	go func() { written <- s.WriteRecord(record(nib.LevelInfo, 1, 100)) }()
	await.Until(t, "the call waits or returns", func() bool { return s.chain.IsAwaited() || len(written) > 0 })
	close(hold)
	must(t, <-written)
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, 2, 100)
}

// TestCallWaitsForADeletionInProgress fills a spool whose only other segment is
// settled and being replaced by its header.
func TestCallWaitsForADeletionInProgress(t *testing.T) {
	m, f := vfstest.NewMem(nil), &far{}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, Config{SegmentSize: 4 * segment.MinSize, fs: m})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()), s.Close())

	deleting, hold := make(chan struct{}, 1), make(chan struct{})
	m.Fail(vfstest.Fault{
		Op: vfstest.OpRename, Path: "*" + store.MadeExt, Hold: hold,
		Reached: func() { store.Signal(deleting) },
	})
	s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: m})
	<-deleting
	written := make(chan error, 1)
	go func() { written <- s.WriteRecord(record(nib.LevelInfo, 1, 100)) }()
	await.Until(t, "the call waits or returns", func() bool { return s.chain.IsAwaited() || len(written) > 0 })
	close(hold)
	must(t, <-written)
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, 2, 100)
}

// TestCallDoesNotWaitForSegmentsThatAreKept opens a full spool without a
// destination. Its segments are settled, but only a destination deletes them.
func TestCallDoesNotWaitForSegmentsThatAreKept(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, &far{}, Config{SegmentSize: 4 * segment.MinSize, fs: m})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()), s.Close())
	s = open(t, memDir, nil, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: m})
	written := make(chan error, 1)
	go func() { written <- s.WriteRecord(record(nib.LevelInfo, 1, 100)) }()
	await.Until(t, "the call waits or returns", func() bool { return s.chain.IsAwaited() || len(written) > 0 })
	if s.chain.IsAwaited() {
		t.Fatal("the call waits")
	}
	if err := <-written; !errors.Is(err, errFull) {
		t.Errorf("got %v, want errFull", err)
	}
}

// TestFirstSegmentThatCannotBeMade makes each operation on the first segment
// fail, one after the other: Open returns the error and leaves no segment, and
// succeeds later.
func TestFirstSegmentThatCannotBeMade(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpCreate, vfstest.OpPreallocate, vfstest.OpWrite} {
		failed := 0
		for ; ; failed++ {
			m := vfstest.NewMem(nil)
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}
			heal := m.Fail(vfstest.Fault{Op: op, Path: store.SegmentName(1) + "*", Skip: failed, Err: syscall.EIO})
			s, err := Open(memDir, nil, conf)
			if err == nil {
				must(t, s.Close())
				break
			}
			if names := memNames(t, m, store.SegmentExt); !errors.Is(err, syscall.EIO) || len(names) > 0 {
				t.Errorf("%s %d fails: got %v and the segments %q, want EIO and none", op, failed+1, err, names)
			}
			heal()
			s = open(t, memDir, nil, conf)
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Close())
			if n := m.Opened(); n > 0 {
				t.Errorf("%s %d fails: %d files are open after Close", op, failed+1, n)
			}
		}
		if want := map[vfstest.Op]int{vfstest.OpCreate: 1, vfstest.OpPreallocate: 1, vfstest.OpWrite: 2}[op]; failed < want {
			t.Errorf("%s failed %d times, want %d", op, failed, want)
		}
	}
}

// TestCallWaitsForAKeptFileToBeDeleted fills a spool of two segments. The first
// one is settled, but its file was kept, since the cursor could not be synced,
// and is going to be deleted.
func TestCallWaitsForAKeptFileToBeDeleted(t *testing.T) {
	m, f := vfstest.NewMem(nil), &far{}
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, f, Config{
		SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: m, Sync: SyncNever,
		OnError: func(error) {},
	})
	deleting, hold := make(chan struct{}, 1), make(chan struct{})
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: defaultName + store.CursorExt, Err: syscall.EIO})
	m.Fail(vfstest.Fault{
		Op: vfstest.OpRemove, Path: store.SegmentName(1), Times: 1, Hold: hold,
		Reached: func() { store.Signal(deleting) },
	})
	n := 0
	for ; s.chain.active.Load().Number == 1; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 2000)))
	}
	<-deleting
	written := make(chan error, 1)
	go func() {
		for first := s.chain.active.Load(); s.chain.active.Load() == first; n++ {
			if err := s.WriteRecord(record(nib.LevelInfo, n, 2000)); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	await.Until(t, "the call waits or returns", func() bool {
		return s.chain.IsAwaited() || len(written) > 0
	})
	close(hold)
	must(t, <-written)
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, n, 2000)
}
