// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// copies are the files of the copier.
const copies = "*" + store.CopyExt + "*"

// copierTest runs f in a bubble with an empty file system and an open spool.
// dest may be nil.
func copierTest(t *testing.T, dest delivery.Destination, delay time.Duration, f func(t *testing.T, m *vfstest.Mem, s *Sink)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, dest, Config{SegmentSize: segment.MinSize, Size: 1 << 20, fs: m, boot: 1, SyncDelay: delay, Drain: 1, OnError: func(error) {}})
		<-s.maker.safe
		awaitNext(s)
		synctest.Wait()
		f(t, m, s)
		_ = s.Close() // lines may be left
		<-s.done
	})
}

// logLines logs the lines with numbers from first up to end, of 200 bytes.
func logLines(t *testing.T, s *Sink, first, end int) {
	t.Helper()
	for n := first; n < end; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
}

// checkSurvivors checks that the lines from first up to end survive a loss of
// power.
func checkSurvivors(t *testing.T, m *vfstest.Mem, first, end int) {
	t.Helper()
	f := &far{}
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m.CrashClone(vfstest.Nothing), boot: 2, OnError: func(error) {}})
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), first, end, 200)
}

// syncAtOnce calls Sync, which must return without waiting for any time.
func syncAtOnce(t *testing.T, s *Sink, want error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 1000*time.Hour)
	defer cancel()
	begin := time.Now()
	if err := s.Sync(ctx); !errors.Is(err, want) {
		t.Errorf("Sync: got %v, want %v", err, want)
	}
	if took := time.Since(begin); took > 0 {
		t.Errorf("Sync took %v", took)
	}
}

// takes returns a destination that accepts records up to number last, and waits
// then.
func takes(last uint64) *far {
	return &far{do: func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		if batch[0].Seq > last {
			<-ctx.Done()
			return delivery.Result{}, errDown, true
		}
		return delivery.Result{Accepted: min(len(batch), int(last+1-batch[0].Seq))}, nil, false
	}}
}

// pass lets time pass, and the goroutines of the bubble do their work.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// logSettled logs a line, which is due in the next round, and which the
// destination settles.
func logSettled(t *testing.T, s *Sink) {
	t.Helper()
	logLines(t, s, 0, 1)
	pass(time.Second)
	if got := s.chain.Position(); got != 2 {
		t.Errorf("the position is %d, want 2", got)
	}
}

// TestCopierRests checks when calls have to wake the copier: not while it lets
// lines collect, or waits for more of them.
func TestCopierRests(t *testing.T) {
	check := func(t *testing.T, when string, s *Sink, want bool) {
		t.Helper()
		synctest.Wait()
		if got := s.chain.resting.Load(); got != want {
			t.Errorf("%s: resting is %t", when, got)
		}
	}
	copierTest(t, &far{do: down}, time.Second, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		check(t, "without lines", s, true)
		logLines(t, s, 0, 1)
		check(t, "a line was logged", s, false)
		pass(500*time.Millisecond + 1)
		check(t, "the line is synced", s, false)
		if got := s.synced(); got != 2 {
			t.Errorf("synced is %d after half of SyncDelay, want 2", got)
		}
		pass(500 * time.Millisecond)
		check(t, "no other line came", s, true)
	})
	copierTest(t, &far{}, time.Second, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logLines(t, s, 0, 1)
		pass(time.Hour)
		check(t, "the line is settled", s, true)
	})
	s := &Sink{}
	s.chain.resting.Store(true)
	newCopier(&s.chain).wake()
	if s.chain.resting.Load() {
		t.Error("the next call wakes the copier again")
	}
}

