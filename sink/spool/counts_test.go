// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// dropLines drops n lines that are too large.
func dropLines(t testing.TB, s *Sink, n int) {
	t.Helper()
	for range n {
		if err := s.WriteRecord(record(nib.LevelError, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) {
			t.Fatal(err)
		}
	}
}

// TestCountsOfAllFormerProcesses has three processes that drop lines of the
// same kind, and die before they can report them. The second one dies
// after or before its notice of the first one's is written, and the third one
// may write one or not: no line is reported twice or not at all.
func TestCountsOfAllFormerProcesses(t *testing.T) {
	for _, c := range []struct {
		unwritten, deliverOnly bool
		third, fourth          uint64 // the counts they inherit
	}{
		{false, false, 3, 2},
		{true, false, 5 + 3, 2},
		{false, true, 3, 3 + 2},
		{true, true, 5 + 3, 5 + 3 + 2},
	} {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}
		s := open(t, memDir, nil, conf)
		dropLines(t, s, 5)
		must(t, s.Close())
		s = open(t, memDir, nil, conf)
		dropLines(t, s, 3)
		must(t, s.Close())
		if c.unwritten {
			edit(t, m, store.SegmentName(s.chain.active.Load().Number), func(b []byte) { clear(b[segment.HeaderSize : segment.HeaderSize+8]) })
		}
		conf.DeliverOnly = c.deliverOnly
		s = open(t, memDir, nil, conf)
		dropLines(t, s, 2)
		third := loss.Sum(s.Stats().Inherited)
		conf.fs, conf.DeliverOnly = m.CrashClone(vfstest.Everything), false
		must(t, s.Close())
		s = open(t, memDir, nil, conf)
		if fourth := loss.Sum(s.Stats().Inherited); third != c.third || fourth != c.fourth {
			t.Errorf("%+v: the third process inherits %d and the fourth %d", c, third, fourth)
		}
	}
}

// TestCountThatCouldNotBeStored cannot write the count of a dropped line into a
// header. It is stored with the next one, of another level, before the process
// dies.
func TestCountThatCouldNotBeStored(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {}}
	s := open(t, memDir, nil, conf)
	long := func(l nib.Level) {
		if err := s.WriteRecord(record(l, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) {
			t.Fatal(err)
		}
	}
	m.Fail(vfstest.Fault{
		Op: vfstest.OpWrite, Path: store.SegmentName(1) + store.MadeSuffix,
		Times: 1, Err: syscall.EIO,
	})
	long(nib.LevelError)
	if errs := s.Stats().Errors; errs != 1 {
		t.Errorf("got %d errors, want 1", errs)
	}
	long(nib.LevelInfo)
	conf.fs = m.CrashClone(vfstest.Everything)
	must(t, s.Close())
	s = open(t, memDir, nil, conf)
	if got := s.Stats().Inherited; len(got) != 2 || loss.Sum(got) != 2 {
		t.Errorf("inherited %+v, want one line of each level", got)
	}
}

// TestCountIsStoredOnceThatIsPossible cannot write the count of a dropped line
// into a header. It is stored soon, without another line, or at the end of
// Close if the line is logged during Close.
func TestCountIsStoredOnceThatIsPossible(t *testing.T) {
	for _, closing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, hold, ended := vfstest.NewMem(nil), make(chan struct{}), make(chan error, 1)
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			f := &far{do: func(context.Context, []nib.Record) (delivery.Result, error, bool) {
				<-hold
				return delivery.Result{Accepted: 1}, nil, false
			}}
			conf := Config{
				SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {},
			}
			s := open(t, memDir, f, conf)
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
			if closing {
				go func() { ended <- s.Close() }()
			}
			synctest.Wait()
			first := store.SegmentName(1) + store.MadeSuffix
			heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: first, Err: syscall.EIO})
			_ = s.WriteRecord(record(nib.LevelError, 0, 2*segment.MinSize))
			synctest.Wait()
			heal()
			if closing {
				close(hold)
				must(t, <-ended)
			}
			await.Sleep(makePause)
			conf.fs = m.CrashClone(vfstest.Everything)
			if !closing {
				close(hold)
				must(t, s.Close())
			}
			s = open(t, memDir, nil, conf)
			if n := loss.Sum(s.Stats().Inherited); n != 1 {
				t.Errorf("closing %v: %d lines are inherited, want 1", closing, n)
			}
			must(t, s.Close())
		})
	}
}

