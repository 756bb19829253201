// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// deadSlots leaves slots of processes that have ended, each with a line, in
// memDir.
func deadSlots(t testing.TB, m *vfstest.Mem, slots int) {
	t.Helper()
	var all []*Sink
	for n := range slots {
		s := open(t, memDir, nil, heir(m, time.Hour))
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		all = append(all, s)
	}
	for _, s := range all {
		must(t, s.Close())
	}
}

// heir returns the configuration of a process that adopts slots.
func heir(m *vfstest.Mem, poll time.Duration) Config {
	return Config{SegmentSize: segment.MinSize, Shared: true, fs: m, Sync: SyncNever, poll: poll, OnError: func(error) {}}
}

// slotsOf returns the slots in memDir.
func slotsOf(t testing.TB, m *vfstest.Mem) []string {
	t.Helper()
	return slices.DeleteFunc(memNames(t, m, ""), func(name string) bool { return !store.IsSlot(name) })
}

// TestSlotsAreDeliveredFourAtATime has a slow destination. If it can be forked
// it gets the lines of four slots at a time, otherwise of one. The waiting
// slots follow at once.
func TestSlotsAreDeliveredFourAtATime(t *testing.T) {
	const slots = 6
	for _, want := range []int32{1, mostSlots + 1} { // and the lines of its own slot
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			deadSlots(t, m, slots)
			var busy, most atomic.Int32
			f, proceed := &far{}, make(chan struct{})
			f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				most.Store(max(most.Load(), busy.Add(1)))
				<-proceed
				busy.Add(-1)
				return delivery.Result{Accepted: len(batch)}, nil, false
			})
			x := newForked(t, f)
			dest := delivery.Destination(f)
			if want > 1 {
				dest = x
			}
			s := open(t, memDir, dest, heir(m, time.Hour)) // takes the first slot as its own
			for n := range 10 {
				must(t, s.WriteRecord(record(nib.LevelInfo, slots+n, 200)))
			}
			synctest.Wait()
			others := int32(len(s.chain.peers.(*sharedDir).list))
			if got := busy.Load(); got != want || others != mostSlots {
				t.Errorf("got %d calls of Deliver at a time and %d slots, want %d and %d", got, others, want, mostSlots)
			}
			close(proceed)
			await.Sleep(time.Minute)
			if got := slotsOf(t, m); len(got) != 1 || want == 1 && most.Load() != 1 {
				t.Errorf("got the slots %q, and %d calls of Deliver at a time", got, most.Load())
			}
			must(t, s.Close())
			if got := len(f.take()); got != slots+10 || *x.closed != *x.forks {
				t.Errorf("got %d lines, want %d; %d destinations were forked and %d closed", got, slots+10, *x.forks, *x.closed)
			}
			if n := m.Opened(); n > 0 {
				t.Errorf("%d files are open after Close", n)
			}
		})
	}
}

// TestCloseWaitsForAllSlotsAtOnce closes a spool that delivers the maximum
// number of slots of dead processes to a destination that hangs.
func TestCloseWaitsForAllSlotsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{}
		deadSlots(t, m, 1+mostSlots)
		end, hanging := make(chan struct{}), atomic.Int32{}
		f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			hanging.Add(1)
			<-end
			return delivery.Result{}, errDown, true
		})
		c := heir(m, time.Hour)
		c.Drain, c.hang = time.Nanosecond, hangs
		x := newForked(t, f)
		s := open(t, memDir, x, c)
		synctest.Wait()
		if n := hanging.Load(); n != 1+mostSlots {
			t.Errorf("got %d calls that hang, want one for each slot", n)
		}
		from := time.Now()
		closeDown(t, s)
		if took := time.Since(from); took > 2*hangs+time.Millisecond {
			t.Errorf("Close took %v, want %v", took, 2*hangs)
		}
		if *x.closed != 1 { // which Open has tried
			t.Errorf("%d destinations were closed, want none of those whose calls hang", *x.closed-1)
		}
		close(end)
		<-s.done
		synctest.Wait()
		if *x.closed != *x.forks {
			t.Errorf("%d destinations were forked and %d closed", *x.forks, *x.closed)
		}
	})
}

