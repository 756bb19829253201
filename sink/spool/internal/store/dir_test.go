// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

const memPath = "/spool"

// opened opens the directory memPath in m, in a boot of the system.
func opened(t *testing.T, m vfs.FS, boot uint64) (*Dir, []segment.Old) {
	t.Helper()
	d, old, err := OpenDir(memPath, &Options{FS: m, Boot: boot})
	noError(t, err)
	return d, old
}

// put makes a segment with records numbered from first on; with first 0, a
// segment that was never used.
func put(t *testing.T, d *Dir, number, first uint64, records int) segment.Identity {
	t.Helper()
	g, f, err := d.Make(number, segment.MinSize, 0)
	noError(t, err)
	_, err = d.Publish(g, f)
	noError(t, err)
	if first > 0 {
		fill(t, g, first, records)
	}
	g.Done(nil)
	return g.Identity
}

// fill takes a segment into use, and writes records numbered from first on.
func fill(t *testing.T, g *segment.Segment, first uint64, records int) {
	t.Helper()
	if !g.Begin(segment.Start{First: first}) {
		t.Fatal(g.Fault())
	}
	for range records {
		r := nib.Record{Line: []byte("a line")}
		size := segment.RecordSize(&r, -1)
		at, seq, ok := g.Reserve(size)
		if !ok {
			t.Fatal("the segment is full")
		}
		if ok, _ := g.Write(at, size, seq, &r, -1); !ok {
			t.Fatal(g.Fault())
		}
	}
}

// reopened continues a segment behind its last record.
func reopened(t *testing.T, d *Dir, old *segment.Old) *segment.Segment {
	t.Helper()
	var ok bool
	if _, old.End, old.Used, old.Label, ok = d.QuickEnd(old); !ok {
		t.Fatal("the end of the segment is not found")
	}
	old.Sure = old.End
	g, finish, err := d.Reopen(old)
	noError(t, err, finish())
	return g
}

func namesIn(t *testing.T, m vfs.FS) []string {
	t.Helper()
	names, err := m.ReadDir(memPath)
	noError(t, err)
	return names
}

// touch makes files with some text.
func touch(t *testing.T, m vfs.FS, names ...string) {
	t.Helper()
	for _, name := range names {
		f, err := m.Open(filepath.Join(memPath, name), os.O_RDWR|os.O_CREATE, 0o600)
		noError(t, err)
		_, err = f.WriteAt([]byte("text"), 0)
		noError(t, err, f.Close())
	}
}

// TestSpoolKeepsItsID opens two spools twice: each keeps its id, and they
// differ. Processes are counted.
func TestSpoolKeepsItsID(t *testing.T) {
	ids := map[uint64]bool{0: true}
	for range 2 {
		m := vfstest.NewMem(nil)
		d, old := opened(t, m, 1)
		if len(old) != 0 || ids[d.Spool] || d.Gen != 1 {
			t.Errorf("a new spool has id %x, generation %d and %d segments", d.Spool, d.Gen, len(old))
		}
		ids[d.Spool] = true
		put(t, d, 1, 1, 1)
		noError(t, d.Unlock())
		again, old := opened(t, m, 1)
		if len(old) != 1 || again.Spool != d.Spool || again.Gen != 2 {
			t.Errorf("got id %x, generation %d and %d segments, want %x, 2 and 1", again.Spool, again.Gen, len(old), d.Spool)
		}
		noError(t, again.Unlock())
		if n := m.Opened(); n != 0 {
			t.Errorf("%d files are open", n)
		}
	}
}

// TestStreamsLookLikeNoClaim draws streams: a label that is a negative length
// would look like a claim.
func TestStreamsLookLikeNoClaim(t *testing.T) {
	for range 1000 {
		if id := NewID(); id == 0 || int32(id) < 0 {
			t.Fatalf("got %x", id)
		}
	}
}

