// SPDX-License-Identifier: Apache-2.0

package vfstest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
)

// everywhere runs a test on both file systems, in an empty directory.
func everywhere(t *testing.T, test func(t *testing.T, fsys vfs.FS, dir string)) {
	t.Run("OS", func(t *testing.T) { test(t, vfs.OS(), t.TempDir()) })
	t.Run("Mem", func(t *testing.T) {
		m := NewMem(nil)
		dir := filepath.Join(string(filepath.Separator), "dir")
		must(t, m.MkdirAll(dir, 0o700))
		test(t, m, dir)
	})
}

const appending = os.O_RDWR | os.O_APPEND | os.O_CREATE

// open opens a file or ends the test, and closes it with the test.
func open(t *testing.T, fsys vfs.FS, name string, flag int) vfs.File {
	t.Helper()
	f, err := fsys.Open(name, flag, 0o600)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// must ends the test if one of the errors is not nil.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// write writes text or ends the test.
func write(t *testing.T, f vfs.File, text string) {
	t.Helper()
	if n, err := f.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("Write(%q): got %d, %v", text, n, err)
	}
}

// content returns the content of the file called name, or the error of Open.
func content(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return "error: " + errno(err).Error()
	}
	defer f.Close()
	return contentOf(t, f)
}

func contentOf(t *testing.T, f vfs.File) string {
	t.Helper()
	info, err := f.Stat()
	must(t, err)
	text := make([]byte, info.Size)
	n, err := f.ReadAt(text, 0)
	if n != len(text) {
		t.Fatalf("ReadAt: got %d of %d bytes, %v", n, len(text), err)
	}
	return string(text)
}

// errno returns the innermost error.
func errno(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func wantText(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

func TestAppend(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		a, b := open(t, fsys, name, appending), open(t, fsys, name, appending)
		write(t, a, "one")
		write(t, b, "two")
		write(t, a, "three")
		wantText(t, "content", content(t, fsys, name), "onetwothree")
		must(t, b.Truncate(3))
		write(t, a, "four")
		wantText(t, "after Truncate, without a hole", content(t, fsys, name), "onefour")
		if _, err := a.WriteAt([]byte("x"), 0); err == nil {
			t.Error("WriteAt with O_APPEND: got no error")
		}
	})
}

func TestWriteAtAndReadAt(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		f := open(t, fsys, filepath.Join(dir, "a"), os.O_RDWR|os.O_CREATE)
		_, err := f.WriteAt([]byte("end"), 4)
		must(t, err)
		write(t, f, "st") // at the beginning: WriteAt does not move it
		write(t, f, "art")
		wantText(t, "content", contentOf(t, f), "startnd")
		must(t, f.Truncate(9))
		wantText(t, "made longer", contentOf(t, f), "startnd\x00\x00")
		must(t, f.Preallocate(12))
		wantText(t, "preallocated", contentOf(t, f), "startnd\x00\x00\x00\x00\x00")
		must(t, f.Preallocate(1))
		must(t, f.Sync(), f.SyncData())
		wantText(t, "preallocated less", contentOf(t, f), "startnd\x00\x00\x00\x00\x00")
		if n, err := f.ReadAt(make([]byte, 5), 10); n != 2 || err == nil {
			t.Errorf("ReadAt beyond the end: got %d, %v, want 2 and an error", n, err)
		}
	})
}

func TestOpenErrors(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		_, err := fsys.Open(name, os.O_RDWR, 0)
		wantError(t, "missing", err, fs.ErrNotExist)
		open(t, fsys, name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		_, err = fsys.Open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		wantError(t, "O_EXCL", err, fs.ErrExist)
		_, err = fsys.Open(filepath.Join(dir, "b", "c"), appending, 0o600)
		wantError(t, "directory missing", err, fs.ErrNotExist)
		if _, err = fsys.Open(dir, os.O_RDWR, 0); err == nil {
			t.Error("a directory for writing: got no error")
		}
		_, err = fsys.Lstat(filepath.Join(dir, "b"))
		wantError(t, "Lstat", err, fs.ErrNotExist)
		_, err = fsys.ReadDir(filepath.Join(dir, "b"))
		wantError(t, "ReadDir", err, fs.ErrNotExist)
		wantError(t, "Remove", fsys.Remove(filepath.Join(dir, "b")), fs.ErrNotExist)
		wantError(t, "Rename", fsys.Rename(filepath.Join(dir, "b"), name), fs.ErrNotExist)
		wantError(t, "Link", fsys.Link(name, name), fs.ErrExist)
	})
}

