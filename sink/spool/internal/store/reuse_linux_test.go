// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// reusing opens a directory on the disk in which segments are mapped and
// reused, and whose calls can be made to fail.
func reusing(t *testing.T) (*Dir, *vfstest.Faulty) {
	t.Helper()
	fsys := vfstest.NewFaulty(vfs.OS())
	d, _, err := OpenDir(filepath.Join(t.TempDir(), "spool"), &Options{FS: fsys, Boot: 1})
	noError(t, err)
	d.Sweeper.Start()
	d.Spares.Allow(true)
	t.Cleanup(func() {
		d.Spares.Allow(false)
		d.Sweeper.Stop()
		noError(t, d.Unlock())
	})
	return d, fsys
}

// published returns a mapped segment that has its name.
func published(t *testing.T, d *Dir, number uint64) *segment.Segment {
	t.Helper()
	g, f, err := d.Make(number, segment.MinSize, 0)
	noError(t, err)
	f, err = d.Publish(g, f)
	noError(t, err, f.Close())
	if !g.IsMapped() {
		t.Fatal("the segment is not mapped")
	}
	return g
}

// settled makes segments and settles them.
func settled(t *testing.T, d *Dir, numbers ...uint64) {
	t.Helper()
	for _, n := range numbers {
		noError(t, d.RemoveSettled(n, published(t, d, n)))
	}
}

// spareNames returns the names of all files but the lock.
func spareNames(t *testing.T, d *Dir) []string {
	t.Helper()
	names, err := vfs.OS().ReadDir(d.Path)
	noError(t, err)
	return slices.DeleteFunc(names, func(n string) bool { return n == "lock" })
}

