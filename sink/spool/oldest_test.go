// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestDropOldDoesNotWaitForTheDisk makes each file operation of dropping the
// oldest segment hang: calls wait for slowDisk once, and then drop their lines,
// and no other method waits.
func TestDropOldDoesNotWaitForTheDisk(t *testing.T) {
	for name, fault := range map[string]vfstest.Fault{
		"open":   {Op: vfstest.OpOpen, Path: store.SegmentName(2)},
		"read":   {Op: vfstest.OpRead, Path: store.SegmentName(2)},
		"note":   {Op: vfstest.OpWrite, Path: store.SegmentName(3)},
		"close":  {Op: vfstest.OpClose, Path: store.SegmentName(3)},
		"delete": {Op: vfstest.OpRemove, Path: store.SegmentName(2)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memBacklog(t, 900, 200, SyncNever) // four segments
				s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
					OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}, slow: slowDisk})
				synctest.Wait()
				hold := make(chan struct{})
				fault.Hold = hold
				m.Fail(fault)
				began, refused := time.Now(), 0
				for n := range 400 { // a segment has 247
					if s.WriteRecord(record(nib.LevelInfo, n, 200)) != nil {
						refused++
					}
				}
				if took := time.Since(began); took < slowDisk || took > 2*slowDisk || refused == 0 {
					t.Errorf("the calls took %v, and %d lines were dropped; want %v and some", took, refused, slowDisk)
				}
				checkIdentity(t, s)
				close(hold)
				synctest.Wait()
				for n := range 400 {
					must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
				}
				if st := checkIdentity(t, s); st.Errors > 0 || st.Segments > 5 {
					t.Errorf("got %+v, want no errors and up to 5 segments", st)
				}
				closeDown(t, s)
			})
		})
	}
}

// TestDropOldHoldsSizeIfFilesCannotBeDeleted drops segments whose files cannot
// be deleted: they count towards Size, and no more are dropped than can make
// room.
func TestDropOldHoldsSizeIfFilesCannotBeDeleted(t *testing.T) {
	const size, inSegment = 6, 247
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: size * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
			OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}, slow: slowDisk})
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: "*" + store.SegmentExt, Err: syscall.EPERM})
		refused := uint64(0)
		for n := range 20 * inSegment {
			if s.WriteRecord(record(nib.LevelInfo, n, 200)) != nil {
				refused++
			}
			if n%100 == 0 && countFiles(t, m) > size {
				t.Fatalf("%d segments after %d lines, want up to %d", countFiles(t, m), n, size)
			}
		}
		if st := checkIdentity(t, s); st.Segments != countFiles(t, m) || st.Lost() > refused+2*inSegment {
			t.Errorf("got %+v with %d files, want up to 2 segments dropped besides %d refused lines", st, countFiles(t, m), refused)
		}
		heal()
		await.Sleep(2 * makePause) // it is tried again
		for n := range 10 * inSegment {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		if st := checkIdentity(t, s); countFiles(t, m) > size {
			t.Errorf("got %+v with %d files, want up to %d", st, countFiles(t, m), size)
		}
		synctest.Wait()
		if s.chain.Unlinked != 0 {
			t.Errorf("%d segments are being deleted", s.chain.Unlinked)
		}
		closeDown(t, s)
	})
}

// TestDropOldOnAFullDiskDropsOneSegment makes the disk full while the spool has
// room: a call drops one segment, not all of them, and none if making a segment
// fails for another reason.
func TestDropOldOnAFullDiskDropsOneSegment(t *testing.T) {
	const inSegment = 247
	for _, c := range []struct {
		err  error
		want uint64 // segments
	}{{syscall.ENOSPC, 1}, {syscall.EMFILE, 0}} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 100 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
				OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}, slow: slowDisk})
			n := 0
			for ; n < 10*inSegment; n++ {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			}
			synctest.Wait() // the next one is made
			m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Path: "*", Err: c.err})
			for s.WriteRecord(record(nib.LevelInfo, n, 200)) == nil {
				n++
			}
			if lost := checkIdentity(t, s).Lost(); lost != c.want*inSegment+1 {
				t.Errorf("%v: %d lines were dropped, want %d segments and the last line", c.err, lost, c.want)
			}
			closeDown(t, s)
		})
	}
}

