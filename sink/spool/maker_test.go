// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const resting = 100 * time.Microsecond // a rest of the goroutine that makes segments

// TestReusedMemoryIsClearedInParts reuses the memory of a segment: all of it is
// cleared, with a rest after each part, unless the active segment is half full
// or a call waits.
func TestReusedMemoryIsClearedInParts(t *testing.T) {
	const size = 4 * segment.Window
	for _, c := range []struct {
		used    int
		awaited bool
		want    time.Duration
	}{
		{segment.HeaderSize, false, 4 * resting},
		{size/2 - 8, false, 4 * resting},
		{size / 2, false, 0},
		{segment.HeaderSize, true, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, "", &far{}, Config{SegmentSize: size})
			awaitNext(s)
			if n := c.used - segment.HeaderSize; n > 0 {
				must(t, s.WriteRecord(record(nib.LevelInfo, 0, n-segment.RecordHead)))
			}
			synctest.Wait()
			if end, _, _ := s.chain.active.Load().Claimed(); end != c.used {
				t.Fatalf("the active segment has %d bytes, want %d", end, c.used)
			}
			s.chain.Lock()
			if s.chain.Broadcast(); c.awaited {
				s.chain.Change()
			}
			s.chain.Unlock()
			b := bytes.Repeat([]byte{1}, size)
			s.maker.spare <- b
			began := time.Now()
			got := s.maker.zeros()
			if took := time.Since(began); took != c.want || &got[0] != &b[0] || !bytes.Equal(b, make([]byte, size)) {
				t.Errorf("%d bytes used, awaited: %v: took %v, want %v and cleared memory", c.used, c.awaited, took, c.want)
			}
		})
	}
}

// TestDeletedSegmentsAreFreedWithRests frees four deleted segments while
// nothing else happens: without a rest while there are many, and then with one
// before each.
func TestDeletedSegmentsAreFreedWithRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
		await.Sleep(time.Second) // the next segment is made
		added, began := make(chan struct{}), time.Now()
		freed := make(chan time.Duration, store.MostSpent)
		go func() {
			for range store.MostSpent {
				s.chain.dir.Sweeper.Add(&store.Spent{Unmap: func() { <-added; freed <- time.Since(began) }})
			}
			close(added)
		}()
		await.Sleep(time.Second)
		var got []time.Duration
		for len(freed) > 0 {
			got = append(got, <-freed)
		}
		if want := []time.Duration{0, 0, resting, 2 * resting}; !slices.Equal(got, want) {
			t.Errorf("freed after %v, want %v", got, want)
		}
	})
}

// TestSegmentThatCannotBeMade has a disk that refuses to allocate: each failure
// is reported and followed by one attempt after a pause, and nothing counts
// until a segment is made.
func TestSegmentThatCannotBeMade(t *testing.T) {
	for _, errno := range []error{syscall.ENOSPC, syscall.EIO} {
		synctest.Test(t, func(t *testing.T) {
			m, attempts, reported := vfstest.NewMem(nil), 0, make(chan error, 100)
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever,
				OnError: func(err error) { reported <- err }})
			awaitNext(s)
			heal := m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Err: errno, Reached: func() { attempts++ }})
			n := 0
			for ; s.chain.active.Load().Number < 2; n++ {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
			}
			await.Sleep(4*makePause + makePause/2)
			if st := s.Stats(); attempts != 5 || st.Errors != 5 || st.Segments != 2 {
				t.Errorf("%v: %d attempts, %+v; want 5 attempts, and 2 segments", errno, attempts, st)
			}
			if err := <-reported; !errors.Is(err, errno) || !strings.Contains(err.Error(), "make a segment") {
				t.Errorf("reported %v, want %v", err, errno)
			}
			heal()
			await.Sleep(makePause)
			if got, want := memNames(t, m, store.SegmentExt), []string{store.SegmentName(1), store.SegmentName(2), store.SegmentName(3)}; !slices.Equal(got, want) {
				t.Errorf("%v: got %q, want %q", errno, got, want)
			}
			if st := s.Stats(); st.Segments != 3 {
				t.Errorf("%v: got %+v, want 3 segments", errno, st)
			}
			closeDown(t, s)
			if st := s.Stats(); st.Segments != 2 || countFiles(t, m) != 2 {
				t.Errorf("%v: got %+v and %d files after Close, want that of the next segment removed", errno, st, countFiles(t, m))
			}
		})
	}
}

// settleAll logs and delivers so many whole segments.
func settleAll(t *testing.T, s *Sink, segments uint64) {
	t.Helper()
	for s.chain.active.Load().Number <= segments {
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
	}
	must(t, s.Flush(context.Background()))
	synctest.Wait()
}

// fill logs until a line is dropped, and returns the error.
func fill(s *Sink) (err error) {
	for err == nil {
		synctest.Wait() // for the goroutine that makes segments
		err = s.WriteRecord(record(nib.LevelInfo, 0, 1000))
	}
	return err
}