func wantFiles(t *testing.T, d *Dir, when string, want ...string) {
	t.Helper()
	if got := spareNames(t, d); !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

func madeName(n uint64) string { return SegmentName(n) + MadeSuffix }

// created makes a segment, and reports whether it has the file that had this
// name.
func created(t *testing.T, d *Dir, number uint64, spare string) (g *segment.Segment, reused bool) {
	t.Helper()
	before, err := vfs.OS().Lstat(d.Name(spare))
	noError(t, err)
	g, err = d.Create(number, segment.MinSize, noRest)
	noError(t, err)
	after, err := vfs.OS().Lstat(d.Name(SegmentName(number)))
	noError(t, err)
	return g, after.ID == before.ID
}

// TestAccess opens a directory for mapped and for written segments.
func TestAccess(t *testing.T) {
	for _, written := range []bool{false, true} {
		d, _, err := OpenDir(filepath.Join(t.TempDir(), "spool"), &Options{FS: vfs.OS(), Boot: 1, Written: written})
		noError(t, err)
		g, finish, err := d.CreateFirst(1, segment.MinSize)
		noError(t, err, finish())
		if g.IsWritten() != written || g.IsMapped() == written {
			t.Errorf("written=%v: got a segment that is written: %v, mapped: %v", written, g.IsWritten(), g.IsMapped())
		}
		g.Done(nil)
		noError(t, d.Unlock())
	}
}

// TestMappingsNeedNoFile makes and continues segments: their files are closed,
// a continued one is not read, and a later one is touched in advance.
func TestMappingsNeedNoFile(t *testing.T) {
	d, fsys := reusing(t)
	closed, read, rests := 0, 0, 0
	fsys.Fail(vfstest.Fault{Fits: func(op vfstest.Op, base string) bool {
		if strings.Contains(base, SegmentExt) {
			closed += map[vfstest.Op]int{vfstest.OpClose: 1}[op]
			read += map[vfstest.Op]int{vfstest.OpRead: 1}[op]
		}
		return false
	}})
	first, finish, err := d.CreateFirst(1, segment.MinSize)
	noError(t, err)
	if closed > 0 {
		t.Error("the file of the first segment is closed before it is synced")
	}
	noError(t, finish())
	second, err := d.Create(2, segment.MinSize, func() { rests++ })
	noError(t, err)
	if closed != 2 || rests == 0 {
		t.Errorf("got %d files closed, want 2, and %d rests, want some", closed, rests)
	}
	third, finish, err := d.Reopen(&segment.Old{Identity: first.Identity, Start: segment.Start{First: 1}, End: 1, Used: segment.HeaderSize})
	noError(t, err, finish())
	if closed != 3 || read != 0 {
		t.Errorf("got %d files closed and %d reads, want 3 and none", closed, read)
	}
	for _, g := range []*segment.Segment{first, second, third} {
		g.Done(nil)
	}
}

// TestSparesAreBounded settles more segments than are kept for reuse, and
// counts the files that take space.
func TestSparesAreBounded(t *testing.T) {
	d, _ := reusing(t)
	settled(t, d, 1, 2, 3, 4, 5, 6)
	wantFiles(t, d, "six settled segments", madeName(1), madeName(2), madeName(3), madeName(4))
	if got := d.Spares.Unfreed(); got != mostSpares-1+2 {
		t.Errorf("got %d files besides the next segment, want %d spares and 2 deleted ones",
			got, mostSpares-1)
	}
	d.Sweeper.All()
	if got := d.Spares.Unfreed(); got != mostSpares-1 {
		t.Errorf("got %d files besides the next segment, want %d", got, mostSpares-1)
	}
	if !d.Spares.Drop(true) || d.Spares.Drop(true) {
		t.Error("dropping all spares but one has to drop some, and then none")
	}
	wantFiles(t, d, "all but one dropped", madeName(1))
	if !d.Spares.FreeAll(true) || d.Spares.FreeAll(true) {
		t.Error("the dropped files have to be freed, and then none")
	}
	if !d.Spares.FreeAll(false) || d.Spares.FreeAll(false) || d.Spares.Unfreed() != 0 {
		t.Errorf("the last spare has to be freed, and then none: %d left", d.Spares.Unfreed())
	}
	wantFiles(t, d, "all dropped")
}

// TestSegmentsThatMayBeWrittenToAreNotReused settles segments whose mapping a
// call may still write to, or that were not of this process.
func TestSegmentsThatMayBeWrittenToAreNotReused(t *testing.T) {
	for name, change := range map[string]func(g *segment.Segment){
		"abandoned": func(g *segment.Segment) { g.Abandon() },
		"broken":    func(g *segment.Segment) { g.VoidClaim(segment.HeaderSize, 64, 1) },
	} {
		d, _ := reusing(t)
		g := published(t, d, 1)
		change(g)
		noError(t, d.RemoveSettled(1, g))
		wantFiles(t, d, name)
	}
	d, _ := reusing(t)
	published(t, d, 1).Done(nil)
	noError(t, d.RemoveSettled(1, nil))
	wantFiles(t, d, "of an earlier process")

	d.Spares.Allow(false)
	settled(t, d, 2)
	wantFiles(t, d, "reuse is not allowed")
	d.Spares.Allow(true)
	settled(t, d, 3)
	d.Spares.Allow(true)
	wantFiles(t, d, "reuse is allowed again", madeName(3))
	d.Spares.Allow(false)
	wantFiles(t, d, "reuse has ended")
}

// TestSpareIsUsedOnceAllHaveLeftIt settles a segment that the copier still
// reads: its file is used only after that.
func TestSpareIsUsedOnceAllHaveLeftIt(t *testing.T) {
	d, _ := reusing(t)
	g := published(t, d, 1)
	g.Retain()
	noError(t, d.RemoveSettled(1, g))
	wantFiles(t, d, "settled", madeName(1))
	if d.Spares.Unfreed() != 1 {
		t.Errorf("got %d files besides the next segment, want 1, not ready", d.Spares.Unfreed())
	}
	second, reused := created(t, d, 2, madeName(1))
	if reused {
		t.Error("a mapping that is being read was reused")
	}
	g.Release()
	third, reused := created(t, d, 3, madeName(1))
	if !reused {
		t.Error("the file was not reused")
	}
	third.Retain()
	noError(t, d.RemoveSettled(3, third), d.RemoveSettled(2, second))
	if d.Spares.Drop(true); d.Sweeper.Count() != 1 {
		t.Errorf("got %d files to free, want 1, which was not ready", d.Sweeper.Count())
	}
	wantFiles(t, d, "dropped while it is read", madeName(2))
	d.Spares.FreeAll(false)
	wantFiles(t, d, "all dropped")
	copy(third.Bytes(), "still mapped")
	if third.Release(); d.Sweeper.Count() != 1 {
		t.Errorf("got %d mappings to free, want 1, which was read", d.Sweeper.Count())
	}
}

// TestReuseGoesOn settles and creates more segments than there can be spares:
// each has the file of the one before. The copy of a segment goes with it.
func TestReuseGoesOn(t *testing.T) {
	d, _ := reusing(t)
	g := published(t, d, 1)
	for n := uint64(1); n < 3*mostSpares; n++ {
		noError(t, os.WriteFile(d.Name(CopyName(n)), nil, 0o600), d.RemoveSettled(n, g))
		wantFiles(t, d, "settled", madeName(n))
		var reused bool
		if g, reused = created(t, d, n+1, madeName(n)); !reused || g.Number != n+1 {
			t.Errorf("segment %d has a file of its own", n+1)
		}
		wantFiles(t, d, "created", SegmentName(n+1))
	}
	noError(t, d.Remove(3*mostSpares, g))
}

// directorySyncs counts the calls that sync the directory from now on.
func directorySyncs(d *Dir, fsys *vfstest.Faulty) *int {
	n := new(int)
	fsys.Fail(vfstest.Fault{Fits: func(op vfstest.Op, base string) bool {
		if op == vfstest.OpSyncDir && base == filepath.Base(d.Path) {
			*n++
		}
		return false
	}})
	return n
}

// TestOneDirectorySyncForEachSegment settles two segments ahead of each
// creation: one sync covers the new name and the temporary names.
func TestOneDirectorySyncForEachSegment(t *testing.T) {
	d, fsys := reusing(t)
	settled(t, d, 1, 2)
	syncs := directorySyncs(d, fsys)
	for n := uint64(3); n < 10; n++ {
		g, reused := created(t, d, n, madeName(n-2))
		if want := int(n) - 1; !reused || *syncs != want {
			t.Errorf("segment %d: got a reused file: %v, and %d syncs in all, want %d", n, reused, *syncs, want)
		}
		noError(t, d.RemoveSettled(n, g))
	}

	syncs = directorySyncs(d, fsys)
	fsys.Fail(vfstest.Fault{Op: vfstest.OpRename, Path: SegmentName(20) + MadeSuffix, Times: 1, Reached: func() { settled(t, d, 11) }})
	d.Spares.Drop(false)
	g, err := d.Create(20, segment.MinSize, noRest)
	noError(t, err)
	if _, reused := created(t, d, 21, madeName(11)); !reused || *syncs != 2 {
		t.Errorf("after a new file: got a reused file: %v, and %d syncs, want 2", reused, *syncs)
	}
	noError(t, d.Remove(20, g))
}

// filled returns a settled segment that is not all zeros.
func filled(t *testing.T, d *Dir, number uint64) *segment.Segment {
	t.Helper()
	g := published(t, d, number)
	copy(g.Bytes()[segment.HeaderSize:], "a record")
	noError(t, d.RemoveSettled(number, g))
	return g
}

func isEmpty(g *segment.Segment) bool { return g.IsFree(segment.HeaderSize) && g.IsFree(0) }

// TestSpareIsClearedAhead clears the spare that is used next, and no other,
// once its temporary name is on the disk.
func TestSpareIsClearedAhead(t *testing.T) {
	d, fsys := reusing(t)
	settled(t, d, 1)
	second, third := filled(t, d, 2), filled(t, d, 3)
	rests := 0
	clearSpare := func() { d.Spares.Clear(segment.MinSize, func() { rests++ }) }
	if clearSpare(); rests > 0 || isEmpty(second) || isEmpty(third) {
		t.Error("a spare whose temporary name may not be on the disk was cleared")
	}
	_, reused := created(t, d, 4, madeName(1))
	if clearSpare(); !reused || rests != 1 || !isEmpty(second) || isEmpty(third) {
		t.Errorf("got %d rests, want the second segment to be cleared", rests)
	}
	if clearSpare(); rests != 1 || isEmpty(third) {
		t.Error("another spare was cleared while there was one")
	}
	fsys.Fail(vfstest.Fault{Op: vfstest.OpSyncDir, Skip: 1})
	fifth, err := d.Create(5, segment.MinSize, func() { rests++ })
	noError(t, err)
	if rests != 1 || fifth.Number != 5 || &fifth.Bytes()[0] != &second.Bytes()[0] {
		t.Errorf("got %d rests, and segment %d, want the spare that was cleared", rests, fifth.Number)
	}
}

// TestSpareThatIsNotClearedAhead changes a spare before it is cleared ahead, or
// makes looking at it fail, which is reported.
func TestSpareThatIsNotClearedAhead(t *testing.T) {
	for name, change := range map[string]func(d *Dir, fsys *vfstest.Faulty){
		"with another name": func(d *Dir, _ *vfstest.Faulty) { noError(t, os.Link(d.Name(madeName(2)), d.Path+".other")) },
		"longer":            func(d *Dir, _ *vfstest.Faulty) { noError(t, os.Truncate(d.Name(madeName(2)), segment.MinSize+8)) },
		"cannot be looked at": func(_ *Dir, fsys *vfstest.Faulty) {
			fsys.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: madeName(2), Err: syscall.EIO, Times: 1})
		},
	} {
		d, fsys := reusing(t)
		settled(t, d, 1)
		second := filled(t, d, 2)
		created(t, d, 3, madeName(1))
		change(d, fsys)
		if d.Spares.Clear(segment.MinSize, noRest); isEmpty(second) {
			t.Errorf("%s: it was cleared", name)
		}
		if noted := d.TakeNoted(); len(noted) > 0 != (name == "cannot be looked at") {
			t.Errorf("%s: got reports %v", name, noted)
		}
	}
}