// TestDropOldDeletesWhatACursorHasNotPassed drops a segment that one
// destination has settled, but whose file stays because its cursor could not be
// synced, and that another one has not read.
func TestDropOldDeletesWhatACursorHasNotPassed(t *testing.T) {
	const inSegment = 247
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, &far{}, both(&far{do: down}, Config{Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
			OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}}))
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: defaultName + store.CursorExt,
			Err: syscall.EIO})
		for n := 0; of(t, s.Stats(), "other").Lost() == 0; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			await.Sleep(time.Second)
		}
		st, settled, files := checkIdentity(t, s), len(s.chain.undeleted), countFiles(t, m)
		if of(t, st, "other").Lost() != inSegment || settled > 0 || files > 5 {
			t.Errorf("got %+v with %d settled segments and %d files, want one segment dropped",
				st, settled, files)
		}
		closeDown(t, s)
	})
}

// TestDropOldIsAskedInVain asks for the oldest segment to be dropped, although
// the call that needs room has got a segment since, or the spool is closed.
func TestDropOldIsAskedInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "", &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, Drain: 1, OnError: func(error) {}})
		if err := fill(s); err != errFull {
			t.Fatal(err)
		}
		ready := &segment.Segment{}
		for _, c := range []struct {
			closed bool
			next   *segment.Segment
			want   int // segments
		}{{true, nil, 4}, {false, ready, 4}, {false, nil, 3}} {
			s.chain.Lock()
			s.chain.Closed, s.chain.next, s.chain.dropRequested = c.closed, c.next, true
			s.chain.Unlock()
			s.maker.serveDropRequest()
			s.chain.Lock()
			s.chain.Closed, s.chain.next, s.chain.dropping = false, nil, false
			s.chain.Unlock()
			if got := len(s.chain.Links); got != c.want {
				t.Errorf("%+v: got %d segments, want %d", c, got, c.want)
			}
		}
		s.chain.Lock()
		dropped := 0
		for dropped < 3 && s.maker.dropOldest() {
			dropped++
		}
		s.chain.Unlock()
		if dropped != 1 {
			t.Errorf("%d more segments were dropped, want that between the one that is read and the active one", dropped)
		}
		closeDown(t, s)
	})
}

// TestDropOldInASlotOfADeadProcess has a call for which a segment in the slot
// of a dead process is dropped, which takes a while: it returns when that has
// ended, with room or not.
func TestDropOldInASlotOfADeadProcess(t *testing.T) {
	const takes = 20 * time.Millisecond
	for _, c := range []struct {
		fault vfstest.Fault
		want  error
	}{
		{vfstest.Fault{Op: vfstest.OpRemove}, nil},
		{vfstest.Fault{Op: vfstest.OpRemove, Err: syscall.EPERM}, errFull},
		{vfstest.Fault{Op: vfstest.OpRead, Err: syscall.EIO}, nil}, // the next one is dropped
	} {
		synctest.Test(t, func(t *testing.T) {
			m, hold := vfstest.NewMem(nil), make(chan struct{})
			conf := shared(Config{Size: 4 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, slow: slowDisk, OnError: func(error) {}})
			dead := open(t, memDir, nil, conf)
			if err := fill(dead); err != errFull {
				t.Fatal(err)
			}
			inSegment := dead.Stats().Pending / 4
			conf.OnFull = []FullRule{{nib.LevelTrace, ActionDropOld, 0}}
			s := open(t, memDir, &far{do: down}, conf)
			must(t, dead.Close())
			await.Sleep(time.Second) // the slot is taken over
			c.fault.Path, c.fault.Hold = store.SegmentName(2), hold
			m.Fail(c.fault)
			time.AfterFunc(takes/2, func() {
				s.chain.Lock()
				s.chain.Broadcast() // as for other calls
				s.chain.Unlock()
			})
			time.AfterFunc(takes, func() { close(hold) })
			began := time.Now()
			err := s.WriteRecord(record(nib.LevelInfo, 0, 1000))
			if took := time.Since(began); err != c.want || took != takes {
				t.Errorf("%s: got %v after %v, want %v after %v", c.fault.Op, err, took, c.want, takes)
			}
			want := inSegment
			if c.want != nil {
				want++ // the line
			}
			if st := checkIdentity(t, s); st.Lost() != want {
				t.Errorf("%s: got %+v, want %d lines dropped", c.fault.Op, st, want)
			}
			closeDown(t, s)
		})
	}
}