// TestSyncDoesNotWaitForTheNextRound logs a line while the copier waits for
// those before it to be settled.
func TestSyncDoesNotWaitForTheNextRound(t *testing.T) {
	copierTest(t, takes(1), 2*time.Hour, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logSettled(t, s)
		logLines(t, s, 1, 2)
		syncAtOnce(t, s, nil)
		checkSurvivors(t, m, 1, 2) // the first one is settled
	})
	for range 20 { // a call wakes the copier in two ways at once
		copierTest(t, &far{do: down}, 2*time.Hour, func(t *testing.T, m *vfstest.Mem, s *Sink) {
			logLines(t, s, 0, 1)
			syncAtOnce(t, s, nil)
		})
	}
}

// TestCloseSyncsTheRest closes a spool with a line that is not due.
func TestCloseSyncsTheRest(t *testing.T) {
	var m *vfstest.Mem
	copierTest(t, takes(1), 2*time.Hour, func(t *testing.T, of *vfstest.Mem, s *Sink) {
		m = of
		logSettled(t, s)
		logLines(t, s, 1, 2)
	})
	if n := m.Opened(); n > 0 {
		t.Errorf("%d files are open after Close", n)
	}
	synctest.Test(t, func(t *testing.T) { checkSurvivors(t, m, 1, 2) })
}

// TestErrorOfTheLastRoundIsCounted closes a spool with a line that cannot be
// copied, or can be.
func TestErrorOfTheLastRoundIsCounted(t *testing.T) {
	for _, err := range []error{nil, syscall.EIO} {
		var s *Sink
		copierTest(t, &far{do: down}, 2*time.Hour, func(t *testing.T, m *vfstest.Mem, of *Sink) {
			s = of
			logLines(t, s, 0, 1)
			synctest.Wait()
			m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: copies, Err: err})
		})
		if got := s.Stats().Errors; got > 0 != (err != nil) {
			t.Errorf("got %d errors, and copies fail with %v", got, err)
		}
	}
}

// TestCopierTriesAgain has a disk that fails for an hour: Sync returns at once,
// and the pauses between attempts grow up to five seconds. After a success they
// are short again.
func TestCopierTriesAgain(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpWrite, vfstest.OpSync} {
		copierTest(t, &far{do: down}, 0, func(t *testing.T, m *vfstest.Mem, s *Sink) {
			logLines(t, s, 0, 1)
			syncAtOnce(t, s, nil) // there is a copy
			logLines(t, s, 1, 2)
			attempts := 0
			heal := m.Fail(vfstest.Fault{Op: op, Path: copies, Err: syscall.EIO, Reached: func() { attempts++ }})
			before := s.Stats().Errors
			syncAtOnce(t, s, errUnsynced)
			pass(time.Hour)
			if least := int(time.Hour / deliver.LongestPause); attempts < least || attempts > least+20 {
				t.Errorf("%s: got %d attempts in an hour, want %d and a few", op, attempts, least)
			}
			if got := s.Stats().Errors - before; got != uint64(attempts) {
				t.Errorf("%s: got %d errors in %d attempts", op, got, attempts)
			}
			heal()
			pass(deliver.LongestPause + 1)
			syncAtOnce(t, s, nil)
			checkSurvivors(t, m, 0, 2)

			m.Fail(vfstest.Fault{Op: op, Path: copies, Err: syscall.EIO, Times: 1})
			logLines(t, s, 2, 3)
			syncAtOnce(t, s, errUnsynced)
			pass(s.c.tick + 1)
			syncAtOnce(t, s, nil)
		})
	}
}

// TestFileThatFailedIsAbandoned lets one sync of a copy fail: all lines are
// written to another file.
func TestFileThatFailedIsAbandoned(t *testing.T) {
	copierTest(t, &far{do: down}, 0, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		created := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: copies, Reached: func() { created++ }})
		logLines(t, s, 0, 1)
		syncAtOnce(t, s, nil)
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: copies, Err: syscall.EIO, Times: 1})
		logLines(t, s, 1, 2)
		syncAtOnce(t, s, errUnsynced)
		pass(deliver.LongestPause)
		logLines(t, s, 2, 3)
		syncAtOnce(t, s, nil)
		if created != 2 {
			t.Errorf("%d files were created, want 2", created)
		}
		checkSurvivors(t, m, 0, 3)
	})
}

