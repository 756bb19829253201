// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestHeld removes and replaces the lock file, and makes it unreadable.
func TestHeld(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	noError(t, d.Held())
	for _, op := range []vfstest.Op{vfstest.OpStat, vfstest.OpLstat} {
		heal := m.Fail(vfstest.Fault{Op: op, Path: "lock", Err: syscall.EACCES})
		if err := d.Held(); !errors.Is(err, syscall.EACCES) || errors.Is(err, ErrReplaced) {
			t.Errorf("%s fails: got %v, want %v", op, err, syscall.EACCES)
		}
		heal()
	}
	noError(t, m.Remove(d.Name("lock")))
	touch(t, m, "lock")
	if err := d.Held(); err != ErrReplaced {
		t.Errorf("with another lock file: got %v, want %v", err, ErrReplaced)
	}
}

// TestLockFileIsMadeAgain removes the lock file again and again, and opens the
// directory in another process before and after this one looks: one of them has
// the directory, never both.
func TestLockFileIsMadeAgain(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	for range 3 {
		noError(t, m.Remove(d.Name("lock")), d.Held())
		_, _, err := OpenDir(memPath, &Options{FS: m, Boot: 1, Shared: true})
		if !errors.Is(err, ErrInUse) {
			t.Errorf("the lock file is there again: got %v, want %v", err, ErrInUse)
		}
	}
	noError(t, d.Touch())
	if pid := ownerIn(t, m); pid != os.Getpid() {
		t.Errorf("the lock file names process %d, want this one", pid)
	}
	for _, op := range []vfstest.Op{vfstest.OpCreate, vfstest.OpLock} {
		noError(t, m.Remove(d.Name("lock")))
		heal := m.Fail(vfstest.Fault{Op: op, Path: "lock", Err: syscall.EMFILE, Times: 1})
		if err := d.Held(); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s fails: got %v", op, err)
		}
		heal()
		if op == vfstest.OpLock {
			noError(t, m.Remove(d.Name("lock"))) // it was made, and is not locked
		}
		noError(t, d.Held())
	}

	noError(t, m.Remove(d.Name("lock")))
	other, _ := opened(t, m, 1)
	for range 2 {
		if err := d.Held(); err != ErrReplaced {
			t.Errorf("another process was faster: got %v, want %v", err, ErrReplaced)
		}
		noError(t, other.Held())
	}
	noError(t, other.Unlock(), d.Unlock())
	if n := m.Opened(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestOneOfTwoMakesTheLockFile lets another process open the directory at each
// step of making the lock file again.
func TestOneOfTwoMakesTheLockFile(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpLstat, vfstest.OpCreate, vfstest.OpLock} {
		for skip := range 2 {
			m := vfstest.NewMem(nil)
			d, _ := opened(t, m, 1)
			noError(t, m.Remove(d.Name("lock")))
			var other *Dir
			var once bool
			heal := m.Fail(vfstest.Fault{Op: op, Path: "*", Skip: skip, Reached: func() {
				if !once {
					once = true
					other, _, _ = OpenDir(memPath, &Options{FS: m, Boot: 1, Shared: true})
				}
			}})
			err := d.Held()
			heal()
			if (err == nil) == (other != nil) || err != nil && err != ErrReplaced {
				t.Errorf("%s %d: got %v; the other process has it: %v", op, skip, err, other != nil)
			}
			if other != nil {
				noError(t, other.Held(), other.Unlock())
			}
			noError(t, d.Unlock())
		}
	}
}

// TestLockFileOfAnotherDirectory replaces the directory: its lock file is not
// this process's to make.
func TestLockFileOfAnotherDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	d, _, err := OpenDir(dir, &Options{FS: vfs.OS(), Boot: 1})
	noError(t, err)
	noError(t, os.Rename(dir, dir+".old"))
	if err := d.Held(); err != ErrReplaced {
		t.Errorf("without the directory: got %v, want %v", err, ErrReplaced)
	}
	noError(t, os.Mkdir(dir, 0o700))
	if err := d.Held(); err != ErrReplaced {
		t.Errorf("in another directory: got %v, want %v", err, ErrReplaced)
	}
	noError(t, d.Unlock())
}