// TestRenamingCounts settles another segment, or ends reuse, while the file of
// one gets its temporary name.
func TestRenamingCounts(t *testing.T) {
	d, fsys := reusing(t)
	settled(t, d, 1, 2, 3)
	fourth, fifth := published(t, d, 4), published(t, d, 5)
	heal := fsys.Fail(vfstest.Fault{Op: vfstest.OpRename, Path: SegmentName(4), Times: 1, Reached: func() { noError(t, d.RemoveSettled(5, fifth)) }})
	noError(t, d.RemoveSettled(4, fourth))
	heal()
	wantFiles(t, d, "two at a time", madeName(1), madeName(2), madeName(3), madeName(4))

	d, fsys = reusing(t)
	fsys.Fail(vfstest.Fault{
		Op: vfstest.OpRename, Path: SegmentName(2), Reached: func() { d.Spares.Allow(false) },
	})
	settled(t, d, 1)
	noError(t, d.RemoveSettled(2, published(t, d, 2)))
	wantFiles(t, d, "reuse has ended")
}

// TestSettledSegmentThatCannotBeRenamed makes renaming fail: the segment is
// deleted, and the error is reported, unless its file is gone.
func TestSettledSegmentThatCannotBeRenamed(t *testing.T) {
	for err, reports := range map[error]int{syscall.EIO: 1, fs.ErrNotExist: 0} {
		d, fsys := reusing(t)
		g := published(t, d, 1)
		fsys.Fail(vfstest.Fault{Op: vfstest.OpRename, Err: err})
		noError(t, d.RemoveSettled(1, g))
		wantFiles(t, d, err.Error())
		if noted := d.TakeNoted(); len(noted) != reports || reports > 0 && !errors.Is(noted[0].Err, err) {
			t.Errorf("%v: got reports %v, want %d", err, noted, reports)
		}
		if d.Spares.Drop(false) {
			t.Errorf("%v: there is a spare", err)
		}
	}
}

