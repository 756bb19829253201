// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

func noRest() {}

// TestSegmentsSurvivePowerLoss makes the first segment of a process, a later
// one, and continues one: each is on the disk when that is promised.
func TestSegmentsSurvivePowerLoss(t *testing.T) {
	for _, shared := range []bool{false, true} {
		path := memPath
		if shared {
			path = memPath + "/" + SlotName(1)
		}
		m := vfstest.NewMem(nil)
		open := func(m vfs.FS) (*Dir, []segment.Old) {
			d, old, err := OpenDir(path, &Options{FS: m, Boot: 1})
			noError(t, err)
			return d, old
		}
		d, _ := open(m)
		first, finish, err := d.CreateFirst(1, segment.MinSize)
		noError(t, err, finish())
		if d, _ := open(m.CrashClone(vfstest.Nothing)); !slices.Equal(d.empty, []uint64{1}) || d.Spool != first.Spool {
			t.Errorf("shared=%v: got segments %d of spool %x, want the first one of %x", shared, d.empty, d.Spool, first.Spool)
		}
		second, err := d.Create(2, segment.MinSize, noRest)
		noError(t, err)
		if d, _ := open(m.CrashClone(vfstest.Nothing)); !slices.Equal(d.empty, []uint64{1, 2}) || d.Spool != second.Spool {
			t.Errorf("shared=%v: got segments %d of spool %x, want both of %x", shared, d.empty, d.Spool, second.Spool)
		}
		if !second.Begin(segment.Start{First: 1}) {
			t.Fatal(second.Fault())
		}
		first.Done(nil)
		second.Done(nil)
		noError(t, d.Unlock())
		d, old := open(m)
		reopened(t, d, &old[0]).Done(nil)
		if _, old := open(m.CrashClone(vfstest.Nothing)); len(old) != 1 || old[0].First != 1 {
			t.Errorf("shared=%v: got %+v, want the segment that was continued, with its start", shared, old)
		}
		noError(t, d.Unlock())
		if n := m.Opened(); n != 0 {
			t.Errorf("shared=%v: %d files are open", shared, n)
		}
	}
}

// TestCreateFails makes each call that creates a segment fail: the error is
// returned, no file is open, and nothing is left but a segment that the next
// start removes.
func TestCreateFails(t *testing.T) {
	for _, c := range []struct {
		op    vfstest.Op
		path  string
		first bool // CreateFirst returns it, too
	}{
		{vfstest.OpLstat, "lock", true},
		{vfstest.OpCreate, "*.tmp", true},
		{vfstest.OpPreallocate, "*.tmp", true},
		{vfstest.OpWrite, "*.tmp", true},
		{vfstest.OpRename, "", true},
		{vfstest.OpSync, "*.tmp", false},
		{vfstest.OpSyncDir, "spool", false},
	} {
		for _, first := range []bool{false, true} {
			m := vfstest.NewMem(nil)
			d, _ := opened(t, m, 1)
			open := m.Opened()
			m.Fail(vfstest.Fault{Op: c.op, Path: c.path, Err: syscall.EIO})
			create := func() (*segment.Segment, error) { return d.Create(1, segment.MinSize, noRest) }
			if first {
				create = func() (*segment.Segment, error) {
					g, finish, err := d.CreateFirst(1, segment.MinSize)
					if err == nil {
						g.Done(nil)
					} else if finish != nil {
						t.Error("there is something to finish")
					}
					return g, err
				}
			}
			g, err := create()
			if fails := !first || c.first; fails && (g != nil || !errors.Is(err, syscall.EIO)) || !fails && err != nil {
				t.Errorf("%s of %s fails, first=%v: got %v", c.op, c.path, first, err)
			}
			left := namesIn(t, m)
			if m.Opened() != open || slices.ContainsFunc(left, func(n string) bool { return n != "lock" && n != SegmentName(1) }) {
				t.Errorf("%s of %s fails, first=%v: got %q and %d open files, want %d", c.op, c.path, first, left, m.Opened(), open)
			}
		}
	}
}

// TestFinishReportsErrors makes the calls fail that a first segment waits for.
// A new slot may have a new home.
func TestFinishReportsErrors(t *testing.T) {
	for _, f := range []vfstest.Fault{
		{Op: vfstest.OpSync}, {Op: vfstest.OpSyncDir, Path: SlotName(1)}, {Op: vfstest.OpSyncDir, Path: "spool"}, {Op: vfstest.OpSyncDir, Path: "/"},
	} {
		m := vfstest.NewMem(nil)
		d, _, err := OpenDir(filepath.Join(memPath, SlotName(1)), &Options{FS: m, Boot: 1})
		noError(t, err)
		g, finish, err := d.CreateFirst(1, segment.MinSize)
		noError(t, err)
		f.Err = syscall.EIO
		m.Fail(f)
		if err := finish(); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s of %q fails: got %v, want %v", f.Op, f.Path, err, syscall.EIO)
		}
		g.Done(nil)
	}
}