// TestHeaderThatCannotBeReplaced has a process that only delivers, or cannot
// make a segment, and inherits a count whose notice was not written. The header
// that is to replace the last segment cannot be renamed, or the count cannot be
// stored there. After a death at any time after that, the count is inherited
// once.
func TestHeaderThatCannotBeReplaced(t *testing.T) {
	made := store.SegmentName(2) + store.MadeSuffix
	for i, fault := range []vfstest.Fault{
		{Op: vfstest.OpRename, Path: made, Err: syscall.EIO},
		{Op: vfstest.OpWrite, Path: made, Skip: 1, Err: syscall.EIO},
		{Op: vfstest.OpRename, Path: made, Err: syscall.EIO},
		{Op: vfstest.OpWrite, Path: made, Skip: 1, Err: syscall.EIO},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := memUnreported(t, 5)
			var dead []*vfstest.Mem
			fault.Fits = func(op vfstest.Op, base string) bool {
				if base == made && op == fault.Op {
					fault.Skip--
				}
				if fault.Skip < 0 {
					dead = append(dead, m.CrashClone(vfstest.Everything))
				}
				return base == made && op == fault.Op && fault.Skip < 0
			}
			heal := m.Fail(fault)
			healMaking := m.Fail(vfstest.Fault{
				Op: vfstest.OpPreallocate, Path: "*" + store.MadeExt, Err: syscall.EIO,
			})
			conf := Config{
				SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {},
				DeliverOnly: i < 2, Size: 2 * segment.MinSize,
			}
			f := &far{}
			s := open(t, memDir, f, conf)
			await.Sleep(time.Second)
			if n := loss.Sum(s.Stats().Inherited); n != 5 || s.Stats().Errors == 0 {
				t.Errorf("inherited %d lines, with %d errors, want 5 and some", n, s.Stats().Errors)
			}
			heal()
			dead = append(dead, m.CrashClone(vfstest.Everything))
			await.Sleep(time.Second)
			dead = append(dead, m.CrashClone(vfstest.Everything))
			healMaking()
			await.Sleep(time.Second)
			if n := len(f.notices); !conf.DeliverOnly && n != 1 {
				t.Errorf("%d notices arrived, want 1", n)
			}
			must(t, s.Close())
			conf.DeliverOnly, conf.Size = false, 0
			for i, m := range dead {
				conf.fs = m
				s := open(t, memDir, nil, conf)
				if n := loss.Sum(s.Stats().Inherited); n != 5 {
					t.Errorf("%s fails: after death %d of %d, %d lines are inherited, want 5",
						fault.Op, i, len(dead), n)
				}
				must(t, s.Close())
			}
		})
	}
}

// TestHeaderIsReplacedOnceThatIsPossible has a process that begins with one
// segment, whose counts no notice reports, and with no room for another: peers
// have it. The header that replaces the segment cannot be renamed at first.
func TestHeaderIsReplacedOnceThatIsPossible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{}
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		conf := Config{
			SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Sync: SyncNever,
			OnError: func(error) {},
		}
		s := open(t, memDir, nil, conf)
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		dropLines(t, s, 5)
		must(t, s.Close())
		m.Fail(vfstest.Fault{
			Op: vfstest.OpRename, Path: store.SegmentName(1) + store.MadeSuffix, Times: 1,
			Err: syscall.EIO,
		})
		s = newSink(conf.withDefaults(memDir))
		must(t, s.addDestinations(f))
		first, err := s.recover(memDir)
		s.chain.limit = segment.MinSize
		s.chain.peers = scarce{counted: closed, left: segment.MinSize}
		must(t, err, s.begin(first))
		s.start()
		await.Sleep(time.Second)
		if n, errs := len(f.notices), s.Stats().Errors; n != 1 || errs != 1 {
			t.Errorf("%d notices arrived, with %d errors, want one of each", n, errs)
		}
		must(t, s.Close())
	})
}

