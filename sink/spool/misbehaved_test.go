// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// An odd destination calls a function in each of its methods, except Deliver.
type odd struct {
	far
	batchSize, fork, close func()
}

func (o *odd) BatchSize() (records, bytes int) {
	o.batchSize()
	return 10, 1 << 10
}

func (o *odd) Fork() (delivery.Destination, error) {
	o.fork()
	return o, nil
}

func (o *odd) Close() error {
	o.close()
	return nil
}

// TestMethodsOfForkedDestinations lets the methods of a destination that
// delivers the slot of a dead process panic, end their goroutine, and block.
// The process survives, the errors are reported, and Close returns.
func TestMethodsOfForkedDestinations(t *testing.T) {
	ways := map[string]func(){
		"panics":             func() { panic("odd") },
		"ends its goroutine": runtime.Goexit,
		"blocks":             func() { select {} },
	}
	for way, do := range ways {
		for _, method := range []string{"BatchSize", "Fork", "Close"} {
			if way == "blocks" && method != "Close" {
				continue // Open calls them as well, and waits for them
			}
			t.Run(method+" "+way, func(t *testing.T) {
				m, later := vfstest.NewMem(nil), &atomic.Bool{}
				leaveMemSlot(t, m)
				called := make(chan struct{}, 1)
				call := func() {
					if later.Load() {
						store.Signal(called)
						do()
					}
				}
				nothing := func() {}
				d := &odd{batchSize: nothing, fork: nothing, close: nothing}
				*map[string]*func(){"BatchSize": &d.batchSize, "Fork": &d.fork, "Close": &d.close}[method] = call
				reported := make(chan error, 100)
				s, err := Open(memDir, d, shared(Config{fs: m, hang: time.Millisecond, OnError: func(err error) { reported <- err }}))
				must(t, err)
				later.Store(true)
				leaveMemSlot(t, m) // while s has another one; it may be delivered at once
				<-called
				if method == "Close" {
					must(t, s.Close())
					return
				}
				if err := <-reported; !strings.Contains(err.Error(), "slot-000") {
					t.Errorf("reported %v, want an error that names the slot", err)
				}
				must(t, s.Close())
			})
		}
	}
}

// leaveMemSlot leaves a slot with a line.
func leaveMemSlot(t *testing.T, m *vfstest.Mem) {
	t.Helper()
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s, err := Open(memDir, nil, shared(Config{fs: m}))
	must(t, err, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Close())
}

// TestBatchSizeWithoutALimit opens spools for destinations that choose any
// size.
func TestBatchSizeWithoutALimit(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
		f := &far{}
		s := open(t, "", sized{eager{f}, n, n}, Config{SegmentSize: segment.MinSize})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, 1, 100)
	}
}

// TestPanicInBatchSizeFailsOpen opens a spool whose destination panics.
func TestPanicInBatchSizeFailsOpen(t *testing.T) {
	_, err := Open("", &odd{batchSize: func() { panic("odd") }}, Config{})
	if err == nil || !strings.Contains(err.Error(), "panic: odd") {
		t.Errorf("got %v, want the panic", err)
	}
}

// TestRuleForALevel has rules in any order.
func TestRuleForALevel(t *testing.T) {
	c := Config{OnFull: []FullRule{
		{From: math.MinInt, Do: ActionDropOld}, {From: nib.LevelError, Do: ActionBlock, Wait: time.Second}, {From: math.MaxInt},
	}}.withDefaults("")
	for l, want := range map[nib.Level]Action{
		math.MinInt: ActionDropOld, nib.LevelInfo: ActionDropOld, nib.LevelError: ActionBlock, nib.LevelFatal: ActionBlock, math.MaxInt: ActionDropNew,
	} {
		if got := c.rule(l).Do; got != want {
			t.Errorf("%v: got action %d, want %d", l, got, want)
		}
	}
}

// noRecords is a file system whose files accept headers only.
type noRecords struct{ vfs.FS }

type noRecordsFile struct{ vfs.File }

func (n noRecords) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := n.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return noRecordsFile{f}, nil
}

func (f noRecordsFile) WriteAt(p []byte, at int64) (int, error) {
	if at >= segment.HeaderSize {
		return 0, syscall.EIO
	}
	return f.File.WriteAt(p, at)
}

// TestCallReturnsIfNoSegmentCanBeWritten has files that can be made, and to
// which no record can be written.
func TestCallReturnsIfNoSegmentCanBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: noRecords{m}, Sync: SyncNever, OnError: func(error) {}})
		returned := make(chan error, 1)
		go func() { returned <- s.WriteRecord(record(nib.LevelInfo, 0, 300)) }()
		select {
		case err := <-returned:
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("got %v, want EIO", err)
			}
		case <-time.After(time.Minute):
			t.Error("the call has not returned within a minute")
			_ = s.Close()
		}
		if st := checkIdentity(t, s); st.Logged != 1 || st.Lost() != 1 {
			t.Errorf("got %+v, want the line dropped and counted", st)
		}
	})
}