// isDue reports whether the sweeper was notified.
func isDue(d *Dir) bool {
	synctest.Wait()
	select {
	case <-d.Sweeper.Due:
		return true
	default:
		return false
	}
}

// TestSparesExpire keeps spares for SpareTime after the last one was added.
func TestSparesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := reusing(t)
		isDue := func() bool { return isDue(d) }
		settled(t, d, 1)
		await.Sleep(SpareTime - 1)
		settled(t, d, 2)
		await.Sleep(SpareTime - 1)
		if isDue() {
			t.Error("spares expire early")
		}
		await.Sleep(time.Nanosecond)
		if !isDue() {
			t.Error("spares do not expire")
		}
		settled(t, d, 3) // before they are dropped
		d.Spares.DropExpired()
		wantFiles(t, d, "one was added", madeName(1), madeName(2), madeName(3))
		await.Sleep(SpareTime)
		if !isDue() {
			t.Error("spares do not expire again")
		}
		d.Spares.DropExpired()
		wantFiles(t, d, "expired")
		d.Sweeper.All()
	})
}

// TestSpareCopiesExpire keeps a copy for SpareTime.
func TestSpareCopiesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := copying(t)
		g := newCopied(t, d, 1)
		g.make(t, d, 0)
		await.Sleep(SpareTime)
		early := isDue(d)
		g.settle(t, d)
		d.Spares.DropExpired()
		await.Sleep(SpareTime - 1)
		if got := namesIn(t, m); !early || isDue(d) || len(got) != 2 {
			t.Errorf("got %q, want a spare that does not expire early", got)
		}
		await.Sleep(time.Nanosecond)
		due := isDue(d)
		d.Spares.DropExpired()
		if got := namesIn(t, m); !due || len(got) != 1 {
			t.Errorf("due: %v, got %q, want only the lock", due, got)
		}
	})
}

