// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestReadMark decodes marks of both versions, and others that are not valid.
func TestReadMark(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	writeNumbers(t, s, 0, 1)
	mark := s.Mark()
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   bool
	}{
		"valid":                      {func(b []byte) []byte { return b }, true},
		"version 1":                  {firstMark, true},
		"empty":                      {func([]byte) []byte { return nil }, false},
		"version 1 with a writer":    {func(b []byte) []byte { b[0] = 1; return b }, false},
		"version 2 without a writer": {func(b []byte) []byte { return b[:firstMarkSize] }, false},
		"another version":            {func(b []byte) []byte { b[0] = 3; return b }, false},
		"before the beginning": {func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[24:], uint64(binary.LittleEndian.Uint16(b[2:])-1))
			return b
		}, false},
		"long tail": {func(b []byte) []byte {
			binary.LittleEndian.PutUint16(b[2:], tailSize+1)
			binary.LittleEndian.PutUint64(b[24:], tailSize+1)
			return b
		}, false},
	} {
		if p, ok := readMark(c.change(bytes.Clone(mark))); ok != c.want || ok && p.ID != s.w.id {
			t.Errorf("%s: got %+v, %v", name, p, ok)
		}
	}
}

// TestPlaceIsInItsFile looks for a place in files that were changed, and fails
// each operation of that.
func TestPlaceIsInItsFile(t *testing.T) {
	path := filepath.Join(logDir, "zeros")
	for name, c := range map[string]struct {
		change func(t *testing.T, m *vfstest.Mem)
		fault  vfstest.Fault
		unread bool // the bytes before the place could not be read
		want   bool
	}{
		"unchanged":         {want: true},
		"continued":         {change: func(t *testing.T, m *vfstest.Mem) { put(t, m, path, string(make([]byte, 700))) }, want: true},
		"changed":           {change: func(t *testing.T, m *vfstest.Mem) { put(t, m, path, string(make([]byte, 599))+"x") }},
		"truncated":         {change: func(t *testing.T, m *vfstest.Mem) { truncate(t, m, path, 599) }},
		"unchanged, unread": {unread: true, want: true},
		"truncated, unread": {unread: true, change: func(t *testing.T, m *vfstest.Mem) { truncate(t, m, path, 599) }},
		"replaced": {change: func(t *testing.T, m *vfstest.Mem) {
			must(t, m.Remove(path))
			put(t, m, path, string(make([]byte, 600)))
		}},
		"not described":              {fault: vfstest.Fault{Op: vfstest.OpStat, Err: syscall.EIO}},
		"not read":                   {fault: vfstest.Fault{Op: vfstest.OpRead, Err: syscall.EIO}},
		"truncated while it is read": {fault: vfstest.Fault{Op: vfstest.OpRead}},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{})
		put(t, m, path, string(make([]byte, 600)))
		f, err := m.Open(path, os.O_RDWR, 0)
		must(t, err)
		info, err := f.Stat()
		must(t, err)
		s.mu.Lock()
		heal := func() {}
		if c.unread {
			heal = m.Fail(vfstest.Fault{Op: vfstest.OpRead, Err: syscall.EIO})
		}
		s.dest.moveTo(f, info.ID, 600)
		heal()
		p := s.dest.position
		s.unlock()
		must(t, f.Close())
		if c.change != nil {
			c.change(t, m)
		}
		if f, err = m.Open(path, os.O_RDWR, 0); err != nil {
			t.Fatal(err)
		}
		if c.fault.Op == vfstest.OpRead && c.fault.Err == nil {
			c.fault.Reached = func() { truncate(t, m, path, 0) }
		}
		c.fault.Path = "zeros"
		heal = m.Fail(c.fault)
		got, err := p.IsIn(f)
		if heal(); got != c.want || !errors.Is(err, c.fault.Err) {
			t.Errorf("%s: got %v, %v, want %v, %v", name, got, err, c.want, c.fault.Err)
		}
		must(t, f.Close())
	}
}

// truncate cuts a file off.
func truncate(t testing.TB, m vfs.FS, path string, size int64) {
	t.Helper()
	f, err := m.Open(path, os.O_RDWR, 0)
	must(t, err, f.Truncate(size), f.Close())
}

