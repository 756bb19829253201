// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestLockIsTriedAgain has a lock that another process holds for a moment. A
// slot is tried once, since there are others.
func TestLockIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		shared bool
		held   time.Duration
		takes  time.Duration
		want   error
	}{
		{"free", false, 0, 0, nil},
		{"held for a moment", false, 20*time.Millisecond - 1, 20 * time.Millisecond, nil},
		{"held", false, time.Hour, lockTries * time.Millisecond, ErrInUse},
		{"free slot", true, 0, 0, nil},
		{"slot that is held for a moment", true, 20 * time.Millisecond, 0, ErrInUse},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			noError(t, m.MkdirAll(memPath, 0o700))
			lock, err := lockFile(m, filepath.Join(memPath, "lock"))
			noError(t, err)
			if c.held == 0 {
				noError(t, lock.Close())
			} else {
				time.AfterFunc(c.held, func() { _ = lock.Close() })
			}
			begin := time.Now()
			d, _, err := OpenDir(memPath, &Options{FS: m, Boot: 1, Shared: c.shared})
			if took := time.Since(begin); !errors.Is(err, c.want) || c.want == nil && err != nil || took != c.takes {
				t.Errorf("%s: got %v after %v, want %v after %v", c.name, err, took, c.want, c.takes)
			}
			if err == nil {
				noError(t, d.Unlock())
			}
			await.Sleep(c.held)
			if n := m.Opened(); n != 0 {
				t.Errorf("%s: %d files are open", c.name, n)
			}
		})
	}
}

// TestSlotThatIsDeletedWhileItIsLocked finds that the lock file has no name any
// more, for a moment and until the end.
func TestSlotThatIsDeletedWhileItIsLocked(t *testing.T) {
	for times, want := range map[int]error{1: nil, 3: nil, 0: ErrReplaced} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "lock", Skip: 1, Times: times, Err: fs.ErrNotExist})
			d, _, err := OpenDir(memPath, &Options{FS: m, Boot: 1})
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%d times: got %v, want %v", times, err, want)
			}
			if err == nil {
				noError(t, d.Unlock())
			}
			if n := m.Opened(); n != 0 {
				t.Errorf("%d times: %d files are open", times, n)
			}
		})
	}
}

// TestEmptySlotsAreNotWaitedFor removes slots that a process has, or that are
// being deleted by one.
func TestEmptySlotsAreNotWaitedFor(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m := vfstest.NewMem(nil)
			d, _ := opened(t, m, 1)
			if replaced {
				noError(t, d.Unlock())
				m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "lock", Err: fs.ErrNotExist})
			}
			begin := time.Now()
			if err := NewHome(m, "/").RemoveEmpty(memPath); err != nil || time.Since(begin) > 0 {
				t.Errorf("replaced=%v: got %v after %v, want nothing at once", replaced, err, time.Since(begin))
			}
			if got := namesIn(t, m); len(got) != 1 {
				t.Errorf("replaced=%v: got %q, want the lock file", replaced, got)
			}
		})
	}
}

// TestLockFileNamesItsOwner reads the lock file, in which an earlier process
// with a longer name was, and the error that names the owner.
func TestLockFileNamesItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfstest.NewMem(nil)
		noError(t, m.MkdirAll(memPath, 0o700))
		lock := filepath.Join(memPath, "lock")
		write := func(text string) {
			f, err := m.Open(lock, os.O_RDWR|os.O_CREATE, 0o600)
			noError(t, err, f.Truncate(0))
			_, err = f.WriteAt([]byte(text), 0)
			noError(t, err, f.Close())
		}
		write(strings.Repeat("x", 1000))
		d, _ := opened(t, m, 1)
		exe, err := os.Executable()
		noError(t, err)
		b := make([]byte, 2000)
		n, _ := d.Lock.(vfs.File).ReadAt(b, 0)
		if want := fmt.Sprintf("%d %q\n", os.Getpid(), filepath.Base(exe)); string(b[:n]) != want {
			t.Errorf("got %q, want %q", b[:n], want)
		}
		const general = "set Config.Shared"
		for _, c := range []struct{ text, want string }{
			{string(b[:n]), "this process has opened it before"},
			{"7 \"server\"\n", `process 7 ("server") has it`},
			{"7 \"\"\n", "process 7 has it"},
			{"", general}, {"7 \"server\"", general}, {"7\n", general}, {"x \"server\"\n", general},
			{"99999999999999999999 \"server\"\n", general}, {"0 \"server\"\n", general}, {"-7 \"server\"\n", general}, {"7 server\n", general},
		} {
			write(c.text)
			_, _, err := OpenDir(memPath, &Options{FS: m, Boot: 1, Shared: true})
			if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), c.want) || c.want == general && strings.Contains(err.Error(), "has it") {
				t.Errorf("%q: got %v, want %q", c.text, err, c.want)
			}
		}
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "lock", Err: syscall.EACCES})
		if err := d.inUse(); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), general) {
			t.Errorf("unreadable: got %v, want %v", err, ErrInUse)
		}
		heal()
		noError(t, d.Unlock())

		write("7 \"server\"\n")
		m.Fail(vfstest.Fault{Op: vfstest.OpTruncate, Path: "lock", Err: syscall.EIO})
		d, _ = opened(t, m, 1)
		if n, _ := d.Lock.(vfs.File).ReadAt(b, 0); !strings.HasPrefix(string(b[:n]), fmt.Sprint(os.Getpid(), " ")) {
			t.Errorf("in place of a shorter text: got %q, want this process", b[:n])
		}
		noError(t, d.Unlock())
	})
}

// TestOwner determines whether a process has a spool open.
func TestOwner(t *testing.T) {
	m := vfstest.NewMem(nil)
	noError(t, m.MkdirAll(memPath, 0o700))
	is := func(name string, want Ownership, wantErr error) {
		t.Helper()
		got, err := LookInto(m, memPath).Owner()
		if got != want || !errors.Is(err, wantErr) || wantErr == nil && err != nil {
			t.Errorf("%s: got %d and %v, want %d and %v", name, got, err, want, wantErr)
		}
	}
	is("never used", OwnedByNone, nil)
	d, _ := opened(t, m, 1)
	is("in use", ownedByOther, nil)
	noError(t, d.Unlock())
	if owner, err := LookInto(m, memPath).Owner(); owner == ownedByOther || err != nil || m.Opened() != 0 {
		t.Errorf("not in use: got %d, %v and %d open files", owner, err, m.Opened())
	}
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "lock", Err: syscall.EACCES})
	is("unreadable", ownerUnknown, syscall.EACCES)
	heal()
	if runtime.GOOS == "windows" {
		return // there the file is opened exclusively instead
	}
	heal = m.Fail(vfstest.Fault{Op: vfstest.OpLock, Err: syscall.ENOLCK})
	is("without locks", ownerUnknown, syscall.ENOLCK)
	heal()
}