// TestCallThatWaitsForADeletion fills a spool while the file of a settled
// segment is being deleted, which fails in the end: the call that waits for
// that returns then, with the reason. When files can be deleted again, one is.
func TestCallThatWaitsForADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f, reported := vfstest.NewMem(nil), &far{}, make(chan error, 100)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 6 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
			OnError: func(err error) { reported <- err }})
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: "*" + store.SegmentExt, Err: syscall.EPERM})
		settleAll(t, s, 3)
		heal()
		for len(reported) > 0 {
			<-reported
		}
		hold := make(chan struct{})
		heal = m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: "*" + store.SegmentExt, Hold: hold, Err: syscall.EPERM})
		time.AfterFunc(time.Second, func() { close(hold) })
		f.set(down)
		began, err := time.Now(), fill(s)
		if took := time.Since(began); !errors.Is(err, syscall.EPERM) || took != time.Second {
			t.Errorf("got %v after %v, want EPERM when the deletion has failed", err, took)
		}
		synctest.Wait()
		if len(reported) == 0 {
			t.Error("the failure was not reported")
		}
		if n := countFiles(t, m); n != 6 {
			t.Errorf("%d files, want 6", n)
		}
		heal()
		await.Sleep(makePause)
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
		closeDown(t, s)
	})
}

// scarce are peers that leave so much room, once they have been counted.
type scarce struct {
	alone
	counted chan struct{}
	left    int64
	err     error
}

func (p scarce) limit() (int64, error) {
	<-p.counted
	return p.left, p.err
}

// TestCallDoesNotWaitForRoomThatPeersHave has a call that waits for a segment,
// until it turns out that peers have taken the room, or that their files cannot
// be counted. Other calls do not wait then.
func TestCallDoesNotWaitForRoomThatPeersHave(t *testing.T) {
	for _, c := range []struct {
		left, segments int64
		do             Action
		err, want      error
	}{
		{2 * segment.MinSize, 2, ActionDropNew, nil, errFull},
		{0, 4, ActionDropOld, syscall.EMFILE, syscall.EMFILE},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			s := open(t, memDir, &far{do: down}, Config{
				SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Sync: SyncNever,
				Drain: 1, OnError: func(error) {}, OnFull: []FullRule{{Do: c.do}},
			})
			synctest.Wait()
			for s.chain.segments < int(c.segments) {
				must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
				synctest.Wait()
			}
			counted := make(chan struct{})
			s.chain.peers = scarce{counted: counted, left: c.left, err: c.err}
			began := time.Now()
			time.AfterFunc(time.Millisecond, func() { close(counted) })
			for range 2 {
				err := fill(s)
				if took := time.Since(began); !errors.Is(err, c.want) || took != time.Millisecond {
					t.Errorf("got %v after %v, want %v after 1ms", err, took, c.want)
				}
			}
			closeDown(t, s)
		})
	}
}

// generous are peers that leave so much room, and drop a segment when a call
// asks for that. Counting takes a millisecond, in which the segment is dropped
// after it was counted.
type generous struct {
	alone
	s          *Sink
	left       atomic.Int64
	hasDropped atomic.Bool
	heal       func() // ends what the full disk caused
}

func (p *generous) requestDrop() bool {
	p.s.chain.wantMore()
	return true
}

func (p *generous) limit() (int64, error) {
	left := p.left.Load()
	if !p.hasDropped.Swap(true) {
		p.heal()
		p.left.Add(segment.MinSize)
		p.s.chain.retry(segment.MinSize)
	}
	time.Sleep(time.Millisecond)
	return left, nil
}

// TestCallWaitsForRoomThatAPeerMakes has a call for which a peer drops a
// segment: while the peers are counted, or after the disk was full.
func TestCallWaitsForRoomThatAPeerMakes(t *testing.T) {
	for _, c := range []struct {
		left int64
		err  error // of the second segment
	}{{segment.MinSize, nil}, {2 * segment.MinSize, syscall.ENOSPC}} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			conf := Config{
				SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Sync: SyncNever,
				Drain: 1, OnError: func(error) {}, OnFull: []FullRule{{Do: ActionDropOld}},
			}
			s := newSink(conf.withDefaults(memDir))
			p := &generous{s: s, heal: func() {}}
			p.left.Store(c.left)
			p.hasDropped.Store(true)
			s.chain.limit, s.chain.peers = c.left, p
			must(t, s.addDestinations(&far{do: down}))
			first, err := s.recover(memDir)
			must(t, err, s.begin(first))
			if c.err != nil {
				p.heal = m.Fail(vfstest.Fault{
					Op: vfstest.OpPreallocate, Path: "*.seg*", Err: c.err,
				})
			}
			s.start()
			await.Sleep(time.Second)
			p.hasDropped.Store(false)
			for s.chain.active.Load().Number < 2 {
				must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
			}
			closeDown(t, s)
		})
	}
}

// TestCallWaitsForTheLastSegment has a call that needs a segment while the last
// one for which there is room is being made.
func TestCallWaitsForTheLastSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, hold := vfstest.NewMem(nil), make(chan struct{})
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Path: "*.seg*", Skip: 1, Hold: hold})
		s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
			OnError: func(error) {}})
		began := time.Now()
		time.AfterFunc(time.Second, func() { close(hold) })
		for s.chain.active.Load().Number < 2 {
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("the calls took %v, want %v", took, time.Second)
		}
		closeDown(t, s)
	})
}

