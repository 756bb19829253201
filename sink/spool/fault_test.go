// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A broken file system fails to allocate, and to write at an offset, while err
// is set.
type broken struct {
	unsynced
	err *atomic.Pointer[error]
}

type brokenFile struct {
	vfs.File
	err *atomic.Pointer[error]
}

func (b broken) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := b.unsynced.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return brokenFile{f, b.err}, nil
}

func (f brokenFile) Preallocate(size int64) error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return f.File.Preallocate(size)
}

func (f brokenFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.err.Load(); err != nil {
		return 0, *err
	}
	return f.File.WriteAt(p, at)
}

// TestDiskFullAndFaults fills the disk, and makes it fail: calls return, lines
// without room are dropped and counted by reason, and lines are accepted again
// when the disk works again.
func TestDiskFullAndFaults(t *testing.T) {
	for _, c := range []struct {
		err    error
		reason delivery.Reason
		want   error
	}{
		{syscall.ENOSPC, delivery.ReasonFull, errFull},
		{syscall.EIO, delivery.ReasonFailed, syscall.EIO},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			fsys := broken{unsynced{vfs.OS()}, new(atomic.Pointer[error])}
			reported := make(chan error, 100)
			f := &far{}
			dir := spoolDir(t)
			s := open(t, dir, f, Config{SegmentSize: segment.MinSize, fs: fsys, OnError: func(err error) {
				select {
				case reported <- err:
				default:
				}
			}})
			fsys.err.Store(&c.err)
			n := 0
			var err error
			for ; err == nil; n++ {
				err = s.WriteRecord(record(nib.LevelInfo, n, 1000))
			}
			if n--; !errors.Is(err, c.want) || err != errFull && !strings.HasPrefix(err.Error(), "nib/spool: make a segment in "+dir+": ") {
				t.Errorf("got %v, want %v, and where", err, c.want)
			}
			if err := <-reported; !errors.Is(err, c.err) {
				t.Errorf("OnError got %v, want %v", err, c.err)
			}
			if st := checkIdentity(t, s); len(st.Dropped) != 1 || st.Dropped[0] != (delivery.Drop{Reason: c.reason, Level: nib.LevelInfo, Lines: 1}) {
				t.Errorf("got %+v, want one line dropped: %s", st, c.reason)
			}
			fsys.err.Store(nil)
			awaitNext(s)
			for ; n < 200; n++ {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
			}
			must(t, s.Flush(context.Background()), s.Close())
			checkLines(t, f.take(), 0, 200, 1000)
		})
	}
}

// TestDirectoryIsRemoved removes the files while they are in use. Lines still
// arrive: the mapping does not need a name.
func TestDirectoryIsRemoved(t *testing.T) {
	dir := spoolDir(t)
	f := &far{}
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize})
	awaitNext(s) // it would not be removed with the others
	must(t, os.RemoveAll(dir))
	n := 0
	for ; s.WriteRecord(record(nib.LevelInfo, n, 1000)) == nil; n++ {
	}
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, n, 1000)
	if st := checkIdentity(t, s); st.Lost() == 0 || st.Errors == 0 {
		t.Errorf("got %+v, want a line lost and errors", st)
	}
}

// TestDamageInLiveSegment changes a record of this process before it is read.
func TestDamageInLiveSegment(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(rec []byte)
		at     int
		lost   uint64
	}{
		{"text", func(rec []byte) { rec[segment.RecordHead+3]++ }, 6, 1},
		{"text of the last one", func(rec []byte) { rec[segment.RecordHead+3]++ }, 10, 1},
		{"length", func(rec []byte) { rec[0] += 16 }, 6, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &far{}
			reached, hold := make(chan struct{}), make(chan struct{})
			f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
				reached <- struct{}{}
				<-hold
				return delivery.Result{Accepted: 1}, nil, false
			})
			s := open(t, "", f, Config{SegmentSize: segment.MinSize})
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
			<-reached
			for n := range 10 {
				must(t, s.WriteRecord(record(nib.LevelInfo, n+1, 100)))
			}
			at := segment.HeaderSize + c.at*segment.Align(segment.RecordHead+100)
			c.change(s.chain.active.Load().Bytes()[at:])
			f.set(nil)
			close(hold)
			must(t, s.Flush(context.Background()), s.WriteRecord(record(nib.LevelInfo, 11, 100)), s.Close())
			if st := checkIdentity(t, s); st.Lost() != c.lost || st.Delivered != 12-c.lost+st.Notices {
				t.Errorf("got %+v, want %d lines damaged and the others delivered", st, c.lost)
			}
		})
	}
}

// TestLostCursor starts without a cursor, and with a torn slot in a cursor:
// lines may be delivered again, and none is missing.
func TestLostCursor(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(b []byte) []byte
		from int
	}{
		{"both slots", func(b []byte) []byte { return nil }, 0},
		{"none", func(b []byte) []byte { return b }, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := spoolDir(t)
			f := &far{}
			s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Drain: time.Millisecond})
			for n := range 50 {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
			}
			must(t, s.Flush(context.Background()))
			f.set(down)
			f.take()
			for n := range 50 {
				must(t, s.WriteRecord(record(nib.LevelInfo, 50+n, 100)))
			}
			_ = s.Close() // lines are left
			name := filepath.Join(dir, defaultName+".cursor")
			b, err := os.ReadFile(name)
			must(t, err, os.WriteFile(name, c.harm(b), 0o600))
			f.set(nil)
			s = open(t, dir, f, Config{SegmentSize: segment.MinSize})
			must(t, s.Flush(context.Background()))
			checkLines(t, f.take(), c.from, 100, 100)
		})
	}
}

// awaitNext waits until the next segment has been created.
func awaitNext(s *Sink) {
	for {
		s.chain.Lock()
		changed, made := s.chain.Change(), s.chain.next != nil
		s.chain.Unlock()
		if made {
			return
		}
		<-changed
	}
}