func TestIdentity(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		f := open(t, fsys, a, appending)
		write(t, f, "text")
		info, err := f.Stat()
		must(t, err)
		if info.Size != 4 || info.Links != 1 || !info.Mode.IsRegular() || info.ModTime.IsZero() {
			t.Errorf("got %+v, want a regular file of 4 bytes with 1 link and a time", info)
		}
		wantID := func(name string, links uint64) {
			t.Helper()
			got, err := fsys.Lstat(name)
			if err != nil || got.ID != info.ID || got.Links != links {
				t.Errorf("%s: got %+v, %v, want %+v with %d links", name, got, err, info.ID, links)
			}
		}
		wantID(a, 1)
		must(t, fsys.Link(a, b))
		wantID(b, 2)
		wantError(t, "Link to a name that is taken", fsys.Link(a, b), fs.ErrExist)
		must(t, fsys.Remove(a))
		wantID(b, 1)
		if !vfs.CanRenameOpen {
			return
		}
		must(t, fsys.Rename(b, c))
		wantID(c, 1)
		must(t, fsys.Remove(c))
		write(t, f, "more")
		if got, err := f.Stat(); err != nil || got.Links != 0 || got.ID != info.ID {
			t.Errorf("without a name: got %+v, %v, want no links and the same identity", got, err)
		}
		wantText(t, "content without a name", contentOf(t, f), "textmore")
		other := open(t, fsys, a, appending)
		if got, _ := other.Stat(); got.ID == info.ID {
			t.Errorf("a new file has the identity %+v of an open file", got.ID)
		}
	})
}

func TestRenameReplaces(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		for _, name := range []string{a, b} {
			f := open(t, fsys, name, appending)
			write(t, f, name)
			must(t, f.Close())
		}
		must(t, fsys.Rename(a, b), fsys.SyncDir(dir))
		wantText(t, "new name", content(t, fsys, b), a)
		names, err := fsys.ReadDir(dir)
		if err != nil || !slices.Equal(names, []string{"b"}) {
			t.Errorf("ReadDir: got %q, %v, want only b", names, err)
		}
	})
}

func TestRenameNoReplace(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		for _, name := range []string{a, b} {
			f := open(t, fsys, name, appending)
			write(t, f, name)
			must(t, f.Close())
		}
		err := fsys.RenameNoReplace(a, b)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("this file system cannot do that: ", err)
		}
		wantError(t, "a name that is taken", err, fs.ErrExist)
		wantError(t, "the same name", fsys.RenameNoReplace(a, a), fs.ErrExist)
		wantError(t, "no file", fsys.RenameNoReplace(c, c), fs.ErrNotExist)
		must(t, fsys.RenameNoReplace(a, c), fsys.SyncDir(dir))
		wantText(t, "a name that was free", content(t, fsys, c), a)
		wantText(t, "the name that was taken", content(t, fsys, b), b)
		_, err = fsys.Lstat(a)
		wantError(t, "the old name", err, fs.ErrNotExist)
	})
}

func TestDirectories(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		deep := filepath.Join(dir, "x", "y")
		must(t, fsys.MkdirAll(deep, 0o700), fsys.MkdirAll(deep, 0o700))
		if info, err := fsys.Lstat(deep); err != nil || !info.Mode.IsDir() {
			t.Errorf("got %+v, %v, want a directory", info, err)
		}
		open(t, fsys, filepath.Join(deep, "f"), appending).Close()
		if err := fsys.Remove(deep); err == nil {
			t.Error("Remove of a directory that is not empty: got no error")
		}
		must(t, fsys.Remove(filepath.Join(deep, "f")), fsys.Remove(deep))
		names, err := fsys.ReadDir(dir)
		if err != nil || !slices.Equal(names, []string{"x"}) {
			t.Errorf("ReadDir: got %q, %v, want only x", names, err)
		}
	})
}

func TestLocks(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		name := filepath.Join(dir, "a")
		a, b, c := open(t, fsys, name, appending), open(t, fsys, name, appending), open(t, fsys, name, os.O_RDONLY)
		if err := a.Lock(vfs.Shared); errors.Is(err, errors.ErrUnsupported) {
			t.Skipf("no locks here: %v", err)
		}
		must(t, b.Lock(vfs.Shared))
		wantError(t, "alone beside two", c.Lock(vfs.Exclusive), vfs.ErrLocked)
		must(t, a.Unlock())
		wantError(t, "alone beside one", c.Lock(vfs.Exclusive), vfs.ErrLocked)
		must(t, b.Close(), c.Lock(vfs.Exclusive))
		wantError(t, "shared beside one alone", a.Lock(vfs.Shared), vfs.ErrLocked)
		must(t, c.Close(), a.Lock(vfs.Shared), a.Lock(vfs.Exclusive))

	})
}

func TestClosed(t *testing.T) {
	everywhere(t, func(t *testing.T, fsys vfs.FS, dir string) {
		f := open(t, fsys, filepath.Join(dir, "a"), os.O_RDWR|os.O_CREATE)
		must(t, f.Close())
		wantError(t, "Close again", f.Close(), fs.ErrClosed)
		wantError(t, "Sync", f.Sync(), fs.ErrClosed)
		wantError(t, "Truncate", f.Truncate(1), fs.ErrClosed)
		_, err := f.ReadAt(make([]byte, 1), 0)
		wantError(t, "ReadAt", err, fs.ErrClosed)
	})
}