// TestKeptSegmentsMakeRoom settles segments while the cursor cannot be synced,
// and then fills the spool: files are deleted only when there is no room for
// another segment, and the newest one stays unless the spool is small.
func TestKeptSegmentsMakeRoom(t *testing.T) {
	for _, c := range []struct {
		size, settled uint64
		left          []uint64 // of the settled ones, when the spool is full
	}{{10, 2, []uint64{2}}, {5, 2, []uint64{2}}, {4, 1, []uint64{1}}, {3, 1, nil}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, f := vfstest.NewMem(nil), &far{}
				must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
				s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: int64(c.size) * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
					OnError: func(error) {}})
				m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Err: syscall.EIO})
				settleAll(t, s, c.settled)
				s.chain.Lock()
				roomy, next := s.chain.hasRoom(), s.chain.next
				s.chain.next = nil
				s.chain.Unlock()
				if roomy {
					must(t, s.maker.freeUndeleted())
				}
				s.chain.Lock()
				s.chain.next = next
				s.chain.Unlock()
				if n := len(s.chain.undeleted); n != int(c.settled) || countFiles(t, m) != n+2 {
					t.Errorf("%d settled segments are left with %d files, want %d, the active one and the next", n, countFiles(t, m), c.settled)
				}
				f.set(down)
				if err := fill(s); !errors.Is(err, errFull) {
					t.Errorf("got %v, want that the spool is full", err)
				}
				var left []uint64
				for _, l := range s.chain.undeleted {
					left = append(left, l.Number)
				}
				if st := s.Stats(); !slices.Equal(left, c.left) || st.Segments != int(c.size) || countFiles(t, m) != int(c.size) {
					t.Errorf("the settled segments %v are left with %d files, want %v: %+v", left, countFiles(t, m), c.left, st)
				}
				closeDown(t, s)
				<-s.done
				if n := m.Opened(); n > 0 {
					t.Errorf("%d files are open after Close", n)
				}
			})
		})
	}
}

// TestDeliverOnlyKeepsWhatACursorHasNotPassed delivers a backlog while the
// cursor cannot be synced: the next start needs the files.
func TestDeliverOnlyKeepsWhatACursorHasNotPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memBacklog(t, 900, 200, SyncNever) // four segments
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Err: syscall.EIO})
		s := open(t, memDir, &far{}, Config{
			SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, DeliverOnly: true,
			OnError: func(error) {},
		})
		must(t, s.Flush(context.Background()))
		await.Sleep(4 * makePause)
		if n := countFiles(t, m); n != 4 {
			t.Errorf("%d files are left, want 4", n)
		}
	})
}

// TestCopyOfAQuarantinedSegmentIsDeletedAgain cannot delete the copy of a
// segment whose file is quarantined. The next attempt can.
func TestCopyOfAQuarantinedSegmentIsDeletedAgain(t *testing.T) {
	m := memBacklog(t, 900, 200, SyncNever) // four segments
	s := open(t, memDir, nil, Config{
		SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {},
	})
	kept := filepath.Join(memDir, store.CopyName(2))
	f, err := m.Open(kept, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err, f.Close())
	l := &deliver.Link{Quarantine: true}
	l.Number = 2
	m.Fail(vfstest.Fault{
		Op: vfstest.OpRemove, Path: store.CopyName(2), Times: 1, Err: syscall.EIO,
	})
	for _, want := range []error{syscall.EIO, nil} {
		if err := s.maker.delete(l); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	if _, err := m.Lstat(kept); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy is left: %v", err)
	}
}

// TestFailedOperationsOnSegmentsAreReported has one operation on the file of a
// segment fail, in an open spool or in Close.
func TestFailedOperationsOnSegmentsAreReported(t *testing.T) {
	for _, c := range []struct {
		fault  vfstest.Fault
		closed bool // the operation is a part of Close
		want   string
	}{
		{vfstest.Fault{Op: vfstest.OpSync, Path: store.SegmentName(1) + "*"}, false, "sync the first segment"},
		{vfstest.Fault{Op: vfstest.OpClose, Path: store.SegmentName(1) + "*"}, false, "close a segment"},
		{vfstest.Fault{Op: vfstest.OpRemove, Path: store.SegmentName(3)}, true, "delete a segment"}, // the next one
	} {
		synctest.Test(t, func(t *testing.T) {
			m, reported := vfstest.NewMem(nil), &reports{}
			must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
			c.fault.Err, c.fault.Times = syscall.EIO, 1
			m.Fail(c.fault)
			s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: reported.add})
			settleAll(t, s, 1)
			await.Sleep(time.Second)
			if n, want := s.Stats().Errors, map[bool]uint64{false: 1}[c.closed]; n != want {
				t.Errorf("%s: got %d errors before Close, want %d", c.want, n, want)
			}
			must(t, s.Close())
			if n := s.Stats().Errors; n != 1 || reported.with(c.want) != 1 {
				t.Errorf("%s: got %d errors and the reports %q, want one", c.want, n, reported.list)
			}
		})
	}
}
