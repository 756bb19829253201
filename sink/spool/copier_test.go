// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

var memDir = filepath.Join(string(filepath.Separator), "spool")

// memNames returns the names in memDir with extension ext.
func memNames(t testing.TB, m *vfstest.Mem, ext string) (names []string) {
	t.Helper()
	all, err := m.ReadDir(memDir)
	must(t, err)
	for _, name := range all {
		if strings.HasSuffix(name, ext) {
			names = append(names, name)
		}
	}
	return names
}

// TestCopyGoesWithItsSegment checks the files of a spool that is filled and
// then delivered.
func TestCopyGoesWithItsSegment(t *testing.T) {
	m := vfstest.NewMem(nil)
	f := &far{do: down}
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, tick: time.Microsecond})
	for n := range 300 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
	}
	must(t, s.Sync(context.Background()))
	if n := len(memNames(t, m, store.CopyExt)); n != 6 {
		t.Errorf("got %d copies, want 6", n)
	}
	f.set(nil)
	must(t, s.Flush(context.Background()), s.Close())
	if n := len(memNames(t, m, store.CopyExt)); n > 1 {
		t.Errorf("got %d copies after everything was delivered, want that of the last segment", n)
	}
	s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m})
	for n := range 100 { // more than a segment
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
	}
	must(t, s.Flush(context.Background()), s.Close())
	last := memNames(t, m, store.SegmentExt)
	last = last[len(last)-1:]
	for _, name := range memNames(t, m, store.CopyExt) {
		if strings.TrimSuffix(name, store.CopyExt) != strings.TrimSuffix(last[0], store.SegmentExt) {
			t.Errorf("the copy %s is left without its segment; the last one is %s", name, last[0])
		}
	}
}

// TestCopierFails makes each operation on a copy fail for a while: lines are
// still accepted, are counted only as unsynced, and are synced in the end.
func TestCopierFails(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpCreate, vfstest.OpPreallocate, vfstest.OpWrite, vfstest.OpSync, vfstest.OpRename, vfstest.OpSyncDir} {
		for _, skip := range []int{0, 1, 2} {
			t.Run(fmt.Sprint(op, skip), func(t *testing.T) { copierFails(t, op, skip) })
		}
	}
}

func copierFails(t *testing.T, op vfstest.Op, skip int) {
	m := vfstest.NewMem(nil)
	reported := make(chan error, 100)
	s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, fs: m, tick: time.Microsecond, SyncDelay: time.Microsecond,
		Drain: time.Nanosecond, OnError: func(err error) {
			if !errors.Is(err, errDown) {
				reported <- err
			}
		}})
	awaitNext(s)
	path := "*" + store.CopyExt + "*"
	if op == vfstest.OpSyncDir {
		path = ""
	}
	heal := m.Fail(vfstest.Fault{Op: op, Path: path, Err: syscall.EIO, Skip: skip})
	n := 0
	for failed := false; !failed && n < 500; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
		err := s.Sync(context.Background())
		if failed = err != nil; failed && !errors.Is(err, errUnsynced) {
			t.Fatalf("Sync: got %v, want errUnsynced", err)
		}
		if failed {
			if err := <-reported; !errors.Is(err, syscall.EIO) {
				t.Errorf("OnError got %v, want EIO", err)
			}
		}
	}
	before := s.synced()
	heal()
	for s.Sync(context.Background()) != nil {
	}
	if got, want := s.synced(), uint64(n+1); got != want || before > got {
		t.Errorf("synced is %d and was %d, want %d", got, before, want)
	}
	image := m.CrashClone(vfstest.Nothing)
	if st := checkIdentity(t, s); st.Lost() != 0 || st.Retired != 0 || skip < 1 && st.Errors == 0 {
		t.Errorf("got %+v, want errors and nothing lost", st)
	}
	f := &far{}
	s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: image, boot: 99})
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, n, 100)
}

