// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestSpoolsInMemory opens spools without a directory: they need a destination,
// and their ids differ.
func TestSpoolsInMemory(t *testing.T) {
	if _, err := Open("", nil, Config{}); err == nil || !strings.Contains(err.Error(), "neither a directory nor a destination") {
		t.Errorf("without a destination: got %v", err)
	}
	ids := map[uint64]bool{}
	for range 2 {
		f := &far{}
		s := open(t, "", nil, Config{SegmentSize: segment.MinSize, Also: []NamedDestination{{Name: "only", To: f}}})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()))
		if st := s.Stats(); len(st.Destinations) != 1 || st.Destinations[0].Name != "only" || st.Delivered != 1 {
			t.Errorf("got %+v, want a line delivered to the only destination", st)
		}
		must(t, s.Close())
		for _, id := range f.ids {
			ids[id] = true
		}
	}
	if len(ids) != 2 || ids[0] {
		t.Errorf("got the ids %v, want two different ones", ids)
	}
}

// TestContextEndsWithClose looks at the context of a Deliver that has returned.
func TestContextEndsWithClose(t *testing.T) {
	var got context.Context
	f := &far{}
	f.set(func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		got = ctx
		return delivery.Result{Accepted: len(batch)}, nil, false
	})
	s := open(t, "", f, Config{SegmentSize: segment.MinSize})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()))
	if got.Err() != nil {
		t.Errorf("before Close: got %v", got.Err())
	}
	must(t, s.Close())
	if got.Err() == nil {
		t.Error("after Close: the context has not ended")
	}
	if contract.TraitsOf(s) != contract.NeverLogs {
		t.Errorf("got the traits %v", contract.TraitsOf(s))
	}
}

// TestLineAfterASegmentThatFailedIsDelivered lets a write fail while no other
// segment can be made, and delivers what is there. The reader is asleep at the
// end of the segment when one can be made again.
func TestLineAfterASegmentThatFailedIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{do: down}
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		heal := m.Fail(vfstest.Fault{
			Op: vfstest.OpPreallocate, Path: "*.seg*", Skip: 1, Err: syscall.ENOSPC,
		})
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {}})
		await.Sleep(time.Second)
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 200)))
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 1, Err: syscall.EIO})
		if s.WriteRecord(record(nib.LevelInfo, 1, 200)) == nil {
			t.Error("the line was accepted")
		}
		f.set(nil)
		await.Sleep(time.Minute)
		heal()
		await.Sleep(time.Second)
		must(t, s.WriteRecord(record(nib.LevelInfo, 2, 200)))
		await.Sleep(time.Second)
		if st := checkIdentity(t, s); st.Pending > 0 || st.Delivered != 2+st.Notices {
			t.Errorf("got %+v, want two lines delivered", st)
		}
	})
}

// TestCloseWakesBlockedCalls closes a full spool with a call that waits for
// room: it returns at once, although Close waits for the destination.
func TestCloseWakesBlockedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "", &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, Drain: time.Hour,
			OnFull: []FullRule{{nib.LevelError, ActionBlock, 24 * time.Hour}}, OnError: func(error) {}})
		for s.WriteRecord(record(nib.LevelInfo, 0, 1000)) == nil {
		}
		begin, took := time.Now(), time.Duration(-1)
		go func() {
			if err := s.WriteRecord(record(nib.LevelError, 0, 1000)); !errors.Is(err, delivery.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
			took = time.Since(begin)
		}()
		synctest.Wait()
		_ = s.Close() // lines are left
		synctest.Wait()
		if took != 0 {
			t.Errorf("the call took %v", took)
		}
	})
}

// TestSecondCloseWaitsForTheFirst closes a spool that drains: a program may end
// when any of its calls of Close returns.
func TestSecondCloseWaitsForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "", &far{do: down}, Config{SegmentSize: segment.MinSize, Drain: time.Hour, OnError: func(error) {}})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
		begin := time.Now()
		go s.Close()
		synctest.Wait()
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Errorf("got %v, want ErrPending", err)
		}
		if took := time.Since(begin); took < time.Hour {
			t.Errorf("returned after %v, want an hour", took)
		}
	})
}