// TestWatermarkStopsAtTheFirstFailure cannot copy the first of two segments:
// none of its lines counts as synced, until it can be copied.
func TestWatermarkStopsAtTheFirstFailure(t *testing.T) {
	const lines = 300 // 247 in the first segment
	copierTest(t, &far{do: down}, time.Hour, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: store.CopyName(1) + "*", Err: syscall.EIO})
		logLines(t, s, 0, lines)
		syncAtOnce(t, s, errUnsynced)
		if got := s.synced(); got != 1 {
			t.Errorf("synced is %d, want 1", got)
		}
		heal()
		pass(deliver.LongestPause)
		if got := s.synced(); got != lines+1 {
			t.Errorf("synced is %d, want %d", got, lines+1)
		}
		checkSurvivors(t, m, 0, lines)
	})
}

// breakLength damages the length of a record in memory, at an index in the
// first segment, and returns a function that repairs it.
func breakLength(s *Sink, index int) (repair func()) {
	word := s.chain.Links[0].Live.Bytes()[offsetOf(index):][:4]
	was := binary.LittleEndian.Uint32(word)
	put := func(length uint32) {
		s.chain.Lock() // as the copier does before it reads
		defer s.chain.Unlock()
		binary.LittleEndian.PutUint32(word, length)
	}
	put(0x7fffffff)
	return func() { put(was) }
}

// TestSyncWithADamagedRecord has a record in memory that cannot be copied:
// those before it are, Sync returns, and lines go on in another segment. When
// the record is whole again, all lines are synced.
func TestSyncWithADamagedRecord(t *testing.T) {
	for _, dest := range []delivery.Destination{nil, takes(0)} {
		copierTest(t, dest, time.Second, func(t *testing.T, m *vfstest.Mem, s *Sink) {
			logLines(t, s, 0, 10)
			repair := breakLength(s, 4)
			syncAtOnce(t, s, errUnsynced)
			if got := s.synced(); got != 5 {
				t.Errorf("synced is %d, want 5", got)
			}
			logLines(t, s, 10, 12)
			if len(s.chain.Links) != 2 {
				t.Errorf("there are %d segments, want 2", len(s.chain.Links))
			}
			syncAtOnce(t, s, errUnsynced)
			pass(time.Second)
			syncAtOnce(t, s, errUnsynced)
			pass(time.Hour)
			if n, most := s.Stats().Errors, uint64(time.Hour/deliver.LongestPause)+20; n < most/2 || n > most {
				t.Errorf("got %d errors in an hour, want up to %d", n, most)
			}
			repair()
			pass(deliver.LongestPause + time.Second)
			syncAtOnce(t, s, nil)
			checkSurvivors(t, m, 0, 12)
		})
	}
}

// TestDamagedRecordThatIsSettled lets the destination settle a record that
// cannot be copied: Sync works again.
func TestDamagedRecordThatIsSettled(t *testing.T) {
	f := &far{do: down}
	copierTest(t, f, time.Second, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logLines(t, s, 0, 10)
		breakLength(s, 0)
		syncAtOnce(t, s, errUnsynced)
		f.set(nil)
		must(t, s.Flush(context.Background()))
		pass(deliver.LongestPause + time.Second)
		if s.chain.copier.failing.Load() {
			t.Error("the copier fails, and nothing is left to copy")
		}
	})
}

// TestRecordThatIsNotDueIsNotRead damages a record that the copier leaves to
// the destination.
func TestRecordThatIsNotDueIsNotRead(t *testing.T) {
	copierTest(t, takes(1), 2*time.Hour, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logSettled(t, s)
		logLines(t, s, 1, 2)
		pass(time.Second) // the destination has got it
		synctest.Wait()
		repair := breakLength(s, 1)
		pass(time.Hour)
		if st := s.Stats(); st.Errors > 0 {
			t.Errorf("got %d errors, want none", st.Errors)
		}
		repair()
		pass(time.Hour + 1)
		if got := s.synced(); got != 3 {
			t.Errorf("synced is %d in the round after that, want 3", got)
		}
	})
}