// TestNumbersOfUnusedSegments counts the numbers that segments after the last
// used one could have used. After a loss of power their records may be gone;
// without one they are as their process left them.
func TestNumbersOfUnusedSegments(t *testing.T) {
	const each = segment.MinSize / segment.RecordHead
	for _, c := range []struct {
		name       string
		boot, next uint64
		first      []uint64 // of the segments; 0: unused
		want       uint64
	}{
		{"none", 1, 2, []uint64{1, 5}, 0},
		{"two in another boot", 1, 2, []uint64{1, 0, 0}, 2 * each},
		{"two in the same boot", 1, 1, []uint64{1, 0, 0}, 0},
		{"two, and boots are unknown", 0, 0, []uint64{1, 0, 0}, 2 * each},
		{"before a used one", 1, 2, []uint64{1, 0, 5}, 0},
		{"before and after a used one", 1, 2, []uint64{1, 0, 5, 0}, each},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, c.boot)
		used := 0
		for i, first := range c.first {
			if put(t, d, uint64(i+1), first, 0); first > 0 {
				used++
			}
		}
		noError(t, d.Unlock())
		d, old := opened(t, m, c.next)
		if d.Unused != c.want || d.Unknown || len(old) != used || d.Last != uint64(len(c.first)) {
			t.Errorf("%s: got %d numbers, unknown %v, %d used segments up to %d, want %d, false, %d up to %d",
				c.name, d.Unused, d.Unknown, len(old), d.Last, c.want, used, len(c.first))
		}
		noError(t, d.Tidy())
		if names := namesIn(t, m); len(names) != used+1 {
			t.Errorf("%s: got %q after tidying, want the lock and %d segments", c.name, names, used)
		}
		noError(t, d.Unlock())
	}
}

// TestNamesOfSegments parses names of files.
func TestNamesOfSegments(t *testing.T) {
	for name, want := range map[string]uint64{
		"000000000000000a.seg": 10, "000000000000000a.copy": 10, "ffffffffffffffff.seg": 1<<64 - 1,
		"0a.seg": 0, "000000000000000A.seg": 0, "000000000000000a": 0, "000000000000000a.seg.bad": 0, "000000000000000a.seg.tmp": 0,
		"fffffffffffffffff.seg": 0, ".seg": 0, "000000000000000g.seg": 0,
	} {
		if n, ok := SegmentNumber(name); ok != (want > 0) || ok && n != want || IsSegmentName(name) != ok {
			t.Errorf("%s: got number %d and %v, want %d", name, n, ok, want)
		}
	}
}

// TestFilesOfASpool shows which files of a directory belong to the spool.
// Numbers of quarantined files count, so that no number is used again.
func TestFilesOfASpool(t *testing.T) {
	const number = "00000000000000"
	for _, c := range []struct {
		name    string
		last    uint64 // highest number
		removed bool   // by Tidy
		bad     bool   // quarantined by Tidy
	}{
		{number + "0a" + SegmentExt, 10, false, true},
		{number + "0a" + CopyExt, 10, false, true},
		{number + "0a" + SegmentExt + BadExt, 10, false, false},
		{number + "0a" + CopyExt + BadExt, 10, false, false},
		{number + "0a" + MadeExt, 0, true, false},
		{number + "0a" + CopyExt + MadeSuffix, 0, true, false},
		{number + "0A" + SegmentExt, 0, false, false},
		{"0a" + SegmentExt, 0, false, false},
		{"0a" + SegmentExt + BadExt, 0, false, false},
		{"0a" + MadeExt, 0, false, false},
		{number + "0g" + SegmentExt, 0, false, false},
		{number + "0g" + MadeExt, 0, false, false},
		{number + "0a.old", 0, false, false},
		{number + "0a" + SegmentExt + ".old", 0, false, false},
		{"0" + number + "0a" + SegmentExt, 0, false, false},
		{strings.Repeat("f", 17) + SegmentExt, 0, false, false},
		{"notes.txt", 0, false, false},
	} {
		m := vfstest.NewMem(nil)
		noError(t, m.MkdirAll(memPath, 0o700))
		touch(t, m, c.name)
		d, old := opened(t, m, 1)
		if len(old) != 0 || d.Last != c.last {
			t.Errorf("%s: got %d segments up to number %d, want none up to %d", c.name, len(old), d.Last, c.last)
		}
		noError(t, d.Tidy(), d.QuarantineDamaged(), d.Unlock())
		want := []string{c.name, "lock"}
		switch {
		case c.removed:
			want = want[1:]
		case c.bad:
			want[0] += BadExt
		}
		slices.Sort(want)
		if got := namesIn(t, m); !slices.Equal(got, want) || (d.Bad == 1) != c.bad {
			t.Errorf("%s: got %q and %d quarantined, want %q", c.name, got, d.Bad, want)
		}
	}
}

