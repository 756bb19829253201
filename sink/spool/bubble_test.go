// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestNoDescriptorsFor300Milliseconds has no descriptors left while a backlog
// is recovered and delivered. During that time Open fails or delivery waits,
// and no line is lost.
func TestNoDescriptorsFor300Milliseconds(t *testing.T) {
	const lines = 1000
	for _, opened := range []bool{false, true} {
		t.Run(fmt.Sprintf("opened=%v", opened), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, f := memBacklog(t, lines, 200, SyncNever), &far{}
				exhaust := func() {
					var heal []func()
					for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpCreate} {
						heal = append(heal, m.Fail(vfstest.Fault{Op: op, Err: syscall.EMFILE}))
					}
					time.AfterFunc(300*time.Millisecond, func() {
						for _, h := range heal {
							h()
						}
					})
				}
				begin := time.Now()
				if !opened {
					exhaust()
				}
				c := Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, fs: m, Sync: SyncNever}
				if opened {
					f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
						exhaust()
						f.set(nil)
						return delivery.Result{Accepted: 1}, nil, false
					})
				}
				s, err := Open(memDir, f, c)
				for err != nil {
					if !errors.Is(err, syscall.EMFILE) {
						t.Fatal(err)
					}
					await.Sleep(10 * time.Millisecond)
					s, err = Open(memDir, f, c)
				}
				if opened {
					ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
					defer cancel()
					if err := s.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Flush while files cannot be opened: got %v, want the deadline", err)
					}
				}
				must(t, s.Flush(context.Background()))
				if took := time.Since(begin); took < 300*time.Millisecond || took > time.Second {
					t.Errorf("took %v, want 300ms and a pause", took)
				}
				checkLines(t, f.take(), 0, lines, 200)
				if st := checkIdentity(t, s); st.Delivered != lines || st.Lost() > 0 || st.Unfinished > 0 {
					t.Errorf("got %+v, want %d delivered", st, lines)
				}
				must(t, s.Close())
			})
		})
	}
}

// TestDiskIsUsedAgainWithinASecond has a disk that is full or fails for some
// seconds while lines are logged.
func TestDiskIsUsedAgainWithinASecond(t *testing.T) {
	for _, errno := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		synctest.Test(t, func(t *testing.T) { diskComesBack(t, errno) })
	}
}

func diskComesBack(t *testing.T, errno error) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {}})
	synctest.Wait()
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Err: errno})
	n := 0
	log := func() error {
		n++
		return s.WriteRecord(record(nib.LevelInfo, n, 1000))
	}
	for log() == nil {
	}
	for range 100 {
		time.Sleep(37 * time.Millisecond)
		if log() == nil {
			t.Fatalf("%v: line %d was accepted", errno, n)
		}
	}
	heal()
	freed := time.Now()
	for log() != nil {
		time.Sleep(time.Millisecond)
	}
	if took := time.Since(freed); took > time.Second {
		t.Errorf("%v: lines were accepted again after %v, want a second at most", errno, took)
	}
	closeDown(t, s)
}

// TestBadSectorCostsItsOwnRecords has a page that never becomes readable again.
// After a while its records are counted as damaged and the file is quarantined;
// the rest of the backlog is delivered.
func TestBadSectorCostsItsOwnRecords(t *testing.T) {
	const lines, each = 300, 20 // at most in a page
	for _, c := range []struct {
		name string
		at   int64
		lost uint64 // at most
	}{
		{store.SegmentName(1), segment.HeaderSize + 2*segment.PageSize, each},
		{store.SegmentName(1), segment.MinSize - segment.PageSize, each},
		{store.SegmentName(2), segment.HeaderSize, each},
		{store.SegmentName(2), segment.HeaderSize + 2*segment.PageSize, each},
		{store.SegmentName(2), segment.MinSize - 2*segment.PageSize, 1}, // after the records: it may have had some
	} {
		t.Run(fmt.Sprint(c.name, c.at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memBacklog(t, lines, 200, SyncNever)
				b := badSector{m, c.name, c.at, new(atomic.Bool)}
				b.on.Store(true)
				f, begin := &far{}, time.Now()
				s, err := Open(memDir, f, Config{SegmentSize: segment.MinSize, fs: b, Sync: SyncNever})
				must(t, err)
				must(t, s.WriteRecord(record(nib.LevelInfo, lines, 200)), s.Flush(context.Background()))
				took := time.Since(begin)
				st := checkIdentity(t, s)
				must(t, s.Close())
				if took < deliver.GiveUpTime || took > deliver.GiveUpTime+2*deliver.LongestPause {
					t.Errorf("given up after %v, want %v", took, deliver.GiveUpTime)
				}
				if lost := st.Lost(); lost == 0 || lost > c.lost || st.Unfinished > 0 || st.Pending > 0 || st.Bad != 1 {
					t.Errorf("got %+v, want at most %d lines damaged, and one file quarantined", st, c.lost)
				}
				got := f.take()
				if uint64(len(got))+st.Lost() < lines+1 || len(got) < lines+1-each {
					t.Errorf("%d lines arrived", len(got))
				}
				checkSubset(t, got, wantLines(lines+1))
				if bad := memNames(t, m, store.BadExt); len(bad) != 1 || bad[0] != c.name+store.BadExt {
					t.Errorf("quarantined %q, want %s", bad, c.name)
				}
			})
		})
	}
}

