// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// memSlots returns the slots in memDir.
func memSlots(t *testing.T, m *vfstest.Mem) (names []string) {
	t.Helper()
	all, err := m.ReadDir(memDir)
	must(t, err)
	return slices.DeleteFunc(all, func(name string) bool { return !store.IsSlot(name) })
}

// TestSlotThatFailsIsLeft starts a process beside the slot of a dead one, which
// cannot be taken at first. The process takes another one, nothing of the first
// one is left in it, and it delivers the first one later.
func TestSlotThatFailsIsLeft(t *testing.T) {
	for _, c := range []struct {
		name   string // of the file that cannot be opened
		err    error
		counts bool // as an error
	}{
		{"lock", syscall.EIO, true},
		{"lock", fs.ErrNotExist, false},    // as if the slot were being deleted
		{"lock", store.ErrReplaced, false}, // as if it had been
		{"second" + store.CursorExt, syscall.EIO, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, f, second, reported := vfstest.NewMem(nil), &far{}, &far{do: down}, &reports{}
			conf := func(onError func(error)) Config {
				return shared(Config{fs: m, Sync: SyncNever, Drain: time.Second, OnError: onError, Also: []NamedDestination{{Name: "second", To: second}}})
			}
			s := open(t, memDir, f, conf(func(error) {}))
			for n := range 10 {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
			}
			_ = s.Close() // the second destination has none
			<-s.done
			second.set(nil)
			failed := 0
			m.Fail(vfstest.Fault{Fits: func(op vfstest.Op, base string) bool {
				fits := (op == vfstest.OpOpen || op == vfstest.OpCreate) && base == c.name && failed == 0
				if fits {
					failed++
				}
				return fits
			}, Err: c.err})
			s = open(t, memDir, f, conf(reported.add))
			// The first one may have been delivered by now.
			if got := memSlots(t, m); !slices.Contains(got, "slot-0002") {
				t.Errorf("%s: got the slots %q, want a second one", c.name, got)
			}
			for n := range 5 {
				must(t, s.WriteRecord(record(nib.LevelInfo, 10+n, 100)))
			}
			must(t, s.Flush(context.Background()))
			await.Sleep(time.Second)
			if n := reported.with("take a slot"); failed != 1 || (n == 1) != c.counts || (s.Stats().Errors == 1) != c.counts {
				t.Errorf("%s fails with %v: got %d reports and %d errors", c.name, c.err, n, s.Stats().Errors)
			}
			must(t, s.Close())
			checkLines(t, f.take(), 0, 15, 100)
			if n := len(second.take()); n != 15 {
				t.Errorf("%s: %d lines arrived at the second destination, want 15", c.name, n)
			}
			if n := m.Opened(); n > 0 {
				t.Errorf("%s: %d files are open after Close", c.name, n)
			}
		})
	}
}

// TestCursorOfASlotThatFailsIsClosedOnce starts a process beside two slots of
// dead ones: the first fails after a cursor was opened, the second before.
func TestCursorOfASlotThatFailsIsClosedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, cursor := vfstest.NewMem(nil), defaultName+store.CursorExt
		var dead [2]*Sink
		for i := range dead {
			dead[i] = open(t, memDir, nil, shared(Config{fs: m, Sync: SyncNever}))
			must(t, dead[i].WriteRecord(record(nib.LevelInfo, i, 100)))
		}
		for _, s := range dead {
			must(t, s.Close())
			<-s.done
		}
		var opened, closed atomic.Int64
		for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpCreate} {
			m.Fail(vfstest.Fault{Op: op, Path: cursor, Reached: func() { opened.Add(1) }})
		}
		m.Fail(vfstest.Fault{Op: vfstest.OpClose, Path: cursor, Reached: func() { closed.Add(1) }})
		m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: "second" + store.CursorExt, Times: 1, Err: syscall.EIO})
		m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: store.SegmentName(1), Skip: 2, Times: 1, Err: syscall.EIO})
		s := open(t, memDir, &far{}, shared(Config{fs: m, Sync: SyncNever, OnError: func(error) {}, Also: []NamedDestination{{Name: "second", To: &far{}}}}))
		if n := s.Stats().Errors; n != 2 {
			t.Errorf("got %d errors, want that of each slot", n)
		}
		await.Sleep(time.Second)
		must(t, s.Close())
		synctest.Wait()
		if opened.Load() != closed.Load() || opened.Load() == 0 {
			t.Errorf("cursors were opened %d times and closed %d times", opened.Load(), closed.Load())
		}
	})
}

// TestOtherProcessesAlwaysWinTheRace lets each new slot be locked by another
// process before this one can lock it.
func TestOtherProcessesAlwaysWinTheRace(t *testing.T) {
	m := vfstest.NewMem(nil)
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Err: vfs.ErrLocked})
	if _, err := Open(memDir, nil, shared(Config{fs: m})); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if n := len(memSlots(t, m)); n != maxRaces {
		t.Errorf("tried %d slots, want %d", n, maxRaces)
	}
	if n := m.Opened(); n > 0 {
		t.Errorf("%d files are open after a failed Open", n)
	}
}

