// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/sink/spool/internal/store"
)

// asUser runs f in a thread that accesses files as another user.
func asUser(uid uintptr, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uid, ^uintptr(0))
		f()
	}()
	<-done
}

// TestFindNamesWhatItCannotRead has a directory of another user at each depth,
// beside a spool that can be read.
func TestFindNamesWhatItCannotRead(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("becomes another user: needs root")
	}
	const service, reader = 4242, 65534
	base := t.TempDir()
	must(t, os.Chmod(filepath.Dir(base), 0o711), os.Chmod(base, 0o755))
	for _, hidden := range []string{".", "a", "a/b", store.SlotName(1)} {
		root := filepath.Join(base, strings.ReplaceAll(hidden, "/", "-")+"-root")
		dir := filepath.Join(root, hidden)
		must(t, os.MkdirAll(dir, 0o755), os.MkdirAll(filepath.Join(root, "seen"), 0o755),
			os.WriteFile(filepath.Join(root, "seen", "lock"), nil, 0o600),
			os.Chown(dir, service, service), os.Chmod(dir, 0o700))
		var want []string
		if hidden != "." {
			want = []string{filepath.Join(root, "seen")}
		}
		asUser(reader, func() {
			got, err := Find(root)
			if !errors.Is(err, fs.ErrPermission) || !slices.Equal(got, want) ||
				!strings.Contains(err.Error(), dir+": ") ||
				!strings.Contains(err.Error(), "run as that user, not as user 65534") {
				t.Errorf("%s: got %q and %v, want %q and the reason", hidden, got, err, want)
			}
		})
		if got, err := Find(root); err != nil || len(got) != 1 {
			t.Errorf("%s, as root: got %q and %v, want the spool", hidden, got, err)
		}
	}
}