func wantLines(n int) (lines [][]byte) {
	for i := range n {
		lines = append(lines, record(nib.LevelInfo, i, 200).Line)
	}
	return lines
}

// TestWholeFileIsNeverGivenUp cannot read anything of a segment for an hour,
// and then can.
func TestWholeFileIsNeverGivenUp(t *testing.T) {
	const lines = 600 // in three segments
	for _, errno := range seed.Some(t, 1, passing) {
		synctest.Test(t, func(t *testing.T) {
			m, f := memBacklog(t, lines, 200, SyncNever), &far{}
			f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				heal := m.Fail(vfstest.Fault{Op: vfstest.OpRead, Path: store.SegmentName(2), Err: errno})
				time.AfterFunc(time.Hour, heal)
				f.set(nil)
				return delivery.Result{Accepted: len(batch)}, nil, false
			})
			s, err := Open(memDir, f, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
			must(t, err)
			must(t, s.Flush(context.Background()))
			checkLines(t, f.take(), 0, lines, 200)
			if st := checkIdentity(t, s); st.Errors < 100 || st.Errors > 3600 {
				t.Errorf("%v: got %d errors in an hour", errno, st.Errors)
			}
			must(t, s.Close())
		})
	}
}

// TestPauseBeginsAnewAfterASuccess has a destination that fails for long, takes
// a line, and fails again: the next attempt comes after the shortest pause.
func TestPauseBeginsAnewAfterASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		f := &far{}
		f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			at = append(at, time.Now())
			if n := len(at); n < 10 || n == 11 {
				return delivery.Result{}, errDown, true
			}
			return delivery.Result{Accepted: len(batch)}, nil, false
		})
		s, err := Open("", f, Config{SegmentSize: segment.MinSize})
		must(t, err, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		await.Sleep(time.Minute)
		must(t, s.WriteRecord(record(nib.LevelInfo, 1, 100)))
		await.Sleep(time.Minute)
		must(t, s.Close())
		if len(at) != 12 {
			t.Fatalf("got %d attempts", len(at))
		}
		if long, short := at[9].Sub(at[8]), at[11].Sub(at[10]); long < time.Second || short > firstPause {
			t.Errorf("got pauses of %v before a success and %v after it", long, short)
		}
	})
}

// TestFreedRoomIsUsedWithinASecond fills the disk until lines are dropped, and
// makes room.
func TestFreedRoomIsUsedWithinASecond(t *testing.T) {
	for _, err := range []error{syscall.ENOSPC, syscall.EIO} {
		synctest.Test(t, func(t *testing.T) {
			m, f := vfstest.NewMem(nil), &far{}
			s, opened := Open(memDir, f, Config{SegmentSize: segment.MinSize, fs: m, OnError: func(error) {}})
			must(t, opened)
			logged := 0
			log := func() error {
				logged++
				return s.WriteRecord(record(nib.LevelInfo, logged, 1000))
			}
			must(t, log())
			var heal []func()
			for _, op := range []vfstest.Op{vfstest.OpPreallocate, vfstest.OpWrite} {
				heal = append(heal, m.Fail(vfstest.Fault{Op: op, Path: "*.seg*", Err: err}))
			}
			for log() == nil {
			}
			await.Sleep(time.Hour)
			for _, h := range heal {
				h()
			}
			freed := time.Now()
			await.Until(t, "lines are accepted again", func() bool { return log() == nil })
			if took := time.Since(freed); took > time.Second {
				t.Errorf("%v: lines are accepted again after %v, want a second at most", err, took)
			}
			must(t, s.Close())
			if st := checkIdentity(t, s); uint64(len(f.take()))+st.Lost() != uint64(logged) || st.Lost() == 0 {
				t.Errorf("%v: got %+v, want %d lines delivered or dropped", err, st, logged)
			}
		})
	}
}

// TestLinesCollect logs a line each 0.51 ms: the first is delivered at once,
// the others in batches of several.
func TestLinesCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f := vfstest.NewMem(nil), &far{}
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m})
		await.Sleep(time.Second)
		for n := range 81 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
			synctest.Wait()
			if st := s.Stats(); n == 0 && st.Delivered != 1 {
				t.Errorf("got %d delivered, want the first line at once", st.Delivered)
			}
			await.Sleep(510 * time.Microsecond)
		}
		if st := s.Stats(); st.Attempts > 12 || st.Pending > 8 {
			t.Errorf("got %d batches in 41 ms and %d lines pending, want a batch each 4 ms", st.Attempts, st.Pending)
		}
		must(t, s.Close())
		checkLines(t, f.take(), 0, 81, 100)
	})
}