// TestSlotSettledByCloseIsDeleted closes a spool while a call of Deliver has
// the last lines of a dead process, from a slot or from a directory that was
// used unshared. The call succeeds: the slot is gone, and so is the lock file
// of the directory, which would make it look like a spool.
func TestSlotSettledByCloseIsDeleted(t *testing.T) {
	for _, unshared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, f, end := vfstest.NewMem(nil), &far{}, make(chan struct{})
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			if unshared {
				dead := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
				must(t, dead.WriteRecord(record(nib.LevelInfo, 0, 200)), dead.Close())
			} else {
				deadSlots(t, m, 2) // s takes the first one
			}
			f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				<-end
				return delivery.Result{Accepted: len(batch)}, nil, false
			})
			s := open(t, memDir, f, heir(m, time.Hour))
			synctest.Wait()
			closed := make(chan error)
			go func() { closed <- s.Close() }()
			synctest.Wait()
			close(end)
			must(t, <-closed)
			want := []string{store.SlotName(1)}
			if unshared {
				want = nil // s has made its slot, and logged nothing
			}
			if names := memNames(t, m, ""); !slices.Equal(names, want) {
				t.Errorf("unshared: %v: got the files %q, want %q", unshared, names, want)
			}
		})
	}
}

// TestDroppedSlotMakesRoomAtOnce fills a home with the slot of a dead process:
// a call that drops a segment there does not wait until other processes are
// looked at again.
func TestDroppedSlotMakesRoomAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{do: down}
		c := heir(m, time.Hour)
		c.Size, c.Drain, c.slow = 4*segment.MinSize, 1, time.Hour
		s := open(t, memDir, nil, c)
		dead := open(t, memDir, nil, c)
		for n := 0; dead.WriteRecord(record(nib.LevelInfo, n, 2000)) == nil; n++ {
		}
		must(t, dead.Close(), s.Close())
		c.OnFull = []FullRule{{From: nib.LevelTrace, Do: ActionDropOld}}
		s = open(t, memDir, f, c)
		synctest.Wait()
		for n := range 100 {
			from := time.Now()
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 2000)))
			if took := time.Since(from); took > makePause/25 {
				t.Errorf("call %d took %v", n, took)
			}
		}
		closeDown(t, s)
	})
}

// TestSlotThatStaysIsTriedAgain makes deleting a segment of a slot fail for a
// while: it is retried, and in the end the slot is deleted and its lines have
// been delivered once.
func TestSlotThatStaysIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f, tries := vfstest.NewMem(nil), &far{}, atomic.Int32{}
		deadSlots(t, m, 2)
		var heal func()
		heal = m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: store.SegmentName(1), Err: syscall.EIO, Reached: func() {
			if tries.Add(1) == 100 {
				heal() // it does not pause
			}
		}})
		s := open(t, memDir, f, heir(m, time.Second))
		await.Sleep(10 * time.Second)
		if n := tries.Load(); n < 5 || n > 25 || s.Stats().Errors == 0 {
			t.Errorf("tried %d times in 10 s, with %d errors; want about once a second", n, s.Stats().Errors)
		}
		heal()
		await.Sleep(3 * time.Second)
		if got := slotsOf(t, m); len(got) != 1 || len(f.take()) != 2 {
			t.Errorf("got the slots %q", got)
		}
		must(t, s.Close())
	})
}

// TestSlotThatIsDeliveredIsNotLookedAt checks that a slot being delivered is
// not adopted again while its destination is down.
func TestSlotThatIsDeliveredIsNotLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{do: down}
		deadSlots(t, m, 2)
		c := heir(m, time.Second)
		c.Drain = 1
		s := open(t, memDir, f, c)
		synctest.Wait()
		looks := atomic.Int32{}
		m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "lock", Reached: func() { looks.Add(1) }})
		await.Sleep(10 * time.Second)
		if n := looks.Load(); n > 0 {
			t.Errorf("its lock was opened %d times", n)
		}
		closeDown(t, s)
	})
}

