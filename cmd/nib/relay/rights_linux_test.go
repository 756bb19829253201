// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
)

// TestOnceFailsAsTheWrongUser runs the relay as a user who must not read the
// directory of the service: an error, not nothing to do.
func TestOnceFailsAsTheWrongUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("becomes another user: needs root")
	}
	const service, other = 4242, 65534
	root := t.TempDir()
	closed(t, filepath.Join(root, "app"), 10)
	must(t, os.Chmod(filepath.Dir(root), 0o711), os.Chmod(root, 0o755),
		os.Chown(filepath.Join(root, "app"), service, service))
	for _, run := range []func(context.Context, Config) (Counts, error){Run, Rejected} {
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), other, ^uintptr(0))
			_, err = run(context.Background(), config(root, &place{}, newReports("")))
		}()
		<-done
		if !errors.Is(err, fs.ErrPermission) ||
			!strings.Contains(err.Error(), "user 4242: run as that user") {
			t.Errorf("got %v, want the directory and its user", err)
		}
	}
}

// TestFilesOfRootBelongToTheService delivers rejected lines of a service as
// root: the files that are left can be opened by the service.
func TestFilesOfRootBelongToTheService(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("gives files to another user: needs root")
	}
	const service = 4242
	dir, _ := withRejected(t, 10)
	entries, err := os.ReadDir(dir)
	must(t, err, os.Chown(dir, service, service))
	for _, e := range entries {
		must(t, os.Chown(filepath.Join(dir, e.Name()), service, service))
	}
	c := &catcher{refuse: func(r *nib.Record) error {
		if r.Seq == 5 {
			return errAway
		}
		return nil
	}}
	for range 2 { // the second run finds what the first one has left
		n, err := Rejected(context.Background(), rejectedConfig(dir, c))
		if err != nil || n.Rejected != 1 {
			t.Fatalf("got %+v and %v", n, err)
		}
		entries, err = os.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			info, err := e.Info()
			must(t, err)
			owner := info.Sys().(*syscall.Stat_t).Uid
			if owner != service || info.Mode().Perm() != 0o600 {
				t.Errorf("%s belongs to user %d, with mode %v", e.Name(), owner, info.Mode())
			}
		}
	}
}