// TestSparesExpireOnce drops expired spares, and none that are added after
// that.
func TestSparesExpireOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := reusing(t)
		isDue := func() bool { return isDue(d) }
		settled(t, d, 4)
		await.Sleep(SpareTime)
		isDue()
		d.Spares.DropExpired()
		settled(t, d, 5)
		d.Spares.DropExpired()
		wantFiles(t, d, "expired once", madeName(5))
		d.Spares.Drop(false)

		await.Sleep(SpareTime)
		if !isDue() {
			t.Error("spares do not expire once there are none")
		}
		d.Spares.DropExpired()
		g := published(t, d, 6)
		g.Retain()
		noError(t, d.RemoveSettled(6, g))
		d.Spares.DropExpired()
		wantFiles(t, d, "not ready yet", madeName(6))
		g.Release()
		d.Spares.Allow(false)
		d.Sweeper.All()
		isDue()
		await.Sleep(SpareTime)
		if isDue() {
			t.Error("spares expire after reuse has ended")
		}
	})
}

// TestSpareThatCannotBeUsed changes a spare, or makes a step of using it fail:
// the segment gets a file of its own, the spare is deleted, and the failure is
// reported.
func TestSpareThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  vfstest.Fault
		change func(d *Dir)
		report string
	}{
		{"gone", vfstest.Fault{}, func(d *Dir) { noError(t, os.Remove(d.Name(madeName(1)))) }, "no such file"},
		{"longer", vfstest.Fault{}, func(d *Dir) { noError(t, os.Truncate(d.Name(madeName(1)), segment.MinSize+8)) }, ""},
		{"of another size", vfstest.Fault{}, func(d *Dir) {
			noError(t, os.Truncate(d.Name(madeName(1)), 2*segment.MinSize))
		}, ""},
		{"with another name", vfstest.Fault{}, func(d *Dir) { noError(t, os.Link(d.Name(madeName(1)), d.Path+".other")) }, ""},
		{"temporary name not synced", vfstest.Fault{Op: vfstest.OpSyncDir, Times: 1, Err: syscall.EIO}, nil, "input/output"},
		{"not renamed", vfstest.Fault{Op: vfstest.OpRename, Path: madeName(1), Times: 1, Err: syscall.EIO}, nil, "input/output"},
		{"new name not synced", vfstest.Fault{Op: vfstest.OpSyncDir, Skip: 1, Times: 1, Err: syscall.EIO}, nil, "input/output"},
	} {
		d, fsys := reusing(t)
		settled(t, d, 1)
		if c.change != nil {
			c.change(d)
		}
		if c.fault.Op != "" {
			fsys.Fail(c.fault)
		}
		g, err := d.Create(2, segment.MinSize, noRest)
		noError(t, err)
		wantFiles(t, d, c.name, SegmentName(2))
		if info, err := vfs.OS().Lstat(d.Name(SegmentName(2))); err != nil || info.Size != segment.MinSize || info.Links != 1 {
			t.Errorf("%s: got %+v, %v", c.name, info, err)
		}
		if noted := fmt.Sprint(d.TakeNoted()); (noted != "[]") != (c.report != "") || !strings.Contains(noted, c.report) {
			t.Errorf("%s: got reports %s, want %q", c.name, noted, c.report)
		}
		noError(t, d.Remove(2, g))
	}
}

// TestSpareOfAnotherSize asks for a larger segment, also after the file of the
// spare has grown.
func TestSpareOfAnotherSize(t *testing.T) {
	const larger = 2 * segment.MinSize
	for _, grown := range []bool{false, true} {
		d, _ := reusing(t)
		if settled(t, d, 1); grown {
			noError(t, os.Truncate(d.Name(madeName(1)), larger))
		}
		g, err := d.Create(2, larger, noRest)
		noError(t, err)
		if info, err := vfs.OS().Lstat(d.Name(SegmentName(2))); err != nil || info.Size != larger || len(g.Bytes()) != larger {
			t.Errorf("grown=%v: got a file of %d bytes and %v, want %d", grown, info.Size, err, larger)
		}
		wantFiles(t, d, "another size", SegmentName(2))
		noError(t, d.Remove(2, g))
	}
}