// ownerIn returns the process that the lock file names.
func ownerIn(t *testing.T, m *vfstest.Mem) int {
	t.Helper()
	f, err := m.Open(filepath.Join(memPath, "lock"), os.O_RDONLY, 0)
	noError(t, err)
	b := make([]byte, 100)
	n, _ := f.ReadAt(b, 0) // the file is shorter
	pid, _, _ := parseOwner(string(b[:n]))
	noError(t, f.Close())
	return pid
}

// TestReplacedDirectoryIsLeftAlone makes segments and copies, and removes some,
// in a directory that another process has by then.
func TestReplacedDirectoryIsLeftAlone(t *testing.T) {
	for name, lock := range map[string]func(m *vfstest.Mem, d *Dir) error{
		"replaced": func(m *vfstest.Mem, d *Dir) error {
			err := m.Remove(d.Name("lock"))
			touch(t, m, "lock")
			return err
		},
		"unknown": func(m *vfstest.Mem, d *Dir) error {
			m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "lock", Err: syscall.EACCES})
			return nil
		},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		put(t, d, 1, 1, 1)
		noError(t, d.Unlock())
		d, old := opened(t, m, 1)
		g := reopened(t, d, &old[0])
		touch(t, m, CopyName(1), SegmentName(2)+MadeSuffix, CopyName(2)+MadeSuffix)
		noError(t, lock(m, d))
		before := namesIn(t, m)
		want := map[bool]error{true: ErrReplaced, false: syscall.EACCES}[name == "replaced"]
		check := func(call string, err, want error) {
			t.Helper()
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s, %s: got %v, want %v", name, call, err, want)
			}
		}
		_, _, err := d.Make(2, 64<<10, 0)
		check("Make", err, want)
		_, err = d.Copies.Make(g, 4096, 4096)
		check("MakeCopy", err, want)
		_, _, err = d.Reopen(&old[0])
		check("Reopen", err, want)
		if want == ErrReplaced {
			want = nil // there is nothing to remove
		}
		check("Remove", d.Remove(1, g), want)
		check("RemoveCopy", d.Copies.RemoveOwned(1), want)
		if got := namesIn(t, m); !slices.Equal(got, before) {
			t.Errorf("%s: got %q, want %q", name, got, before)
		}
		noError(t, d.Unlock())
		if n := m.Opened(); n != 0 {
			t.Errorf("%s: %d files are open", name, n)
		}
	}
}