// TestLinesInTimeAreNotCopied logs a line each half of a millisecond, which is
// settled within 5 ms: none is copied, and all count as synced. That holds also
// while a delivery takes a time, so that lines of the next segment are not
// settled when one is removed.
func TestLinesInTimeAreNotCopied(t *testing.T) {
	for _, takes := range []time.Duration{0, 200 * time.Microsecond} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			s := open(t, memDir, &far{do: func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				<-time.After(takes)
				return delivery.Result{Accepted: len(batch)}, nil, true
			}}, Config{SegmentSize: segment.MinSize, fs: m})
			for n := range 1000 {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
				await.Sleep(500 * time.Microsecond)
				if n := memNames(t, m, store.CopyExt); len(n) != 0 {
					t.Fatalf("got %q, want no copies", n)
				}
			}
			must(t, s.Flush(context.Background()))
			if got, want := s.synced(), uint64(1001); got != want {
				t.Errorf("synced is %d when all is settled, want %d", got, want)
			}
			must(t, s.Close())
		})
	}
}

// TestLinesAreSyncedWithinSyncDelay logs at random moments, with a destination
// that is down: each line is synced SyncDelay later.
func TestLinesAreSyncedWithinSyncDelay(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Millisecond, time.Second} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, fs: vfstest.NewMem(nil), SyncDelay: delay,
					Drain: 1, OnError: func(error) {}})
				limit := cmp.Or(delay, defaultSyncDelay)
				rng := rand.New(rand.NewPCG(uint64(delay), 1))
				var due []time.Time
				for checked := 0; checked < 500; {
					if len(due) < 500 && rng.IntN(3) == 0 {
						must(t, s.WriteRecord(record(nib.LevelInfo, len(due), 100)))
						due = append(due, time.Now().Add(limit))
					}
					await.Sleep(limit / 50)
					for ; checked < len(due) && !time.Now().Before(due[checked]); checked++ {
						if s.synced() < uint64(checked+2) {
							t.Errorf("line %d is not synced after %v", checked, limit)
						}
					}
				}
				_ = s.Close() // lines are left
			})
		})
	}
}

// TestLockFileStaysYoung waits without a line: the lock file is changed, and
// made again after it was removed.
func TestLockFileStaysYoung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m})
		lock := filepath.Join(memDir, "lock")
		for round := range 3 {
			if round > 0 {
				must(t, m.Remove(lock))
			}
			await.Sleep(touchPause + time.Second)
			info, err := m.Lstat(lock)
			if must(t, err); time.Since(info.ModTime) > touchPause {
				t.Errorf("round %d: the lock file is %v old", round, time.Since(info.ModTime))
			}
		}
		must(t, s.Close())
	})
}

// TestDeliverOnlyNeverWaits writes to a spool that is only delivered, while
// segments are deleted: the call does not wait for them.
func TestDeliverOnlyNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, hold := memBacklog(t, 1000, 200, SyncNever), make(chan struct{})
		m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: store.SegmentName(1), Hold: hold})
		s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m, DeliverOnly: true})
		synctest.Wait() // the deletion of the first segment has begun
		began := time.Now()
		err := s.WriteRecord(record(nib.LevelInfo, 0, 200))
		if waited := time.Since(began); err != errFull || waited > 0 {
			t.Errorf("got %v after %v, want errFull at once", err, waited)
		}
		close(hold)
		must(t, s.Flush(context.Background()), s.Close())
	})
}

// TestPlaceholderIsNotUnloaded makes a segment while the placeholder of a full
// start is not read yet: it has no file to be read from.
func TestPlaceholderIsNotUnloaded(t *testing.T) {
	const lines, inSegment = 900, 247
	synctest.Test(t, func(t *testing.T) {
		m, pass := memBacklog(t, lines, 200, SyncNever), make(chan struct{}) // four segments
		f := &far{do: func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			if batch[0].Seq > inSegment {
				<-pass
			}
			return delivery.Result{Accepted: len(batch)}, nil, false
		}}
		s := open(t, memDir, f, Config{
			SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, boot: 7,
			Sync: SyncNever, slow: time.Minute,
		})
		await.Sleep(time.Second)
		must(t, s.WriteRecord(record(nib.LevelInfo, lines, 200)))
		s.chain.Lock()
		for _, l := range s.chain.Links {
			if l.Placeholder && l.Live == nil {
				t.Error("the placeholder is read from a file")
			}
		}
		s.chain.Unlock()
		close(pass)
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, lines+1, 200)
		if st := checkIdentity(t, s); st.Errors > 0 || st.Lost() > 0 {
			t.Errorf("got %+v, want no errors and no losses", st)
		}
		must(t, s.Close())
	})
}