// TestSlotIsReleasedIfTheOthersCannotBeCounted lets the listing of the home
// fail once a slot is taken.
func TestSlotIsReleasedIfTheOthersCannotBeCounted(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(memDir, 0o700))
	failed := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Path: "spool", Err: syscall.EIO, Reached: func() { failed++ }})
	if _, err := Open(memDir, nil, shared(Config{fs: m})); !errors.Is(err, syscall.EIO) || failed == 0 {
		t.Errorf("got %v after %d failures, want EIO", err, failed)
	}
	if n := m.Opened(); n > 0 {
		t.Errorf("%d files are open after a failed Open", n)
	}
}

// TestCrowded checks when the segments of other processes leave no room.
func TestCrowded(t *testing.T) {
	const size = segment.MinSize
	for _, c := range []struct {
		name          string
		shared, ready bool
		bytes, others int64
		want          bool
	}{
		{"others leave no room", true, false, size, 3 * size, true},
		{"one segment would fit", true, false, 3 * size, size, true},
		{"this process alone leaves no room", true, false, 4 * size, size, false},
		{"there is room", true, false, size, 2 * size, false},
		{"a segment is ready", true, true, size, 3 * size, false},
		{"not shared", false, false, size, 3 * size, false},
	} {
		s := newSink(Config{SegmentSize: size, Size: 4 * size})
		s.chain.bytes = c.bytes
		if c.shared {
			s.chain.limit -= c.others
		}
		if c.ready {
			s.chain.next = &segment.Segment{}
		}
		if got := s.chain.isCrowded(); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}

// leaveSlot leaves the slot of a dead process with a line.
func leaveSlot(t *testing.T, m *vfstest.Mem) {
	t.Helper()
	s := open(t, memDir, nil, shared(Config{fs: m, Sync: SyncNever}))
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Close())
	<-s.done
}

// TestErrorsOfAdoptedSlotsAreReported has a destination that is down, and
// nothing for it but a slot of a dead process.
func TestErrorsOfAdoptedSlotsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, reported := vfstest.NewMem(nil), &reports{}
		leaveSlot(t, m)
		between := open(t, memDir, nil, shared(Config{fs: m, Sync: SyncNever})) // takes it over
		s := open(t, memDir, &far{do: down}, shared(Config{fs: m, Sync: SyncNever, Drain: 1, OnError: reported.add}))
		must(t, between.Close())
		await.Sleep(time.Second)
		if n := reported.with(errDown.Error()); n == 0 {
			t.Error("the error of the destination was not reported")
		}
		_ = s.Close() // a line is left
	})
}

// TestCloseWaitsForAdoptedSlots has a destination that hangs with a line of a
// dead process, and ignores its context: Close waits for a while.
func TestCloseWaitsForAdoptedSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, hold, calls := vfstest.NewMem(nil), make(chan struct{}), 0
		leaveSlot(t, m)
		between := open(t, memDir, nil, shared(Config{fs: m, Sync: SyncNever})) // takes it over
		f := &far{do: func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			calls++
			<-hold
			return delivery.Result{}, errDown, true
		}}
		s := open(t, memDir, f, shared(Config{fs: m, Sync: SyncNever, Drain: 1, hang: time.Second, OnError: func(error) {}}))
		must(t, between.Close())
		await.Sleep(time.Second)
		begin := time.Now()
		_ = s.Close()
		if took := time.Since(begin); took < time.Second || took > 3*time.Second || calls != 1 {
			t.Errorf("Close took %v, want one to three seconds; Deliver was called %d times", took, calls)
		}
		close(hold)
		await.Sleep(time.Second)
	})
}

// TestDropsOfASlotThatFailsCountOnce starts a process beside the slot of a dead
// process, which has dropped lines. The slot cannot be taken at first, and is
// delivered later: its drops are inherited once.
func TestDropsOfASlotThatFailsCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{}
		s := open(t, memDir, nil, shared(Config{fs: m, Sync: SyncNever, Size: 2 * segment.MinSize}))
		dropped := uint64(0)
		for dropped < 3 {
			if s.WriteRecord(record(nib.LevelInfo, 0, 1000)) != nil {
				dropped++
			}
		}
		must(t, s.Close())
		<-s.done
		m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: defaultName + store.CursorExt, Times: 1,
			Err: syscall.EIO})
		s = open(t, memDir, f, shared(Config{fs: m, Sync: SyncNever, OnError: func(error) {}}))
		// The first one may have been delivered by now.
		if got := memSlots(t, m); !slices.Contains(got, "slot-0002") {
			t.Errorf("got the slots %q, want a second one", got)
		}
		await.Sleep(time.Second)
		if st := s.Stats(); loss.Sum(st.Inherited) != dropped {
			t.Errorf("got the inherited drops %+v, want %d lines", st.Inherited, dropped)
		}
		must(t, s.Close())
	})
}