// TestSegmentsInNewDirectoriesSurvivePowerLoss makes a directory whose parents
// are new as well. After a segment was made, the first or a later one, they are
// on disk, also below a directory that may not be read.
func TestSegmentsInNewDirectoriesSurvivePowerLoss(t *testing.T) {
	path := filepath.Join(memPath, "a", "b", "spool")
	for _, first := range []bool{false, true} {
		m := vfstest.NewMem(nil)
		noError(t, errors.Join(m.MkdirAll(memPath, 0o700), m.SyncDir("/")))
		m.Fail(vfstest.Fault{Op: vfstest.OpSyncDir, Path: "/", Err: syscall.EACCES})
		d, _, err := OpenDir(path, &Options{FS: m, Boot: 1})
		noError(t, err)
		var g *segment.Segment
		finish := func() error { return nil }
		if first {
			g, finish, err = d.CreateFirst(1, segment.MinSize)
		} else {
			g, err = d.Create(1, segment.MinSize, noRest)
		}
		noError(t, errors.Join(err, finish()))
		g.Done(nil)
		after := m.CrashClone(vfstest.Nothing)
		if _, err := after.Lstat(filepath.Join(path, SegmentName(1))); err != nil {
			t.Errorf("first=%v: %v", first, err)
		}
	}
}

// TestMakeReplacesTheRestOfAnAttempt finds a file that an earlier attempt has
// left: the new one is all zeros behind its header.
func TestMakeReplacesTheRestOfAnAttempt(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	name := SegmentName(1) + MadeSuffix
	f, err := m.Open(d.Name(name), os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{1}, segment.MinSize), 0)
	noError(t, err, f.Close())
	g, made, err := d.Make(1, segment.MinSize, 0)
	noError(t, err)
	_, err = d.Publish(g, made)
	noError(t, err)
	b, err := d.Bytes(SegmentName(1), segment.MinSize)
	if err != nil || len(b) != segment.MinSize || !bytes.Equal(b[:64], g.Bytes()[:64]) || slices.Max(b[64:]) != 0 {
		t.Errorf("got %d bytes and %v, want a header and zeros", len(b), err)
	}
	g.Done(nil)
	noError(t, d.Unlock())
}

// TestRoomIsLeft makes segments and copies on a volume that has just enough
// free space for them, and one byte less.
func TestRoomIsLeft(t *testing.T) {
	const minFree = 1000
	for _, c := range []struct {
		free    int64
		fits    bool
		minFree int64
	}{
		{segment.MinSize + minFree, true, minFree}, {segment.MinSize + minFree - 1, false, minFree}, {segment.MinSize, true, 0},
	} {
		m := vfstest.NewMem(nil)
		d, _, err := OpenDir(memPath, &Options{FS: m, Boot: 1, MinFree: c.minFree})
		noError(t, err)
		first, finish, err := d.CreateFirst(1, segment.MinSize)
		noError(t, err, finish())
		m.SetFree(c.free)
		g, err := d.Create(2, segment.MinSize, noRest)
		if c.fits != (err == nil) || !c.fits && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d bytes free, %d to be kept: got %v, want that it fits: %v",
				c.free, c.minFree, err, c.fits)
		}
		if err == nil {
			noError(t, d.Remove(2, g))
		}
		m.SetFree(c.free)
		f, err := d.Copies.Make(first, segment.HeaderSize, segment.HeaderSize)
		if c.fits != (err == nil) || !c.fits && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d bytes free, %d to be kept: copy: got %v, want that it fits: %v",
				c.free, c.minFree, err, c.fits)
		}
		if err == nil {
			noError(t, f.Close())
		}
		first.Done(nil)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpFree, Err: syscall.EIO})
		m.SetFree(segment.MinSize)
		if g, err := d.Create(3, segment.MinSize, noRest); err != nil {
			t.Errorf("the free space is not known: got %v, want that the allocation decides", err)
		} else {
			g.Done(nil)
		}
		heal()
		noError(t, d.Unlock())
	}
}

// TestReopenFails continues a segment that was cut off, or whose file cannot be
// used: nothing is open afterwards.
func TestReopenFails(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 3)
	noError(t, d.Unlock())
	d, old := opened(t, m, 1)
	open := m.Opened()
	for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpStat, vfstest.OpPreallocate, vfstest.OpRead} {
		heal := m.Fail(vfstest.Fault{Op: op, Path: SegmentName(1), Err: syscall.EIO})
		if g, finish, err := d.Reopen(&old[0]); g != nil || finish != nil || !errors.Is(err, syscall.EIO) || m.Opened() != open {
			t.Errorf("%s fails: got %v and %d open files, want %v and %d", op, err, m.Opened(), syscall.EIO, open)
		}
		heal()
	}
	f, err := m.Open(d.Name(SegmentName(1)), os.O_RDWR, 0)
	noError(t, err, f.Truncate(segment.MinSize-8), f.Close())
	if _, _, err := d.Reopen(&old[0]); err != ErrNotWhole || m.Opened() != open {
		t.Errorf("cut off: got %v and %d open files, want %v and %d", err, m.Opened(), ErrNotWhole, open)
	}
	noError(t, d.Unlock())
}