// TestHeaderOfAQuarantinedSegment has a process that only delivers, and
// inherits a count whose notice was not written. The file of the last segment
// is quarantined, and replaced by its header. After a death at any time, the
// count is inherited once.
func TestHeaderOfAQuarantinedSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := memUnreported(t, 5), &far{do: down}
		conf := Config{
			SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {},
			DeliverOnly: true,
		}
		s := open(t, memDir, f, conf)
		synctest.Wait()
		s.chain.Lock()
		s.chain.Links[1].Quarantine = true
		s.chain.Unlock()
		var dead []*vfstest.Mem
		heal := m.Fail(vfstest.Fault{Fits: func(vfstest.Op, string) bool {
			dead = append(dead, m.CrashClone(vfstest.Everything))
			return false
		}})
		f.set(nil)
		must(t, s.Flush(context.Background()))
		await.Sleep(time.Second)
		heal()
		must(t, s.Close())
		bad := store.SegmentName(2) + store.BadExt
		if _, err := m.Lstat(filepath.Join(memDir, bad)); err != nil {
			t.Error(err)
		}
		conf.DeliverOnly = false
		for i, m := range dead {
			conf.fs = m
			s := open(t, memDir, nil, conf)
			if n := loss.Sum(s.Stats().Inherited); n != 5 {
				t.Errorf("after death %d of %d, %d lines are inherited, want 5", i, len(dead), n)
			}
			must(t, s.Close())
		}
	})
}

// TestNoticesThatCannotBeMade has a process that only delivers, and inherits a
// count whose notice was not written. The segment for a new notice cannot be
// taken into use. After a death, the count is inherited.
func TestNoticesThatCannotBeMade(t *testing.T) {
	for skip := range 4 { // the header of the segment, its count, its start, the notice
		synctest.Test(t, func(t *testing.T) {
			m := memUnreported(t, 5)
			conf := Config{
				SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {},
				DeliverOnly: true,
			}
			s := open(t, memDir, &far{}, conf)
			await.Sleep(time.Second)
			heal := m.Fail(vfstest.Fault{
				Op: vfstest.OpWrite, Path: store.SegmentName(3) + store.MadeSuffix, Skip: skip,
				Err: syscall.EIO,
			})
			if err := s.maker.makeNotices(); err == nil && s.Stats().Errors == 0 {
				t.Error("no write has failed")
			}
			conf.fs, conf.DeliverOnly = m.CrashClone(vfstest.Everything), false
			heal()
			must(t, s.Close())
			s = open(t, memDir, nil, conf)
			if n := loss.Sum(s.Stats().Inherited); n != 5 {
				t.Errorf("write %d fails: %d lines are inherited, want 5", skip, n)
			}
			must(t, s.Close())
		})
	}
}

// memUnreported returns a spool whose last segment has a count of n lines, and
// lacks the notice that was to report it.
func memUnreported(t *testing.T, n int) *vfstest.Mem {
	t.Helper()
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	for range 2 {
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
		if s.chain.active.Load().Number == 1 {
			dropLines(t, s, n)
		}
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		must(t, s.Close())
	}
	edit(t, m, store.SegmentName(2), func(b []byte) {
		notice := b[segment.HeaderSize:]
		clear(notice[:segment.Align(int(binary.LittleEndian.Uint32(notice)))])
	})
	return m
}