// TestDamagedLastSegmentIsUnknown has a segment without a valid header after
// the last one, which may have had any number of records.
func TestDamagedLastSegmentIsUnknown(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 1)
	noError(t, d.Unlock())
	touch(t, m, SegmentName(2))
	d, old := opened(t, m, 1)
	if len(old) != 1 || !d.Unknown || d.Unused != segment.MaxSize/segment.RecordHead {
		t.Errorf("got %d segments, unknown %v and %d numbers, want 1, true and the numbers of "+
			"the largest segment", len(old), d.Unknown, d.Unused)
	}
	put(t, d, 3, 50, 1)
	noError(t, d.Unlock())
	d, old = opened(t, m, 1)
	if len(old) != 2 || d.Unknown || d.Unused != 0 {
		t.Errorf("with another one after it: got %d segments, unknown %v and %d numbers, want 2, false and none", len(old), d.Unknown, d.Unused)
	}
	noError(t, d.Unlock())
}

// TestSegmentOfAnotherSpool puts a segment of another spool, and one with the
// wrong number, into a directory: they are quarantined.
func TestSegmentOfAnotherSpool(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 1)
	put(t, d, 2, 2, 1)
	put(t, d, 3, 3, 1)
	d.Spool++
	put(t, d, 4, 4, 1)
	noError(t, m.Rename(d.Name(SegmentName(3)), d.Name(SegmentName(5))), d.Unlock())
	d, old := opened(t, m, 1)
	noError(t, d.QuarantineDamaged(), d.Unlock())
	want := []string{SegmentName(1), SegmentName(2), SegmentName(4) + BadExt, SegmentName(5) + BadExt, "lock"}
	if got := namesIn(t, m); len(old) != 2 || !slices.Equal(got, want) {
		t.Errorf("got %d segments and %q, want 2 and %q", len(old), got, want)
	}
}

// TestUnreadableDirectoryFailsOpen makes one call after the other fail: Open
// returns the error, nothing is quarantined, and no file is open.
func TestUnreadableDirectoryFailsOpen(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 1)
	noError(t, d.Unlock())
	names := namesIn(t, m)
	for _, f := range []vfstest.Fault{
		{Op: vfstest.OpMkdir, Path: "spool"},
		{Op: vfstest.OpLstat, Path: "spool"},
		{Op: vfstest.OpLstat, Path: "lock"},
		{Op: vfstest.OpCreate, Path: "lock"},
		{Op: vfstest.OpStat, Path: "lock"},
		{Op: vfstest.OpReadDir, Path: "spool"},
		{Op: vfstest.OpOpen, Path: SegmentName(1)},
		{Op: vfstest.OpStat, Path: SegmentName(1)},
		{Op: vfstest.OpRead, Path: SegmentName(1)},
	} {
		f.Err = syscall.EACCES
		heal := m.Fail(f)
		d, old, err := OpenDir(memPath, &Options{FS: m, Boot: 1})
		if !errors.Is(err, syscall.EACCES) || d != nil || old != nil || m.Opened() != 0 {
			t.Errorf("%s of %s: got %v and %d open files, want %v and none", f.Op, f.Path, err, m.Opened(), syscall.EACCES)
		}
		if heal(); err == nil {
			noError(t, d.Unlock())
		}
	}
	if got := namesIn(t, m); !slices.Equal(got, names) {
		t.Errorf("got %q, want %q", got, names)
	}
}