// TestCopierRestsBesideABacklog opens a spool with lines of another process,
// which need not be copied.
func TestCopierRestsBesideABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, fs: memBacklog(t, 10, 200, SyncNever), boot: 99, Drain: 1, OnError: func(error) {}})
		await.Sleep(time.Hour)
		if !s.chain.resting.Load() {
			t.Error("the copier does not rest")
		}
		_ = s.Close() // lines are left
	})
}

// TestBroadcastAllocatesOnlyForWaiters broadcasts with and without one.
func TestBroadcastAllocatesOnlyForWaiters(t *testing.T) {
	s := newSink(Config{})
	s.chain.Lock()
	defer s.chain.Unlock()
	changed := s.chain.Change()
	s.chain.Broadcast()
	select {
	case <-changed:
	default:
		t.Error("the waiter was not woken")
	}
	if n := testing.AllocsPerRun(10, s.chain.Broadcast); n > 0 {
		t.Errorf("%v allocations without a waiter", n)
	}
}

// TestCloseNamesWhoHasLinesLeft closes a spool with a destination that has
// everything and a destination that has nothing.
func TestCloseNamesWhoHasLinesLeft(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, &far{}, Config{Name: "up", SegmentSize: segment.MinSize, fs: m, Drain: time.Millisecond,
		Also: []NamedDestination{{Name: "down", To: &far{do: down}}}, OnError: func(error) {}})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
	for of(t, s.Stats(), "up").Pending > 0 {
		s.chain.poke()
	}
	for range 2 {
		if err := s.Close(); !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "1 for down") || strings.Contains(err.Error(), "up") {
			t.Errorf("got %v, want one line for down", err)
		}
	}
}

// TestReportsAreRepeatedAfterAMinute reports a reason several times.
func TestReportsAreRepeatedAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := &reports{}
		s := open(t, "", &far{}, Config{SegmentSize: segment.MinSize, OnError: func(err error) {
			time.Sleep(time.Millisecond)
			reported.add(err)
		}})
		for n := range 3 {
			s.chain.reports.Report("x", errDown)
			if s.chain.reports.await(s.c.hang); reported.with("") != n+1 {
				t.Errorf("got %d reports in minute %d", reported.with(""), n+1)
			}
			await.Sleep(reportPause - 2*time.Millisecond)
			s.chain.reports.Report("x", errDown)
			await.Sleep(time.Millisecond)
		}
		must(t, s.Close())
		if n := reported.with("x: down"); n != 3 {
			t.Errorf("got %d reports in three minutes, want 3", n)
		}
	})
}

// TestReportsAreBounded reports many reasons: while OnError is busy, some are
// left out, and the number of those that are remembered is limited.
func TestReportsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported, hold := &reports{}, make(chan struct{})
		s := open(t, "", &far{}, Config{SegmentSize: segment.MinSize, OnError: func(err error) {
			<-hold
			reported.add(err)
		}})
		s.chain.reports.Report("first", errDown)
		synctest.Wait() // OnError has it
		for n := range 3 * mostReports {
			s.chain.reports.Report(fmt.Sprint("reason ", n), errDown)
		}
		close(hold)
		synctest.Wait()
		if n := reported.with(""); n != 1+mostReports {
			t.Errorf("got %d reports, want %d", n, 1+mostReports)
		}
		s.chain.reports.Report("first", errDown)
		synctest.Wait()
		if n := reported.with("first"); n != 1 {
			t.Errorf("the first reason was reported %d times, want once", n)
		}
		for n := range 1000 {
			s.chain.reports.Report(fmt.Sprint("another reason ", n), errDown)
			synctest.Wait()
		}
		if n := len(s.chain.reports.last); n > mostReports+1 {
			t.Errorf("%d reasons are remembered", n)
		}
		must(t, s.Close())
	})
}

// TestCloseDoesNotWaitForOnError has an OnError that does not return.
func TestCloseDoesNotWaitForOnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		s := open(t, "", &far{}, Config{SegmentSize: segment.MinSize, hang: time.Second, OnError: func(error) { <-hold }})
		s.chain.reports.Report("x", errDown)
		begin := time.Now()
		must(t, s.Close())
		if took := time.Since(begin); took != time.Second {
			t.Errorf("Close took %v, want a second", took)
		}
		close(hold)
	})
}