// TestSlotThatCannotBeTaken checks that a slot that cannot be opened is
// delivered later, and that losing the race for a slot is not an error.
func TestSlotThatCannotBeTaken(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  vfstest.Fault
		errors bool
	}{
		{"locked since the look", vfstest.Fault{Op: vfstest.OpLock, Path: "lock", Skip: 1, Err: vfs.ErrLocked}, false},
		{"deleted since the look", vfstest.Fault{Op: vfstest.OpLstat, Path: store.SlotName(2), Err: fs.ErrNotExist}, false},
		{"replaced since the look", vfstest.Fault{Op: vfstest.OpLstat, Path: "lock", Skip: 1, Err: fs.ErrNotExist}, false},
		{"a cursor that cannot be opened", vfstest.Fault{Op: vfstest.OpCreate, Path: "*" + store.CursorExt, Err: syscall.EIO}, true},
		{"a lock that cannot be opened", vfstest.Fault{Op: vfstest.OpOpen, Path: "lock", Err: syscall.EIO}, true},
		{"a home that cannot be read", vfstest.Fault{Op: vfstest.OpReadDir, Err: syscall.EIO}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{}
			x := newForked(t, f)
			s := open(t, memDir, x, heir(m, time.Second))
			synctest.Wait()
			dead := open(t, memDir, nil, heir(m, time.Hour))
			must(t, dead.WriteRecord(record(nib.LevelInfo, 0, 200)), dead.Close())
			c.fault.Times = 1
			m.Fail(c.fault)
			await.Sleep(5 * time.Second)
			if st := s.Stats(); st.Errors > 0 != c.errors || st.Delivered != 1 {
				t.Errorf("%s: got %d errors and %d lines delivered, want errors: %v, and 1", c.name, st.Errors, st.Delivered, c.errors)
			}
			must(t, s.Close())
			if *x.forks != *x.closed {
				t.Errorf("%s: %d destinations were forked and %d closed", c.name, *x.forks, *x.closed)
			}
		})
	}
}

