// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/alloctest"
)

const appending = os.O_RDWR | os.O_APPEND | os.O_CREATE

// open opens a file or ends the test, and closes it with the test.
func open(t *testing.T, name string) File {
	t.Helper()
	f, err := OS().Open(name, appending, 0o600)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestOpenFollowsNothing would hang, or write to the target, if Open did.
func TestOpenFollowsNothing(t *testing.T) {
	dir := t.TempDir()
	target, link, dangling, fifo := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling"), filepath.Join(dir, "fifo")
	must(t, os.WriteFile(target, nil, 0o600), os.Symlink(target, link), os.Symlink(filepath.Join(dir, "none"), dangling), syscall.Mkfifo(fifo, 0o600))
	for _, name := range []string{link, dangling} {
		for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_APPEND, appending} {
			if f, err := OS().Open(name, flag, 0o600); err == nil {
				f.Close()
				t.Errorf("%s with flags %#x: got no error", filepath.Base(name), flag)
			}
		}
		info, err := OS().Lstat(name)
		if err != nil || info.Mode.Type() != fs.ModeSymlink {
			t.Errorf("%s: got %+v, %v, want a link", filepath.Base(name), info, err)
		}
	}
	if f, err := OS().Open(fifo, os.O_WRONLY, 0); err == nil {
		f.Close()
		t.Error("FIFO without a reader: got no error")
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target of a link was made: %v", err)
	}
	// A link to a directory on the way is followed.
	sub := filepath.Join(dir, "sub")
	must(t, os.Symlink(dir, sub), OS().SyncDir(sub))
	open(t, filepath.Join(sub, "file"))
}

func TestLstatAgreesWithStat(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fifo := filepath.Join(dir, "fifo")
	long := strings.Repeat("d", 200)
	must(t, syscall.Mkfifo(fifo, 0o600), os.MkdirAll(filepath.Join(long, long), 0o700))
	for _, name := range []string{dir, fifo, "fifo", ".", os.DevNull, long, filepath.Join(long, long), filepath.Join(dir, long, long)} {
		want, err := os.Lstat(name)
		must(t, err)
		got, err := OS().Lstat(name)
		must(t, err)
		st := want.Sys().(*syscall.Stat_t)
		if got.Mode != want.Mode() && got.Mode != want.Mode()&^(fs.ModeSticky|fs.ModeSetgid|fs.ModeSetuid) ||
			got.Size != want.Size() || !got.ModTime.Equal(want.ModTime()) ||
			got.Links != uint64(st.Nlink) || got.Owner != int(st.Uid) || got.ID != (ID{uint64(st.Dev), uint64(st.Ino)}) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	for _, name := range []string{"", "none", "a\x00b", strings.Repeat("n", 300)} {
		_, want := os.Lstat(name)
		if _, got := OS().Lstat(name); got == nil || errors.Unwrap(got) != errors.Unwrap(want) {
			t.Errorf("%q: got error %v, want %v", name, got, want)
		}
	}
}

func TestFreeIsThatOfTheSystem(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "a"))
	if n, err := f.Free(); n <= 0 && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %d, %v, want some room", n, err)
	}
}

func TestDescriptorsAreNotInherited(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "a"))
	flags, _, e := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFD, 0)
	if e != 0 || flags&syscall.FD_CLOEXEC == 0 {
		t.Errorf("got flags %#x, %v, want FD_CLOEXEC", flags, e)
	}
}

func TestWriteAfterCloseReachesNoFile(t *testing.T) {
	dir := t.TempDir()
	f := open(t, filepath.Join(dir, "a"))
	f.Close()
	other := open(t, filepath.Join(dir, "b")) // most likely reuses the number
	if _, err := f.Write([]byte("text")); err == nil {
		t.Error("got no error")
	}
	if info, err := other.Stat(); err != nil || info.Size != 0 {
		t.Errorf("the other file: got %d bytes, %v, want 0", info.Size, err)
	}
}

func TestAllocsOfWhatLogFilesDo(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	f := open(t, name)
	line := []byte("line\n")
	calls := []func(){
		func() { _, _ = f.Write(line) },
		func() { _, _ = f.Stat() },
		func() { _, _ = f.Free() },
	}
	if lstatIsFree {
		calls = append(calls, func() { _, _ = OS().Lstat(name) })
	}
	for _, call := range calls {
		alloctest.Zero(t, call)
	}
}