// TestSettledSegmentMakesRoomAtOnce blocks a call in a full spool, begun or
// found so, until the destination is up again.
func TestSettledSegmentMakesRoomAtOnce(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{do: down}
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			conf := Config{SegmentSize: segment.MinSize, Size: 3 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {}}
			s, n := open(t, memDir, f, conf), 0
			synctest.Wait()
			for ; s.WriteRecord(record(nib.LevelInfo, n, 1000)) == nil; n++ {
			}
			conf.OnFull = []FullRule{{nib.LevelTrace, ActionBlock, time.Hour}}
			if !again {
				s.c.OnFull = conf.OnFull
			} else {
				closeDown(t, s)
				s = open(t, memDir, f, conf)
			}
			written := make(chan error)
			go func() { written <- s.WriteRecord(record(nib.LevelInfo, n, 1000)) }()
			await.Sleep(time.Minute)
			proceed := make(chan struct{})
			f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				<-proceed
				return delivery.Result{Accepted: len(batch)}, nil, false
			})
			s.chain.urge()
			proceed <- struct{}{} // for the lines of the first segment
			from := time.Now()
			must(t, <-written)
			close(proceed)
			if took := time.Since(from); took > makePause/4 {
				t.Errorf("opened again: %v: the call returned %v after the destination was up", again, took)
			}
			must(t, s.Flush(context.Background()), s.Close())
			checkLines(t, f.take(), 0, n+1, 1000)
			if left, st := m.Opened(), s.Stats(); left > 0 || st.Errors > 0 || st.Unfinished > 0 {
				t.Errorf("opened again: %v: %d files are open after Close, got %+v", again, left, st)
			}
		})
	}
}

// TestCopiesOfDroppedSegments drops two segments while the copier waits for the
// disk, and dies before it has deleted their copies: the next process takes
// neither of them for a segment, and counts no line as damaged.
func TestCopiesOfDroppedSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f, hold := vfstest.NewMem(nil), &far{do: down}, make(chan struct{})
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		conf := Config{
			SegmentSize: segment.MinSize, Size: 5 * segment.MinSize, fs: m, Drain: 1,
			SyncDelay: time.Second, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}},
			OnError: func(error) {},
		}
		s, n := open(t, memDir, f, conf), 0
		for ; s.Stats().Lost() == 0; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
			await.Sleep(time.Second)
		}
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CopyExt + "*", Hold: hold})
		for one := s.Stats().Lost(); s.Stats().Lost() < 3*one; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
			await.Sleep(conf.SyncDelay)
		}
		conf.fs = m.CrashClone(vfstest.Everything)
		lost := s.Stats().Lost()
		close(hold)
		closeDown(t, s)
		v, err := inspect(conf.fs, memDir)
		must(t, err)
		f.set(nil)
		s = open(t, memDir, f, conf)
		must(t, s.Flush(context.Background()))
		st, arrived := checkIdentity(t, s), len(f.take())
		if st.Lost() > 0 || uint64(arrived)+lost != uint64(n) {
			t.Errorf("%d of %d lines were dropped; %d have arrived, %+v", lost, n, arrived, st)
		}
		if got, want := v.Destinations[0].Pending, st.Recovered; got != want {
			t.Errorf("Inspect: %d lines are pending, want %d", got, want)
		}
	})
}

// TestSlowWriterInReusedMemory has a call that has claimed its record, but not
// written it, in memory that had other records there before: delivery waits for
// it.
func TestSlowWriterInReusedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, used, n := &far{}, map[*byte]bool{}, 0
		s := open(t, "", f, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize})
		g := s.chain.active.Load()
		for ; ; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)), s.Flush(context.Background()))
			synctest.Wait() // settled segments are reused
			if now := s.chain.active.Load(); now != g {
				used[&g.Bytes()[0]] = true
				if g = now; used[&g.Bytes()[0]] {
					break
				}
			}
		}
		r := record(nib.LevelInfo, n+1, 1000)
		size := segment.RecordSize(r, -1)
		at, seq, _ := g.Reserve(size)
		must(t, s.WriteRecord(record(nib.LevelInfo, n+2, 1000)))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: got %v, want the deadline", err)
		}
		g.Write(at, size, seq, r, -1)
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, n+3, 1000)
	})
}

