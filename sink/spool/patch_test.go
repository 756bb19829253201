// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"os"
	"path/filepath"
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

// unpatched returns how many segments that are not read wait for patches.
func unpatched(s *Sink) int {
	s.chain.Lock()
	defer s.chain.Unlock()
	return len(s.chain.unpatched)
}

// TestFailedWritesAreTakenBackLater lets writes to two segments fail after each
// has written a record, and then all writes to their files, for seconds. The
// records are taken back when the files can be written again, in any order and
// with nothing else happening, or by Close: the next process finds each line
// once.
func TestFailedWritesAreTakenBackLater(t *testing.T) {
	for name, dest := range map[string]delivery.Destination{"kept": nil, "pending": &far{do: down}} {
		for _, order := range [][]int{{1, 2}, {2, 1}, nil} { // in which they are healed, nil: both before Close
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := vfstest.NewMem(nil)
					must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
					s := open(t, memDir, dest, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {}})
					n, heal := 0, map[int]func(){}
					write := func(lines int) {
						for range lines {
							synctest.Wait()
							must(t, s.WriteRecord(record(nib.LevelInfo, n, 300)))
							n++
						}
					}
					for number := 1; number <= 2; number++ {
						write(3)
						path := store.SegmentName(uint64(number)) + "*"
						m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: path, Times: 1, Err: syscall.EIO, Done: true})
						heal[number] = m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: path, Err: syscall.EIO})
						write(1)
					}
					await.Sleep(3*makePause + makePause/2)
					if got, want := unpatched(s), map[string]int{"kept": 2}[name]; got != want {
						t.Errorf("%d segments that are not read wait for patches, want %d", got, want)
					}
					for _, number := range order {
						heal[number]()
						await.Sleep(2 * makePause)
					}
					if order == nil {
						heal[1]()
						heal[2]()
					} else if left := unpatched(s); left > 0 {
						t.Errorf("%d segments wait for patches, want none", left)
					}
					image := m
					if order != nil {
						image = m.CrashClone(vfstest.Everything)
					}
					_ = s.Close() // lines are left
					<-s.done
					if n := m.Opened(); n > 0 {
						t.Errorf("%d files are open after Close", n)
					}
					f := &far{}
					s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: image, Sync: SyncNever})
					must(t, s.Flush(context.Background()))
					checkLines(t, f.take(), 0, n, 300)
				})
			})
		}
	}
}

// TestSegmentThatIsLeftIsPatched leaves a segment whose file cannot be written,
// with nothing else happening: it is tried again until it can.
func TestSegmentThatIsLeftIsPatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {}})
		await.Sleep(time.Second) // nothing is due
		const number = 9
		g, err := s.maker.create(number)
		must(t, err)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: store.SegmentName(number) + "*", Err: syscall.EIO, Done: true})
		if g.Begin(segment.Start{First: 1}) {
			t.Fatal("the start of the segment was written")
		}
		s.maker.leave(g)
		await.Sleep(time.Second)
		heal()
		if n := unpatched(s); n != 1 {
			t.Errorf("%d segments wait for patches, want one", n)
		}
		await.Sleep(time.Second)
		if n := unpatched(s); n != 0 {
			t.Errorf("%d segments wait for patches when they can be written, want none", n)
		}
	})
}

// TestSharedSizeIsCheckedAfterMaking has another process make segments while
// this one does: the new one is removed, and made again when there is room.
func TestSharedSizeIsCheckedAfterMaking(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  vfstest.Fault // in the meantime
		errors uint64
		files  int // of this process
	}{
		{"removed", vfstest.Fault{Op: vfstest.OpLink}, 0, 2},
		{"cannot be removed", vfstest.Fault{Op: vfstest.OpRemove, Path: store.SegmentName(3), Err: syscall.EIO}, 1, 3},
		{"cannot be checked", vfstest.Fault{Op: vfstest.OpReadDir, Path: filepath.Base(memDir), Err: syscall.EMFILE}, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := vfstest.NewMem(nil)
				must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
				s := open(t, memDir, nil, shared(Config{Size: 4 * segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {}}))
				slot := func(n int) string { return filepath.Join(memDir, store.SlotName(n)) }
				files := func() (n int) {
					names, err := m.ReadDir(slot(1))
					must(t, err)
					for _, name := range names {
						if _, ok := store.SegmentNumber(name); ok {
							n++
						}
					}
					return n
				}
				synctest.Wait()
				await.Sleep(time.Second)
				reached, hold := make(chan struct{}), make(chan struct{})
				m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Times: 1, Reached: func() { close(reached) }, Hold: hold})
				for n := 0; s.chain.active.Load().Number < 2; n++ {
					must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
				}
				<-reached
				must(t, m.MkdirAll(slot(2), 0o700))
				other, err := m.Open(filepath.Join(slot(2), store.SegmentName(1)), os.O_RDWR|os.O_CREATE, 0o600)
				must(t, err, other.Truncate(2*segment.MinSize), other.Close())
				heal := m.Fail(c.fault)
				close(hold)
				synctest.Wait()
				if st := s.Stats(); files() != c.files || st.Segments != 2 || st.Errors != c.errors {
					t.Errorf("got %+v and %d files, want %d errors, 2 segments and %d files", st, files(), c.errors, c.files)
				}
				heal()
				await.Sleep(2 * makePause)
				if st := s.Stats(); st.Segments != 2 {
					t.Errorf("got %+v, want 2 segments while there is no room", st)
				}
				must(t, m.Remove(filepath.Join(slot(2), store.SegmentName(1))))
				await.Sleep(2 * makePause)
				if st := s.Stats(); st.Segments != 3 || files() != 3 || s.chain.next == nil || s.chain.next.Number != 3 {
					t.Errorf("got %+v and %d files, want segment 3 when there is room", st, files())
				}
				must(t, s.Close())
			})
		})
	}
}

// TestCallAfterASlowDeletion fills a spool while the deletion of a segment
// hangs, which then fails: calls before that report that it takes too long, and
// calls after it that the spool is full.
func TestCallAfterASlowDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f, hold := vfstest.NewMem(nil), &far{}, make(chan struct{})
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, slow: slowDisk,
			OnError: func(error) {}})
		m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: store.SegmentName(1), Hold: hold, Err: syscall.EPERM})
		for s.chain.active.Load().Number < 2 {
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
		}
		await.Sleep(time.Second) // the first segment is settled
		f.set(down)
		if err := fill(s); err != errSlow {
			t.Errorf("while the deletion hangs: got %v, want errSlow", err)
		}
		close(hold)
		synctest.Wait()
		if err := fill(s); err != errFull {
			t.Errorf("after it: got %v, want errFull", err)
		}
		closeDown(t, s)
	})
}