// TestErrorsAreSynced logs errors: the calls return when their lines are synced
// or, if the disk hangs, after SyncWait.
func TestErrorsAreSynced(t *testing.T) {
	m := vfstest.NewMem(nil)
	s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncErrors, SyncDelay: time.Hour, SyncWait: eventTimeout})
	awaitNext(s) // then only the copier wakes a call that waits
	for n := range 20 {
		must(t, s.WriteRecord(record(nib.LevelInfo, 2*n, 100)), s.WriteRecord(record(nib.LevelError, 2*n+1, 100)))
		if got, want := s.synced(), uint64(2*n+3); got != want {
			t.Errorf("synced is %d after an error, want %d", got, want)
		}
	}
	must(t, s.WriteRecord(record(nib.LevelInfo, 40, 100)))
	if got := s.synced(); got != 41 {
		t.Errorf("synced is %d after no error, want 41", got)
	}
	f := &far{}
	late := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m.CrashClone(vfstest.Nothing), boot: 99})
	must(t, late.Flush(context.Background()))
	checkLines(t, f.take(), 0, 40, 100)
	must(t, s.Close())

	hold := make(chan struct{})
	s = open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncErrors, SyncWait: time.Millisecond})
	m.Fail(vfstest.Fault{Op: vfstest.OpPreallocate, Path: "*" + store.CopyExt + "*", Hold: hold})
	must(t, s.WriteRecord(record(nib.LevelError, 0, 100)))
	if st := s.Stats(); st.Unsynced != 1 {
		t.Errorf("got %+v, want one call that did not wait longer", st)
	}
	close(hold)
	must(t, s.Close())
}

// TestSettledLinesAreNotCopied delivers at once: then nothing is left to copy.
func TestSettledLinesAreNotCopied(t *testing.T) {
	m := vfstest.NewMem(nil)
	s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m, SyncDelay: time.Hour})
	for n := range 100 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	must(t, s.Flush(context.Background()), s.Sync(context.Background()))
	if n := memNames(t, m, store.CopyExt); len(n) != 0 {
		t.Errorf("got %q, want no copies", n)
	}
}

// TestCopierStopsAtADamagedLength has a record whose length reaches beyond the
// claim: only the records before it are copied.
func TestCopierStopsAtADamagedLength(t *testing.T) {
	const lines, size = 10, 100
	for _, length := range []uint32{segment.RecordHead + size, 1000 * size, segment.MinSize, 1 << 24, 0x7ffffff0, 0x7fffffff} {
		g := segment.New(make([]byte, segment.MinSize), segment.Identity{Number: 1, Gen: 1, Size: segment.MinSize}, nil)
		g.Begin(segment.Start{First: 1})
		at := 0
		for n := range lines {
			r := record(nib.LevelInfo, n, size)
			claim := segment.RecordSize(r, -1)
			offset, seq, _ := g.Reserve(claim)
			g.Write(offset, claim, seq, r, -1)
			at = offset
		}
		binary.LittleEndian.PutUint32(g.Bytes()[at:], length)
		x := &copied{g: g, at: segment.HeaderSize, next: 1}
		end, next, _, ok := x.committed(math.MaxUint64)
		want, last := at, uint64(lines-1)
		if length == segment.RecordHead+size {
			want, _, _ = g.Claimed()
			last++
		}
		if ok != (last == lines) || end != want || next != last+1 {
			t.Errorf("a record of %d bytes: got %v up to offset %d, record %d, want offset %d, record %d", length, ok, end, next-1, want, last)
		}
	}
}

// synced returns the number of the first record of this process that a power
// failure may lose: all earlier ones are on disk or settled. It is 0 if lines
// are not synced.
func (s *Sink) synced() uint64 {
	if s.chain.copier == nil {
		return 0
	}
	return max(s.chain.copier.synced.Load(), s.chain.opened, s.chain.Position())
}