// TestLossesInASlotAreTakenOverOnce kills the process that delivers the slot of
// a dead one, which has dropped lines, and lost one to damage or died before
// its notice was written. If the first process could not deliver, the next one
// reports them.
func TestLossesInASlotAreTakenOverOnce(t *testing.T) {
	for _, c := range []struct{ delivered, unwritten bool }{{false, false}, {true, false}, {false, true}} {
		delivered, unwritten := c.delivered, c.unwritten
		synctest.Test(t, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{do: down}
			s := open(t, memDir, nil, heir(m, time.Hour))
			dead := open(t, memDir, nil, heir(m, time.Hour))
			for n := range 10 {
				must(t, dead.WriteRecord(record(nib.LevelInfo, n, 200)))
			}
			for range 3 {
				if err := dead.WriteRecord(record(nib.LevelError, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) {
					t.Fatal(err)
				}
			}
			must(t, dead.Close(), s.Close())
			want := []delivery.Drop{{Reason: delivery.ReasonTooLarge, Level: nib.LevelError, Lines: 3}}
			if unwritten {
				second := open(t, filepath.Join(memDir, store.SlotName(2)), nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
				must(t, second.Close())
				edit(t, m, filepath.Join(store.SlotName(2), store.SegmentName(second.chain.active.Load().Number)), func(b []byte) {
					clear(b[segment.HeaderSize : segment.HeaderSize+8])
				})
			}
			if delivered {
				f.set(nil)
				b := memFile(t, m, filepath.Join(memDir, store.SlotName(2), store.SegmentName(1)))
				at := int64(segment.HeaderSize + 5*segment.Align(segment.RecordHead+200) + segment.RecordHead + 5)
				file, err := m.Open(filepath.Join(memDir, store.SlotName(2), store.SegmentName(1)), 2, 0)
				must(t, err)
				_, err = file.WriteAt([]byte{b[at] + 1}, at)
				must(t, err, file.Close())
			}
			conf := heir(m, time.Second)
			conf.Drain = 1
			s = open(t, memDir, f, conf)
			await.Sleep(5 * time.Second)
			conf.fs = m.CrashClone(vfstest.Everything)
			if got := s.Stats().Inherited; !slices.Equal(got, want) {
				t.Errorf("%+v: got %v, want %v", c, got, want)
			}
			closeDown(t, s)
			lines := linesReported(t, f)
			f = &far{}
			s = open(t, memDir, f, conf)
			await.Sleep(5 * time.Second)
			lines += linesReported(t, f)
			if delivered {
				want = nil
				lines-- // the damaged one
			}
			if got := s.Stats().Inherited; !slices.Equal(got, want) || lines != 3 {
				t.Errorf("%+v: got %v, and notices of %d lines, want %v and 3", c, got, lines, want)
			}
			must(t, s.Close())
		})
	}
}

// TestSettledSlotIsDeletedAtOnce lets each sync take a millisecond in the slot
// of a process that was killed before it deleted the segments that were
// settled: they are all deleted when another process finds the slot.
func TestSettledSlotIsDeletedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{}
		first := open(t, memDir, nil, heir(m, time.Hour)) // has the first slot
		c := heir(m, time.Hour)
		c.Drain = 1
		dead := open(t, memDir, f, c)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Err: syscall.EIO})
		for n := range 1000 {
			must(t, dead.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		must(t, dead.Flush(context.Background()), dead.Close(), first.Close())
		heal()
		left, err := m.ReadDir(filepath.Join(memDir, store.SlotName(2)))
		if must(t, err); len(left) < 6 {
			t.Fatalf("the dead process has left %q, want several segments", left)
		}
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Reached: func() { time.Sleep(time.Millisecond) }})
		s := open(t, memDir, f, heir(m, time.Hour))
		await.Sleep(time.Second)
		own, err := m.ReadDir(s.chain.dir.Path)
		must(t, err)
		own = slices.DeleteFunc(own, func(name string) bool { return !store.IsSegmentName(name) })
		if got, st := slotsOf(t, m), s.Stats(); len(got) != 1 || st.Segments != len(own) {
			t.Errorf("got the slots %q and %d segments, want one slot, which has %q", got, st.Segments, own)
		}
		must(t, s.Close())
		if n := len(f.take()); n != 1000 {
			t.Errorf("%d lines arrived, want 1,000", n)
		}
	})
}

// TestLossesOfASlotAreTakenOverOnce adopts the slot of a process whose
// destination has rejected lines, while a segment there cannot be deleted: the
// slot is adopted again, and its losses are reported once.
func TestLossesOfASlotAreTakenOverOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lines = 3
		m, picky := vfstest.NewMem(nil), &far{}
		picky.set(func(_ context.Context, b []nib.Record) (delivery.Result, error, bool) {
			res := delivery.Result{Accepted: len(b)}
			for i := range b {
				res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: errDown})
			}
			return res, nil, true
		})
		first := open(t, memDir, nil, heir(m, time.Hour))
		c := heir(m, time.Hour)
		c.RejectedSize = -1
		dead := open(t, memDir, picky, c) // in the second slot
		for n := range lines {
			must(t, dead.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		must(t, dead.Flush(context.Background()), dead.Close(), first.Close())
		m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: "*.seg", Times: 2, Err: syscall.EIO})
		f := &far{}
		s := open(t, memDir, f, heir(m, time.Hour))
		await.Sleep(10 * time.Hour)
		got := linesReported(t, f)
		if names := slotsOf(t, m); got != lines || len(names) != 1 {
			t.Errorf("notices report %d lines, want %d; got the slots %q", got, lines, names)
		}
		must(t, s.Close())
	})
}