// TestOnlyDueRecordsAreCopied has a line that is half of SyncDelay old, and a
// later one.
func TestOnlyDueRecordsAreCopied(t *testing.T) {
	copierTest(t, &far{do: down}, 2*time.Hour, func(t *testing.T, _ *vfstest.Mem, s *Sink) {
		logLines(t, s, 0, 1)
		pass(time.Minute)
		logLines(t, s, 1, 2)
		for _, want := range []uint64{2, 3} {
			pass(time.Hour)
			if got := s.synced(); got != want {
				t.Errorf("synced is %d, want %d", got, want)
			}
		}
	})
}

// TestOnlyUnsettledRecordsAreCopied has a destination that has settled half of
// the records.
func TestOnlyUnsettledRecordsAreCopied(t *testing.T) {
	copierTest(t, takes(5), time.Hour, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logLines(t, s, 0, 5)
		pass(time.Second)
		logLines(t, s, 5, 10)
		syncAtOnce(t, s, nil)
		b := contentOf(t, m, store.CopyName(1))
		if slices.ContainsFunc(b[offsetOf(0):offsetOf(5)], func(c byte) bool { return c != 0 }) {
			t.Error("settled records were copied")
		}
		checkSurvivors(t, m, 5, 10)
	})
}

// TestSyncOfAVoidClaim lets a call fail to write its line, on a disk on which
// no other segment can be made: Sync does not wait for that number.
func TestSyncOfAVoidClaim(t *testing.T) {
	copierTest(t, nil, time.Hour, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logLines(t, s, 0, 1)
		syncAtOnce(t, s, nil)
		s.chain.Lock()
		s.chain.next = nil // as if none had been made in advance
		s.chain.Unlock()
		m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Err: syscall.ENOSPC})
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*.seg*", Times: 1, Err: syscall.EIO})
		if err := s.WriteRecord(record(nib.LevelInfo, 1, 200)); err == nil {
			t.Error("the line was accepted")
		}
		syncAtOnce(t, s, nil)
	})
}

// TestCallInProgressIsWaitedFor has a call that has claimed the last space of a
// segment and has not written its record yet.
func TestCallInProgressIsWaitedFor(t *testing.T) {
	copierTest(t, &far{do: down}, time.Second, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		g, r := s.chain.active.Load(), record(nib.LevelInfo, 1, 200)
		logLines(t, s, 0, 1)
		size := segment.RecordSize(r, -1)
		at, seq, _ := g.Reserve(size)
		g.Seal()
		logLines(t, s, 2, 4)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Sync(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Sync: got %v, want the deadline", err)
		}
		if got := s.synced(); got != 2 {
			t.Errorf("synced is %d, want 2", got)
		}
		if ok, _ := g.Write(at, size, seq, r, -1); !ok {
			t.Error("the record was not written")
		}
		syncAtOnce(t, s, nil)
		checkSurvivors(t, m, 0, 4)
	})
}

// TestPageThatTheSystemCannotRead lets the system fail to read the memory of a
// record, although the copier could.
func TestPageThatTheSystemCannotRead(t *testing.T) {
	copierTest(t, &far{do: down}, time.Second, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logLines(t, s, 0, 1)
		syncAtOnce(t, s, nil)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: copies, Err: syscall.EFAULT})
		logLines(t, s, 1, 2)
		syncAtOnce(t, s, errUnsynced)
		heal()
		pass(deliver.LongestPause + time.Second)
		syncAtOnce(t, s, nil)
		checkSurvivors(t, m, 0, 2)
	})
}