// TestOneCallWaitsForADiskThatHangs fills the first segment while the disk does
// not return from syncing it, so that no other one is made: the calls after the
// first one do not wait.
func TestOneCallWaitsForADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, f, hold := vfstest.NewMem(nil), &far{}, make(chan struct{})
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*.seg*", Hold: hold})
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, slow: slowDisk})
		begin, refused := time.Now(), 0
		for n := range 80 {
			if s.WriteRecord(record(nib.LevelInfo, n, 1000)) != nil {
				refused++
			}
		}
		if took := time.Since(begin); took != slowDisk || refused == 0 {
			t.Errorf("the calls took %v, and %d were refused, want %v and some", took, refused, slowDisk)
		}
		close(hold)
		synctest.Wait()
		must(t, s.WriteRecord(record(nib.LevelInfo, 80, 1000)), s.Flush(context.Background()))
		if got := len(f.take()); got != 81-refused {
			t.Errorf("%d lines arrived, want %d", got, 81-refused)
		}
	})
}

// TestCloseWithNothingPending closes a spool whose destination has nothing to
// get, while it still waits for the disk to pass numbers that a start has
// skipped.
func TestCloseWithNothingPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, hold := memBacklog(t, 10, 100, SyncNever), make(chan struct{})
		c := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, boot: 1, Drain: time.Second, hang: time.Second}
		s := open(t, memDir, &far{}, c)
		must(t, s.Flush(context.Background()), s.Close())
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*.seg*", Hold: hold})
		c.boot = 2
		s = open(t, memDir, &far{}, c)
		if st := s.Stats(); st.Pending > 0 {
			t.Fatalf("got %+v, want nothing pending", st)
		}
		must(t, s.Close())
		close(hold)
		<-s.done
	})
}

// TestFailuresOfDroppingAreReported cannot delete the segments that it drops to
// make room, nor note that in the next one.
func TestFailuresOfDroppingAreReported(t *testing.T) {
	for _, c := range []struct {
		op   vfstest.Op
		path string
		want string
	}{
		{vfstest.OpRemove, "*.seg", "delete a segment"},
		{vfstest.OpWrite, "*.seg*", "note dropped segments"},
	} {
		m := memBacklog(t, 1000, 200, SyncNever)
		reported := make(chan error, 100)
		s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 3 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
			OnFull: []FullRule{{Do: ActionDropOld}}, OnError: func(err error) { reported <- err }})
		<-s.maker.safe
		s.chain.Lock()
		heal := m.Fail(vfstest.Fault{Op: c.op, Path: c.path, Err: syscall.EIO})
		if made := s.maker.dropOldest(); made != (c.op == vfstest.OpWrite) {
			t.Errorf("%s: dropping made room: %v", c.op, made)
		}
		heal()
		s.chain.Unlock()
		for err := range reported {
			if strings.Contains(err.Error(), c.want) {
				break
			}
		}
		if st := s.Stats(); st.Errors == 0 || st.Lost() == 0 {
			t.Errorf("got %+v, want an error and dropped lines counted", st)
		}
	}
}

// TestSizeHoldsWhileFilesCannotBeDeleted logs many times Size while no cursor
// can be synced, or some files cannot be deleted: disk use stays within Size,
// all lines are delivered, and the next start removes the rest.
func TestSizeHoldsWhileFilesCannotBeDeleted(t *testing.T) {
	const lines, size = 2500, 6 // 247 lines in a segment
	for _, fault := range []vfstest.Fault{
		{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Err: syscall.EIO},
		{Op: vfstest.OpRemove, Path: "*[13579]" + store.SegmentExt, Times: 5, Err: syscall.EBUSY},
	} {
		m, f := vfstest.NewMem(nil), &far{}
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		c := Config{SegmentSize: segment.MinSize, Size: size * segment.MinSize, fs: m, Sync: SyncNever, OnError: func(error) {},
			OnFull: []FullRule{{Do: ActionBlock, Wait: eventTimeout}}}
		s := open(t, memDir, f, c)
		heal := m.Fail(fault)
		for n := range lines {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			if n%100 == 0 && countFiles(t, m) > size {
				t.Fatalf("%s: %d segments after %d lines, want up to %d", fault.Op, countFiles(t, m), n, size)
			}
		}
		must(t, s.Flush(context.Background()), s.Close())
		heal()
		checkLines(t, f.take(), 0, lines, 200)
		s = open(t, memDir, f, c)
		must(t, s.Flush(context.Background()), s.Close())
		if n := countFiles(t, m); n > 2 || len(f.take()) > 0 {
			t.Errorf("%s: %d segments are left, or lines arrived twice", fault.Op, n)
		}
	}
}

// countFiles returns how many segments have files.
func countFiles(t *testing.T, m *vfstest.Mem) (n int) {
	t.Helper()
	names, err := m.ReadDir(memDir)
	must(t, err)
	for _, name := range names {
		if strings.Contains(name, store.SegmentExt) {
			n++
		}
	}
	return n
}

// A failing starter is a destination whose Start panics.
type failingStarter struct{ far }

func (*failingStarter) Start(uint64) { panic("odd") }

// TestPanicInStartIsReported opens a spool for a destination whose Start
// panics.
func TestPanicInStartIsReported(t *testing.T) {
	m, d, reported := vfstest.NewMem(nil), &failingStarter{}, make(chan error, 1)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, d, Config{
		SegmentSize: segment.MinSize, fs: m, OnError: func(err error) { reported <- err },
	})
	want := "start the destination " + defaultName + ": panic: odd"
	if err := <-reported; !strings.Contains(err.Error(), want) {
		t.Errorf("reported %v, want the panic", err)
	}
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Flush(context.Background()), s.Close())
	checkLines(t, d.take(), 0, 1, 100)
}