// TestDroppedLinesAreCountedAtOnce drops the oldest segment, and dies before a
// new one is made: the next process knows how many lines were dropped.
func TestDroppedLinesAreCountedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, hold := memBacklog(t, 300, 200, SyncNever), make(chan struct{})
		conf := Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: m, boot: 2, Sync: SyncNever,
			OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}}
		s := open(t, memDir, nil, conf)
		synctest.Wait()
		m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Hold: hold})
		written := make(chan error)
		go func() { written <- s.WriteRecord(record(nib.LevelInfo, 300, 200)) }()
		synctest.Wait()
		conf.fs = m.CrashClone(vfstest.Everything)
		close(hold)
		must(t, <-written, s.Close())
		s = open(t, memDir, nil, conf)
		if n := loss.Sum(s.Stats().Inherited); n != 247 {
			t.Errorf("the next process knows of %d dropped lines, want 247", n)
		}
	})
}

// TestUnreadableOldestIsNotReadByEachCall has an oldest segment that cannot be
// read, and so cannot be dropped, in a full spool: the next segment is dropped,
// and then none.
func TestUnreadableOldestIsNotReadByEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, reads := memBacklog(t, 300, 200, SyncNever), 0
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: m, boot: 2, Sync: SyncNever, OnError: func(error) {},
			OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
		synctest.Wait()
		m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: store.SegmentName(1), Err: syscall.EIO, Reached: func() { reads++ }})
		const inSegment = 246 // and a notice
		for i := range inSegment + 100 {
			err := s.WriteRecord(record(nib.LevelInfo, 0, 200))
			if i < inSegment && err != nil || i >= inSegment && !errors.Is(err, errFull) {
				t.Fatalf("line %d: got %v, want errFull after %d", i, err, inSegment)
			}
		}
		await.Sleep(makePause)
		_ = s.WriteRecord(record(nib.LevelInfo, 0, 200))
		if st := s.Stats(); reads != 2 || st.Errors != 2 {
			t.Errorf("read %d times, %d errors; want 2, a pause apart", reads, st.Errors)
		}
	})
}

// TestBadSectorIsReportedAtOnce has an unreadable page in the second segment,
// whose copy has the lines, and a destination that hangs with the first of
// them.
func TestBadSectorIsReportedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := badSector{memBacklog(t, 300, 200, SyncSoon), store.SegmentName(2), segment.HeaderSize + segment.PageSize, new(atomic.Bool)}
		f, proceed := &far{}, make(chan struct{})
		f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			<-proceed
			return delivery.Result{Accepted: len(batch)}, nil, false
		})
		s := open(t, memDir, f, both(&far{do: down}, Config{fs: b, boot: 2, Sync: SyncNever, Drain: 1, OnError: func(error) {}})) // the other one keeps the segments
		synctest.Wait()
		b.on.Store(true)
		proceed <- struct{}{}
		synctest.Wait()
		if n := s.Stats().Errors; n != 1 {
			t.Errorf("got %d errors, want 1", n)
		}
		close(proceed)
		closeDown(t, s)
	})
}