// A volumeWith is a file system with some free space.
type volumeWith struct {
	vfs.FS
	free int64
	err  error
}

type fileWith struct {
	vfs.File
	of volumeWith
}

func (v volumeWith) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := v.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return fileWith{f, v}, nil
}

func (f fileWith) Free() (int64, error) { return f.of.free, f.of.err }

// TestSpareIsGivenUpForItsSpace has a volume with just as much free space as is
// to be kept free, and one with a byte less.
func TestSpareIsGivenUpForItsSpace(t *testing.T) {
	const minFree = 1000
	for _, c := range []struct {
		free   int64
		err    error
		reused bool
	}{
		{minFree, nil, true}, {minFree - 1, nil, false}, {0, syscall.EIO, true},
	} {
		v := volumeWith{vfs.OS(), c.free, c.err}
		d, _, err := OpenDir(filepath.Join(t.TempDir(), "spool"), &Options{FS: v, Boot: 1, MinFree: minFree})
		noError(t, err)
		d.Spares.Allow(true)
		f, err := vfs.OS().Open(d.Name(madeName(1)), os.O_RDWR|os.O_CREATE, 0o600)
		noError(t, err, f.Preallocate(segment.MinSize))
		id := segment.Identity{Number: 1, Size: segment.MinSize}
		g, err := segment.NewMapped(f, id, d.Sweeper.freeMapped)
		noError(t, err, f.Close(), vfs.OS().Rename(d.Name(madeName(1)), d.Name(SegmentName(1))), d.RemoveSettled(1, g))
		open, err := vfs.OS().Open(d.Name(madeName(1)), os.O_RDONLY, 0) // no other file may get its inode
		noError(t, err)
		before, err := open.Stat()
		noError(t, err)
		g, err = d.Create(2, segment.MinSize, noRest)
		after, _ := vfs.OS().Lstat(d.Name(SegmentName(2)))
		if (after.ID == before.ID) != c.reused || !c.reused && !vfs.IsFull(err) {
			t.Errorf("%d bytes free, %v: got %v, want the spare reused: %v", c.free, c.err, err, c.reused)
		}
		if err == nil {
			noError(t, d.Remove(2, g))
		}
		noError(t, open.Close())
		wantFiles(t, d, "in the end")
		d.Spares.Allow(false)
		noError(t, d.Unlock())
	}
}

// TestFreeAllCountsSpares frees spares at once, because no goroutine frees them
// in parts.
func TestFreeAllCountsSpares(t *testing.T) {
	d, _ := reusing(t)
	d.Sweeper.Stop()
	settled(t, d, 1)
	if !d.Spares.FreeAll(false) || d.Spares.FreeAll(false) {
		t.Error("a spare has to be freed, and then none")
	}
}

// TestSpareThatCannotBeDeleted reports the error.
func TestSpareThatCannotBeDeleted(t *testing.T) {
	d, fsys := reusing(t)
	settled(t, d, 1)
	fsys.Fail(vfstest.Fault{Op: vfstest.OpRemove, Err: syscall.EACCES})
	d.Spares.Drop(false)
	if noted := d.TakeNoted(); len(noted) != 1 || noted[0].Op != "delete a segment" || !errors.Is(noted[0].Err, syscall.EACCES) {
		t.Errorf("got reports %v, want one", noted)
	}
}

// TestCopyOfASegmentWithoutItsHeader has a segment whose header cannot be read:
// the copier gets an error, and the process does not fault.
func TestCopyOfASegmentWithoutItsHeader(t *testing.T) {
	d, _ := reusing(t)
	g := published(t, d, 1)
	noError(t, os.Truncate(d.Name(SegmentName(1)), 0))
	_, err := d.Copies.Make(g, segment.HeaderSize, segment.HeaderSize)
	if !errors.Is(err, syscall.EFAULT) {
		t.Errorf("got %v, want %v", err, syscall.EFAULT)
	}
	wantFiles(t, d, "no copy", SegmentName(1))
	g.Done(nil)
}