// TestDropOldPassesASegmentThatCannotBeRead cannot read the oldest segment that
// could be dropped.
func TestDropOldPassesASegmentThatCannotBeRead(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpRead} {
		synctest.Test(t, func(t *testing.T) {
			m, f := memBacklog(t, 900, 200, SyncNever), &far{do: down} // four segments
			s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
				OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}, slow: slowDisk})
			synctest.Wait()
			heal := m.Fail(vfstest.Fault{Op: op, Path: store.SegmentName(2), Err: syscall.EIO})
			dropsOthers(t, s, f, 900, heal)
		})
	}
}

// dropsOthers checks that s, which has n lines and cannot read its second
// segment, drops later ones, that no call fails, and that the lines of the
// second one arrive once it can be read again.
func dropsOthers(t *testing.T, s *Sink, f *far, n int, heal func()) {
	t.Helper()
	const inSegment = 247
	for i := range 10 * inSegment {
		must(t, s.WriteRecord(record(nib.LevelInfo, n+i, 200)))
		if i%100 == 0 {
			time.Sleep(makePause) // it is tried again
		}
	}
	if st := checkIdentity(t, s); st.Errors == 0 || st.Segments > 5 || st.Lost() < 5*inSegment || st.Lost()%inSegment != 0 {
		t.Errorf("got %+v, want errors, up to 5 segments and the lines of whole ones dropped", st)
	}
	heal()
	f.set(nil)
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take()[:2*inSegment], 0, 2*inSegment, 200)
	checkIdentity(t, s)
	must(t, s.Close())
}

// TestDropOldWithADamagedRecord damages a record in the oldest segment that
// could be dropped. The segment is dropped, with one line counted as damaged.
// If the length is damaged, as if a call were still writing, the next one is.
func TestDropOldWithADamagedRecord(t *testing.T) {
	const inSegment = 247
	for _, c := range []struct {
		at      int // offset in the record
		damaged uint64
	}{{segment.RecordHead + 3, 1}, {0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			f := &far{do: down}
			s, n := open(t, "", f, Config{
				SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, Drain: 1,
				OnError: func(error) {}, OnFull: []FullRule{{Do: ActionDropOld}}, slow: slowDisk,
			}), 0
			for ; s.chain.active.Load().Number < 4; n++ {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			}
			b := s.chain.Links[1].Live.Bytes()
			b[segment.HeaderSize+10*segment.Align(segment.RecordHead+200)+c.at] ^= 0x40
			for range inSegment {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
				n++
			}
			want := []delivery.Drop{
				{Reason: delivery.ReasonOldest, Level: nib.LevelInfo, Lines: inSegment - c.damaged},
			}
			if c.damaged > 0 {
				want = append(want, delivery.Drop{
					Reason: delivery.ReasonDamaged, Level: segment.LevelUnknown, Lines: c.damaged,
				})
			}
			if st := checkIdentity(t, s); !slices.Equal(st.Dropped, want) {
				t.Errorf("offset %d: dropped %+v, want %+v", c.at, st.Dropped, want)
			}
			f.set(nil)
			must(t, s.Flush(context.Background()))
			if st := checkIdentity(t, s); st.Lost() != inSegment+1-c.damaged {
				t.Errorf("offset %d: got %+v, want one segment and the damaged line lost", c.at, st)
			}
			must(t, s.Close())
		})
	}
}

// TestDropOldWhileADestinationPasses has a destination that settles a segment
// and leaves it after another one's cursor says that the segment is dropped:
// only the other one loses it.
func TestDropOldWhileADestinationPasses(t *testing.T) {
	const lines, more, inSegment = 900, 400, 247
	synctest.Test(t, func(t *testing.T) {
		m := memBacklog(t, lines, 200, SyncNever) // four segments
		pass, hold, written := make(chan struct{}), make(chan struct{}), make(chan error)
		passing := &far{}
		passing.set(func(_ context.Context, b []nib.Record) (delivery.Result, error, bool) {
			<-pass
			return delivery.Result{Accepted: len(b)}, nil, false
		})
		s := open(t, memDir, &far{do: down}, both(passing, Config{
			Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
			OnError: func(error) {}, OnFull: []FullRule{{Do: ActionDropOld}}, slow: time.Minute,
		}))
		synctest.Wait()
		m.Fail(vfstest.Fault{
			Op: vfstest.OpWrite, Path: defaultName + store.CursorExt, Times: 1, Hold: hold,
		})
		go func() {
			var err error
			for n := range more {
				err = errors.Join(err, s.WriteRecord(record(nib.LevelInfo, lines+n, 200)))
			}
			written <- err
		}()
		synctest.Wait()
		close(pass)
		await.Sleep(time.Second)
		close(hold)
		must(t, <-written)
		await.Sleep(time.Second)
		checkLines(t, passing.take(), 0, lines+more, 200)
		st := checkIdentity(t, s)
		if d := of(t, st, "other"); d.Lost() > 0 || d.Pending > 0 || st.Lost() != inSegment {
			t.Errorf("got %+v and %d lost, want none and %d", d, st.Lost(), inSegment)
		}
		closeDown(t, s)
	})
}