// TestCountsSurviveAnyFailedWrite makes each write to a new segment fail, one
// after the other, until its notice is written. The process dies then, later,
// or goes on: the dropped lines are reported once, and no other line is lost.
func TestCountsSurviveAnyFailedWrite(t *testing.T) {
	reported := &reports{}
	for skip, failed := 0, true; failed; skip++ {
		synctest.Test(t, func(t *testing.T) {
			m, f, hold := vfstest.NewMem(nil), &far{do: down}, make(chan struct{})
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: reported.add}
			s := open(t, memDir, f, conf)
			synctest.Wait() // the next segment is made
			dropLines(t, s, 3)
			m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Hold: hold})
			m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: store.SegmentName(2) + "*", Skip: skip, Times: 1, Err: syscall.EIO})
			written := make(chan int)
			go func() {
				n := 0
				for ; s.chain.active.Load().Number == 1; n++ {
					must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
				}
				written <- n
			}()
			synctest.Wait() // a call waits for a third segment if the second one has failed
			images := []*vfstest.Mem{m.CrashClone(vfstest.Everything)}
			close(hold)
			lines := <-written
			images = append(images, m.CrashClone(vfstest.Everything))
			f.set(nil)
			must(t, s.Flush(context.Background()), s.Close())
			checkLines(t, f.take(), 0, lines, 1000)
			if n := linesReported(t, f); n != 3 {
				t.Errorf("write %d fails: notices report %d lines, want 3", skip+1, n)
			}
			st := s.Stats()
			if st.Retired > 1 {
				t.Errorf("write %d fails: %d segments were retired, want one", skip+1, st.Retired)
			}
			if failed = st.Errors+uint64(st.Retired) > 0; !failed && skip < 3 {
				t.Errorf("%d writes were made to fail, want those of the count, of the start and of the notice", skip)
			}
			for i, image := range images {
				f, conf.fs = &far{}, image
				s := open(t, memDir, f, conf)
				must(t, s.Flush(context.Background()), s.Close())
				acked := lines - 1 // the last call of the first image has not returned
				if i > 0 || st.Retired == 0 {
					acked = lines
				}
				checkLines(t, f.take(), 0, acked, 1000)
				if n := linesReported(t, f); n != 3 {
					t.Errorf("write %d fails, image %d: notices report %d lines, want 3", skip+1, i, n)
				}
			}
		})
	}
	if n := reported.with("take a segment into use"); n != 1 {
		t.Errorf("got %d reports of a segment that could not be taken into use, want one", n)
	}
}

// TestFullStartAfterAReboot opens a full spool after a reboot, and logs when
// the first segment is settled. The numbers that were skipped in between are
// not lines for the next process, also if the segment before them is missing.
func TestFullStartAfterAReboot(t *testing.T) {
	for _, missing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{}
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			conf := Config{SegmentSize: segment.MinSize, Size: 3 * segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {}, boot: 1, Drain: 1}
			s := open(t, memDir, nil, conf)
			if err := fill(s); err != errFull {
				t.Fatal(err)
			}
			inSegment := s.Stats().Pending / 3
			must(t, s.Close())
			<-s.done
			conf.boot = 2
			s = open(t, memDir, takes(inSegment), conf)
			await.Sleep(time.Second)
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
			closeDown(t, s)
			<-s.done

			want := map[bool]uint64{true: inSegment}[missing]
			if missing {
				must(t, m.Remove(filepath.Join(memDir, store.SegmentName(3))))
			}
			s = open(t, memDir, f, conf)
			must(t, s.Flush(context.Background()))
			if st := checkIdentity(t, s); uint64(len(f.take())) != 2*inSegment+1-want || st.Lost() != want || st.Unfinished > 0 {
				t.Errorf("got %+v, want %d lines lost and the others delivered", st, want)
			}
		})
	}
}

// TestCountsOfAFullStart opens a full spool with counts of dropped lines, and
// delivers all of it without logging a line. The next process reports the
// counts, whether this one has died or was closed.
func TestCountsOfAFullStart(t *testing.T) {
	for _, dies := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{}
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			conf := Config{
				SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, Sync: SyncNever, fs: m,
			}
			s := open(t, memDir, nil, conf)
			for range 2 {
				if err := fill(s); err != errFull {
					t.Fatal(err)
				}
			}
			must(t, s.Close())
			s = open(t, memDir, f, conf)
			must(t, s.Flush(context.Background()))
			await.Sleep(time.Second) // the segments are deleted
			if conf.fs = m.CrashClone(vfstest.Everything); !dies {
				conf.fs = m
			}
			must(t, s.Close())
			s = open(t, memDir, f, conf)
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)), s.Flush(context.Background()))
			if n := linesReported(t, f); n != 2 {
				t.Errorf("dies: %v: %d lines are reported, want 2", dies, n)
			}
			must(t, s.Close())
		})
	}
}