// TestBatchStaysInItsFile has logrotate rename the file within a batch that
// takes several writes, whether or not the write before the batch has failed:
// all of it is in the file that the mark names.
func TestBatchStaysInItsFile(t *testing.T) {
	for _, fault := range []error{nil, syscall.EIO, syscall.ENOSPC} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{})
		s.Mark()
		batch := []nib.Record{}
		for n := range 1000 {
			batch = append(batch, *record(nib.LevelInfo, n, 200))
		}
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Err: fault})
		if _, err := s.Deliver(context.Background(), batch[:1]); !errors.Is(err, fault) {
			t.Errorf("got %v, want %v", err, fault)
		}
		heal()
		mark := s.Mark()
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Times: 1, Reached: func() {
			clock.advance(time.Second)
			must(t, m.Rename(livePath, livePath+".1"))
		}})
		res, err := s.Deliver(context.Background(), batch[1:])
		must(t, err, s.Close())
		s = openMem(t, m, clock, Config{}) // the process has died before the next mark was stored
		n, err := s.Resume(context.Background(), mark, batch[1:])
		if must(t, err); n != res.Accepted || n != len(batch)-1 {
			t.Errorf("after %v: %d lines were delivered and %d are found, want %d", fault, res.Accepted, n, len(batch)-1)
		}
	}
}

// TestBatchAfterARotationStaysInItsFile delivers batches that are larger than
// MaxSize: only a call that accepts nothing ends the file, which has no more
// than MaxSize.
func TestBatchAfterARotationStaysInItsFile(t *testing.T) {
	for _, size := range []int{60, deliverySize + 1} {
		m, clock := newMem(t)
		maxSize := 3*size + 10
		s := openMem(t, m, clock, Config{MaxSize: int64(maxSize)})
		s.Mark()
		var batch []nib.Record
		for n := range 20 {
			batch = append(batch, *record(nib.LevelInfo, n, size))
		}
		for n := 0; n < len(batch); {
			before := s.Stats().Rotations
			res, err := s.Deliver(context.Background(), batch[n:])
			if must(t, err); s.Stats().Rotations > before && res.Accepted > 0 {
				t.Fatalf("%d bytes: the file was ended in a batch with %d accepted records",
					size, res.Accepted)
			}
			if n += res.Accepted; s.SyncMark() {
				s.Mark()
			}
		}
		checkNumbers(t, memAll(t, m), len(batch))
		for _, name := range memFiles(t, m) {
			if got := len(memText(t, m, filepath.Join(logDir, name))); got > maxSize {
				t.Errorf("%s has %d bytes, want at most %d", name, got, maxSize)
			}
		}
	}
}

// TestMarkOfANewFileHasNoBatchInProgress has a process die after it has stored
// the mark of a new file: a line that another program writes to the old file
// does not count as a record.
func TestMarkOfANewFileHasNoBatchInProgress(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	must(t, m.Rename(livePath, livePath+".1"))
	clock.advance(time.Second)
	batch := []nib.Record{*deskRecord(1)}
	res, err := s.Deliver(context.Background(), batch)
	if must(t, err); res.Accepted != 0 || !s.SyncMark() {
		t.Fatalf("got %+v, want a mark to be stored first", res)
	}
	mark := s.Mark()
	f, err := m.Open(livePath+".1", os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.Write(batch[0].Line)
	must(t, err, f.Close())
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 0, batch...)
}

// TestMarkOfTheFileBeforeTheClaim has a process die after it has claimed a part
// of a new file, and before it has stored the mark of that: a line that another
// program has written to the new file before does not count as a record.
func TestMarkOfTheFileBeforeTheClaim(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	mark := s.Mark()
	must(t, m.Rename(livePath, livePath+".1"), s.Reopen())
	batch := []nib.Record{*deskRecord(1)}
	appendTo(t, m, string(batch[0].Line))
	res, err := s.Deliver(context.Background(), batch)
	if must(t, err); res.Accepted != 0 || !s.SyncMark() {
		t.Fatalf("got %+v, want a mark to be stored first", res)
	}
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 0, batch...)
}

// TestMarkOfAFileThatCannotBeDescribed begins with a file whose size cannot be
// determined: the mark is behind the lines of this sink, and the error is
// reported.
func TestMarkOfAFileThatCannotBeDescribed(t *testing.T) {
	m, clock := newMem(t)
	var reported error
	s := openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
	writeNumbers(t, s, 0, 2)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpStat, Path: "app.log", Err: syscall.EIO})
	mark := s.Mark()
	heal()
	if p, ok := readMark(mark); !ok || p.At != s.w.size || p.ID != s.w.id {
		t.Errorf("got %+v, want the end of the file at %d", p, s.w.size)
	}
	if !errors.Is(reported, syscall.EIO) {
		t.Errorf("OnError got %v, want %v", reported, syscall.EIO)
	}
}

// TestClaimsAreOfThisRunOfTheSystem stores a claim of a sink whose Config names
// no run.
func TestClaimsAreOfThisRunOfTheSystem(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "app.log"), Config{})
	if mark, boot := s.Mark(), vfs.Boot(); s.dest.claims.Boot != boot || hasClaim(mark) != (boot != 0) {
		t.Errorf("got boot %d and a mark with a claim: %v, want boot %d", s.dest.claims.Boot, hasClaim(mark), boot)
	}
}