// TestUnknownKindIsNotDamage cannot find out whether a segment is a file.
func TestUnknownKindIsNotDamage(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 1)
	noError(t, d.Unlock())
	m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: SegmentName(1), Err: syscall.EACCES})
	d, old := opened(t, m, 1)
	if len(old) != 1 || len(d.damaged) != 0 {
		t.Errorf("got %d segments, and %q as damaged, want one", len(old), d.damaged)
	}
	noError(t, d.Unlock())
}

// TestForeignFilesAreRefused gives the directory or one of its files to another
// user, who may change it at any time.
func TestForeignFilesAreRefused(t *testing.T) {
	for _, name := range []string{"", "lock", SegmentName(1), CopyName(2), "c" + CursorExt} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		put(t, d, 1, 1, 1)
		put(t, d, 2, 2, 1)
		noError(t, m.Rename(d.Name(SegmentName(2)), d.Name(CopyName(2))), d.Unlock())
		touch(t, m, "c"+CursorExt)
		m.Chown(d.Name(name), os.Geteuid()+1)
		d, _, err := OpenDir(memPath, &Options{FS: m, Boot: 1})
		if err == nil {
			_, _, _, err = OpenCursor(d, "c")
			err = errors.Join(err, d.Unlock())
		}
		if n := m.Opened(); !errors.Is(err, ErrUnsafe) || n > 1 || n == 1 && name == "c"+CursorExt {
			t.Errorf("%q: got %v and %d open files, want %v", name, err, n, ErrUnsafe)
		}
	}
}

// TestStrayDirectoryIsDamage has a directory with the name of a segment: it is
// quarantined, and not opened.
func TestStrayDirectoryIsDamage(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.Chmod(dir, 0o700), os.Mkdir(filepath.Join(dir, SegmentName(1)), 0o700))
	d, old, err := OpenDir(dir, &Options{FS: vfs.OS(), Boot: 1})
	noError(t, err, d.QuarantineDamaged(), d.Unlock())
	got, err := vfs.OS().ReadDir(dir)
	if want := []string{SegmentName(1) + BadExt, "lock"}; err != nil || len(old) != 0 || !slices.Equal(got, want) {
		t.Errorf("got %d segments, %q and %v, want none and %q", len(old), got, err, want)
	}
}

// TestQuarantineOfAFileThatKeepsItsName quarantines a file twice. It loses its
// name if the file system has no links.
func TestQuarantineOfAFileThatKeepsItsName(t *testing.T) {
	for _, c := range []struct {
		link, again error
		want        []string
	}{
		{nil, nil, []string{SegmentName(1), SegmentName(1) + BadExt, "lock"}},
		{syscall.EPERM, fs.ErrNotExist, []string{SegmentName(1) + BadExt, "lock"}},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		touch(t, m, SegmentName(1))
		if c.link != nil {
			m.Fail(vfstest.Fault{Op: vfstest.OpLink, Err: c.link})
		}
		noError(t, d.Quarantine(SegmentName(1), true))
		if err := d.Quarantine(SegmentName(1), true); !errors.Is(err, c.again) {
			t.Errorf("again: got %v, want %v", err, c.again)
		}
		if got := namesIn(t, m); !slices.Equal(got, c.want) {
			t.Errorf("links fail with %v: got %q, want %q", c.link, got, c.want)
		}
		noError(t, d.Unlock())
	}
}

// TestTidyReportsEveryError makes all changes to a directory fail. Files that
// are gone are no errors.
func TestTidyReportsEveryError(t *testing.T) {
	for err, want := range map[error]error{syscall.EIO: syscall.EIO, fs.ErrNotExist: nil} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		put(t, d, 1, 0, 0)
		noError(t, d.Unlock())
		touch(t, m, SegmentName(2)+MadeSuffix, SegmentName(3))
		d, _ = opened(t, m, 1)
		for _, op := range []vfstest.Op{vfstest.OpRemove, vfstest.OpRename} {
			m.Fail(vfstest.Fault{Op: op, Err: err})
		}
		got := errors.Join(d.Tidy(), d.QuarantineDamaged())
		if n := strings.Count(errorText(got), "\n"); !errors.Is(got, want) || want != nil && n != 2 {
			t.Errorf("%v: got %v, want three of %v", err, got, want)
		}
		noError(t, d.Unlock())
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