// upTo returns a destination that accepts batches up to a number, and waits for
// pass before each, and that hangs afterwards.
func upTo(last uint64, pass <-chan struct{}) *far {
	f := &far{}
	f.set(func(ctx context.Context, b []nib.Record) (delivery.Result, error, bool) {
		<-pass
		if b[0].Seq > last {
			<-ctx.Done()
			return delivery.Result{}, ctx.Err(), true
		}
		return delivery.Result{Accepted: len(b)}, nil, false
	})
	return f
}

// TestDeathWhileASegmentIsDropped kills a process while it drops a segment:
// before the file is deleted or after, and before the destination has passed
// the gap or after. Each line arrives, or the next process counts it, not both.
func TestDeathWhileASegmentIsDropped(t *testing.T) {
	const lines, inSegment = 900, 247
	for _, c := range []struct{ passed, deleted bool }{
		{false, false}, {false, true}, {true, false}, {true, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := memBacklog(t, lines, 200, SyncNever) // four segments
			pass, hold, full := make(chan struct{}), make(chan struct{}), make(chan struct{})
			f := upTo(inSegment, pass)
			conf := Config{
				SegmentSize: segment.MinSize, Size: 5 * segment.MinSize, fs: m, Sync: SyncNever,
				Drain: 1, OnError: func(error) {}, OnFull: []FullRule{{Do: ActionDropOld}},
				slow: time.Minute,
			}
			s := open(t, memDir, f, conf)
			synctest.Wait()
			m.Fail(vfstest.Fault{
				Op: vfstest.OpRemove, Path: store.SegmentName(2), Times: 1, Hold: hold,
			})
			logged := lines
			go func() {
				defer close(full)
				for range 2 * inSegment {
					if s.WriteRecord(record(nib.LevelInfo, logged, 200)) == nil {
						logged++
					}
				}
			}()
			synctest.Wait()
			if c.passed {
				close(pass)
				await.Sleep(time.Second)
			}
			image, want := m.CrashClone(vfstest.Everything), uint64(logged-len(f.take()))
			close(hold)
			if !c.passed {
				close(pass)
			}
			<-full
			closeDown(t, s)
			if c.deleted {
				must(t, image.Remove(filepath.Join(memDir, store.SegmentName(2))))
			}

			next := &far{}
			conf.fs, conf.Drain, conf.OnFull = image, eventTimeout, nil
			s = open(t, memDir, next, conf)
			must(t, s.Flush(context.Background()))
			st, lost := checkIdentity(t, s), uint64(0)
			for _, x := range st.Inherited {
				lost += x.Lines
			}
			must(t, s.Close())
			got := uint64(len(next.take()))
			if got+lost != want || lost != inSegment || st.Lost() > 0 {
				t.Errorf("%+v: of %d lines, %d arrived and %d were counted", c, want, got, lost)
			}
		})
	}
}

// TestPlaceholderKeepsNoSegment has a destination that waits at the placeholder
// of a full start: the segment before can be dropped, which another destination
// has not read.
func TestPlaceholderKeepsNoSegment(t *testing.T) {
	const lines, inSegment = 2 * 247, 247
	synctest.Test(t, func(t *testing.T) {
		m, f := memBacklog(t, lines, 200, SyncNever), &far{} // two segments
		s := open(t, memDir, &far{do: down}, both(f, Config{
			Size: 2 * segment.MinSize, fs: m, Sync: SyncNever, boot: 7, Drain: 1,
			OnError: func(error) {}, OnFull: []FullRule{{Do: ActionDropOld}}, slow: time.Minute,
		}))
		await.Sleep(time.Second)
		must(t, s.WriteRecord(record(nib.LevelInfo, lines, 200)))
		await.Sleep(time.Second)
		checkLines(t, f.take(), 0, lines+1, 200)
		if st := checkIdentity(t, s); st.Lost() != inSegment || of(t, st, "other").Lost() > 0 {
			t.Errorf("got %+v, want one segment dropped for the first destination", st)
		}
		closeDown(t, s)
	})
}
