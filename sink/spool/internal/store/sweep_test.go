// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// needsOpenFilesDeleted skips the test on systems that do not delete open
// files, such as Windows: there files are never freed in parts or truncated
// while they are read.
func needsOpenFilesDeleted(t *testing.T) {
	t.Helper()
	if !vfs.CanRenameOpen {
		t.Skip("no file that is open can be deleted on this system, so a sweeper gets none")
	}
}

// spentFile makes a file of size bytes, opens it, and removes its name.
func spentFile(t *testing.T, size int64) vfs.File {
	t.Helper()
	needsOpenFilesDeleted(t)
	name := filepath.Join(t.TempDir(), "spent")
	f, err := vfs.OS().Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err, f.Preallocate(size), vfs.OS().Remove(name))
	return f
}

// TestSpentFilesGoInParts checks the size of a deleted file after each part,
// through a second descriptor.
func TestSpentFilesGoInParts(t *testing.T) {
	needsOpenFilesDeleted(t)
	const size = 5*DeletedPart + 4096
	name := filepath.Join(t.TempDir(), "spent")
	f, err := vfs.OS().Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err, f.Preallocate(size))
	seen, err := vfs.OS().Open(name, os.O_RDONLY, 0)
	noError(t, err, vfs.OS().Remove(name))
	defer seen.Close()
	w := newSweeper()
	w.Start()
	w.Add(&Spent{file: f})
	parts := 0
	for last := int64(size); w.Part() > 0; parts++ {
		info, err := seen.Stat()
		noError(t, err)
		if last-info.Size > DeletedPart {
			t.Errorf("part %d: %d bytes at once", parts, last-info.Size)
		}
		last = info.Size
	}
	if info, err := seen.Stat(); err != nil || parts != 6 || info.Size > DeletedPart {
		t.Errorf("%d parts, %d bytes left, %v", parts, info.Size, err)
	}
	if _, err := f.Stat(); err == nil {
		t.Error("the file is still open")
	}
}

// TestSpentFilesWithAnotherNameStay deletes a segment that has a second hard
// link.
func TestSpentFilesWithAnotherNameStay(t *testing.T) {
	needsOpenFilesDeleted(t)
	dir := t.TempDir()
	name, kept := filepath.Join(dir, "spent"), filepath.Join(dir, "kept")
	f, err := vfs.OS().Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err, f.Preallocate(3*DeletedPart), vfs.OS().Link(name, kept), vfs.OS().Remove(name))
	again, err := vfs.OS().Open(kept, os.O_RDWR, 0)
	noError(t, err)
	w := newSweeper()
	w.Add(&Spent{file: f})
	w.Start()
	w.Add(&Spent{file: again})
	w.All()
	if info, err := os.Stat(kept); err != nil || info.Size() != 3*DeletedPart {
		t.Errorf("got %v, %v; want all of it", info, err)
	}
}

// TestSweeperGivesBackAtOnce adds files before the sweeper is started and after
// it is stopped.
func TestSweeperGivesBackAtOnce(t *testing.T) {
	isOpen := func(f vfs.File) bool { _, err := f.Stat(); return err == nil }
	w := newSweeper()
	before, during, after := spentFile(t, 2*DeletedPart), spentFile(t, 2*DeletedPart), spentFile(t, 2*DeletedPart)
	w.Add(&Spent{file: before})
	w.Start()
	w.Add(&Spent{file: during})
	select {
	case <-w.Due:
	default:
		t.Error("the sweeper was not notified")
	}
	if isOpen(before) || !isOpen(during) || w.Count() != 1 {
		t.Errorf("open before it runs: %v; while it runs: %v, %d", isOpen(before), isOpen(during), w.Count())
	}
	w.Stop()
	w.Add(&Spent{file: after})
	if isOpen(during) || isOpen(after) || w.Count() != 0 {
		t.Errorf("open at the end: %v; afterwards: %v, %d", isOpen(during), isOpen(after), w.Count())
	}
}

// TestSweeperHasABound adds more files than the sweeper keeps: the rest are
// closed at once.
func TestSweeperHasABound(t *testing.T) {
	w := newSweeper()
	w.Start()
	for range MostSpent + 3 {
		w.Add(&Spent{file: spentFile(t, 2*DeletedPart)})
	}
	last := spentFile(t, 2*DeletedPart)
	w.Add(&Spent{file: last})
	if _, err := last.Stat(); err == nil || w.Count() != MostSpent {
		t.Errorf("%d files wait, the last one is closed: %v; want %d", w.Count(), err != nil, MostSpent)
	}
	if !w.All() || w.Count() != 0 || w.All() {
		t.Errorf("%d files are left", w.Count())
	}
}

// TestNothingToFreeTakesNoPlace adds copies that did not exist: they must not
// take the places of files in the list.
func TestNothingToFreeTakesNoPlace(t *testing.T) {
	w := newSweeper()
	w.Start()
	for range MostSpent {
		w.Add(&Spent{})
	}
	if n := w.Count(); n != 0 {
		t.Errorf("%d places are taken, want none", n)
	}
	unmapped := 0
	w.Add(&Spent{Unmap: func() { unmapped++ }})
	if w.Count() != 1 || w.Part() != 0 || unmapped != 1 {
		t.Errorf("unmapped %d times with %d left, want once", unmapped, w.Count())
	}
	if newSweeper().Add(&Spent{Unmap: func() { unmapped++ }}); unmapped != 2 {
		t.Errorf("unmapped %d times without waiting, want once", unmapped-1)
	}
}

// deletedInRead is a file system whose files are deleted and truncated while
// they are read.
type deletedInRead struct{ vfs.FS }

type deletedFile struct {
	vfs.File
	fs   vfs.FS
	name string
}

func (d deletedInRead) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.Open(name, os.O_RDWR, perm)
	return deletedFile{f, d.FS, name}, err
}

func (f deletedFile) ReadAt(p []byte, at int64) (int, error) {
	if err := errors.Join(f.fs.Remove(f.name), f.Truncate(segment.HeaderSize)); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

// TestReadWhileGivenBack reads a file that is being deleted: it must count as
// missing, not as damaged.
func TestReadWhileGivenBack(t *testing.T) {
	needsOpenFilesDeleted(t)
	path := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(path, "segment"), make([]byte, segment.MinSize), 0o600))
	d := &Dir{FS: deletedInRead{vfs.OS()}, Path: path}
	if _, err := d.Bytes("segment", segment.MinSize); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that it is not there", err)
	}
}