// TestRemovedFilesAreFreedInParts checks that the files of removed segments and
// copies go to the sweeper, and that files that stay are closed.
func TestRemovedFilesAreFreedInParts(t *testing.T) {
	needsOpenFilesDeleted(t)
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	d.Sweeper.Start()
	put(t, d, 1, 1, 1)
	touch(t, m, CopyName(1))
	open := m.Opened()
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Err: syscall.EACCES})
	if err := d.Remove(1, nil); !errors.Is(err, syscall.EACCES) || len(namesIn(t, m)) != 3 {
		t.Errorf("Remove: got %v and %q, want %v, and the copy stays", err, namesIn(t, m), syscall.EACCES)
	}
	if err := d.Copies.RemoveOwned(1); !errors.Is(err, syscall.EACCES) {
		t.Errorf("RemoveCopy: got %v, want %v", err, syscall.EACCES)
	}
	d.Sweeper.All()
	if m.Opened() != open {
		t.Errorf("got %d open files, want %d", m.Opened(), open)
	}
	heal()
	noError(t, d.Remove(1, nil))
	if n := d.Sweeper.Count(); n != 2 || m.Opened() != open+2 || !slices.Equal(namesIn(t, m), []string{"lock"}) {
		t.Errorf("got %d files to free and %q, want 2 without a name", n, namesIn(t, m))
	}
	d.Sweeper.Stop()
	noError(t, d.Remove(1, nil), d.Copies.RemoveOwned(1), d.Unlock()) // they are gone
	if n := m.Opened(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestCopyOfTheCopier has copies that the copier owns: it is notified, and
// removes them itself.
func TestCopyOfTheCopier(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	notified := 0
	d.Copies.OnRemoved(func() { notified++ })
	touch(t, m, CopyName(1), CopyName(2))
	d.Copies.Own(1)
	noError(t, d.Copies.Remove(1), d.Copies.Remove(2))
	got, copies := namesIn(t, m), &d.Copies
	if notified != 1 || !copies.IsRemoved(1) || copies.IsRemoved(2) ||
		!slices.Equal(got, []string{CopyName(1), "lock"}) {
		t.Errorf("got %q after %d notifications, want copy 1 after one", got, notified)
	}
	noError(t, d.Copies.RemoveOwned(1))
	if d.Copies.IsRemoved(1) {
		t.Error("a copy that is gone still has an owner")
	}
	noError(t, d.Copies.Remove(1))
	if got := namesIn(t, m); notified != 1 || len(got) != 1 {
		t.Errorf("got %q after %d notifications, want no copy after one", got, notified)
	}
}

// TestMakeCopy makes a copy in place of a damaged one and of the rest of an
// attempt, and fails at each call: then nothing is left, and the old copy
// stays.
func TestMakeCopy(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 3)
	noError(t, d.Unlock())
	d, old := opened(t, m, 1)
	g := reopened(t, d, &old[0])
	end, _, _ := g.Claimed()
	touch(t, m, CopyName(1), CopyName(1)+MadeSuffix)
	before, open := namesIn(t, m), m.Opened()
	for _, op := range []vfstest.Op{
		vfstest.OpCreate, vfstest.OpPreallocate, vfstest.OpWrite, vfstest.OpSync, vfstest.OpRename,
	} {
		heal := m.Fail(vfstest.Fault{Op: op, Path: CopyName(1) + "*", Err: syscall.EIO})
		f, err := d.Copies.Make(g, 4096, end)
		if f != nil || !errors.Is(err, syscall.EIO) || m.Opened() != open {
			t.Errorf("%s fails: got %v and %d open files, want %v and %d", op, err, m.Opened(), syscall.EIO, open)
		}
		heal()
		if b, err := d.Bytes(CopyName(1), 64<<10); err != nil || string(b[:min(len(b), 4)]) != "" && string(b[:4]) != "text" {
			t.Errorf("%s fails: the old copy is %d bytes, %v", op, len(b), err)
		}
	}
	if got := namesIn(t, m); !slices.Equal(got, slices.DeleteFunc(before, func(n string) bool { return filepath.Ext(n) == MadeSuffix })) {
		t.Errorf("got %q, want no rest of an attempt", got)
	}
	touch(t, m, CopyName(1)+MadeSuffix)
	f, err := d.Copies.Make(g, 4096, end)
	noError(t, err, f.Close())
	if b, err := d.Bytes(CopyName(1), g.Size); err != nil || int64(len(b)) != g.Size || !old[0].HasAll(b) {
		t.Errorf("got %d bytes and %v, want a copy of %d", len(b), err, g.Size)
	}
	g.Done(nil)
	noError(t, d.Unlock())
	if n := m.Opened(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestFindFollowsNoLinks has a link to a spool, and a directory with the name
// of a lock file.
func TestFindFollowsNoLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	noError(t, os.WriteFile(filepath.Join(elsewhere, "lock"), nil, 0o600), os.MkdirAll(filepath.Join(dir, "a", "lock"), 0o700))
	for _, name := range []string{SlotName(1), "b"} {
		if err := os.Symlink(elsewhere, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if got, err := Find(dir, 2); err != nil || len(got) != 0 {
		t.Errorf("got %q and %v, want none", got, err)
	}
	if got, err := Find(elsewhere, 0); err != nil || !slices.Equal(got, []string{elsewhere}) {
		t.Errorf("got %q and %v, want the spool", got, err)
	}
}
