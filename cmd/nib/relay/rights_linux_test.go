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