// TestCopiesThatAreNotCompleteAreClosed closes a spool while a call has claimed
// space and has not written its record.
func TestCopiesThatAreNotCompleteAreClosed(t *testing.T) {
	created, closed := 0, 0
	copierTest(t, &far{do: down}, time.Second, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: copies, Reached: func() { created++ }})
		m.Fail(vfstest.Fault{Op: vfstest.OpClose, Path: copies, Reached: func() { closed++ }})
		logLines(t, s, 0, 1)
		syncAtOnce(t, s, nil)
		s.chain.active.Load().Reserve(100)
	})
	if created != 1 || closed != 1 {
		t.Errorf("%d copies were created and %d closed, want 1 and 1", created, closed)
	}
}

// TestCopiesAreClosed checks the open files and the errors after copies were
// complete, and after their segments are settled.
func TestCopiesAreClosed(t *testing.T) {
	f, m := &far{do: down}, (*vfstest.Mem)(nil)
	copierTest(t, f, 2*time.Hour, func(t *testing.T, of *vfstest.Mem, s *Sink) {
		m = of
		files := m.Opened()
		logLines(t, s, 0, 100)
		pass(2 * time.Hour)
		if n := m.Opened(); n != files+1 {
			t.Errorf("%d files are open with a copy, want %d", n, files+1)
		}
		logLines(t, s, 100, 600) // in three segments
		syncAtOnce(t, s, nil)
		logLines(t, s, 600, 620)
		pass(3 * time.Hour) // the copier rests, and has the file of the last segment open
		segments := len(s.chain.Links)
		if n := m.Opened(); segments != 3 || n > files+segments {
			t.Errorf("%d files are open with %d segments, want up to %d", n, segments, files+segments)
		}
		f.set(nil)
		must(t, s.Flush(context.Background()))
		pass(time.Minute) // copies are deleted at once
		if n := len(memNames(t, m, store.CopyExt)); n != 1 {
			t.Errorf("got %d copies, want that of the last segment", n)
		}
		logLines(t, s, 620, 1000) // ends that segment
		must(t, s.Flush(context.Background()))
		pass(time.Minute)
		if n := len(s.chain.copier.list); n != 1 {
			t.Errorf("the copier has %d segments, want 1", n)
		}
		if n := len(memNames(t, m, store.CopyExt)); n > 1 || s.Stats().Errors > 0 {
			t.Errorf("got %d copies and %d errors", n, s.Stats().Errors)
		}

		f.set(down)
		logLines(t, s, 1000, 1300)
		syncAtOnce(t, s, nil)
		m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: copies, Err: syscall.EACCES})
		m.Fail(vfstest.Fault{Op: vfstest.OpRename, Path: copies, Err: syscall.EACCES})
		f.set(nil)
		must(t, s.Flush(context.Background()))
		pass(time.Minute)
		if s.Stats().Errors == 0 {
			t.Error("a copy that cannot be deleted is not reported")
		}
	})
	if n := m.Opened(); n > 0 {
		t.Errorf("%d files are open after Close", n)
	}
}

// TestCopiedSegmentIsNotReadAgain has a segment that the copier has released:
// its memory may be gone.
func TestCopiedSegmentIsNotReadAgain(t *testing.T) {
	x := &copied{}
	if worked, err := (&copier{}).copy(x); worked || err != nil {
		t.Errorf("got %t and %v", worked, err)
	}
	x.release()
}

// TestCopyIsDeletedAtOnce settles the first of two segments while the copier
// rests: its copy is deleted long before SyncDelay ends.
func TestCopyIsDeletedAtOnce(t *testing.T) {
	f := &far{do: down}
	copierTest(t, f, 2*time.Hour, func(t *testing.T, m *vfstest.Mem, s *Sink) {
		logLines(t, s, 0, 300) // 247 in the first segment
		syncAtOnce(t, s, nil)
		pass(3 * time.Hour)
		f.set(nil)
		must(t, s.Flush(context.Background()))
		pass(time.Minute)
		if n := len(memNames(t, m, store.CopyExt)); n != 1 {
			t.Errorf("got %d copies, want that of the last segment", n)
		}
	})
}
