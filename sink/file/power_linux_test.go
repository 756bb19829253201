// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// ext4 mounts the file system in the file image at dir. It creates the image if
// there is none.
func ext4(t *testing.T, image, dir string) {
	t.Helper()
	if !exists(image) {
		f, err := os.Create(image)
		must(t, err, f.Truncate(16<<20), f.Close())
		if out, err := exec.Command("mkfs.ext4", "-q", image).CombinedOutput(); err != nil {
			t.Skipf("cannot make a file system: %v: %s", err, out)
		}
	}
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a file system: %v: %s", err, out)
	}
}

// TestE2EPowerCut cuts the power of a real file system while lines are
// delivered and files rotated and compressed. The accepted lines are there when
// it is mounted again.
func TestE2EPowerCut(t *testing.T) {
	cuts := map[string]int{"short": 5, "full": 100}[os.Getenv("NIB_E2E")]
	if cuts == 0 || testing.Short() {
		cuts = 2
	}
	base := t.TempDir()
	image, dir := filepath.Join(base, "image"), filepath.Join(base, "log")
	must(t, os.Mkdir(dir, 0o700))
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // if the test fails
	accepted := 0
	pick := rand.New(rand.NewPCG(seed.Of(t), 0))
	for cut := range cuts {
		ext4(t, image, dir)
		s, err := Open(filepath.Join(dir, "app.log"), Config{MaxSize: 3000, Compress: Gzip(0), MaxBackups: 2000})
		must(t, err)
		for range 1 + pick.IntN(20) {
			res, err := s.Deliver(context.Background(), batchOf(accepted, 1+pick.IntN(50)))
			must(t, err)
			accepted += res.Accepted
		}
		for n := range pick.IntN(100) { // these need not survive
			_ = s.WriteRecord(record(nib.LevelInfo, 1e9+n, 60))
		}
		if err := vfstest.CutPower(dir); errors.Is(err, syscall.ENOSYS) {
			t.Skip("the power cannot be cut under emulation")
		} else {
			must(t, err)
		}
		if res, err := s.Deliver(context.Background(), batchOf(accepted, 10)); err == nil || res.Accepted != 0 {
			t.Errorf("cut %d: got %+v, %v without power, want nothing accepted", cut, res, err)
		}
		_ = s.Close() // fails, like every operation now
		cleaned(s)
		must(t, unmount(dir))
		ext4(t, image, dir)
		checkHas(t, eachOf(t, dir), accepted)
		must(t, unmount(dir))
		if t.Failed() {
			t.Fatalf("cut %d of %d", cut, cuts)
		}
	}
	t.Logf("%d cuts: all of %d accepted lines are there", cuts, accepted)
}

// eachOf returns the text of all files of a directory, with a newline between
// them: unsynced lines may have left zeros at the end of one.
func eachOf(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range files(t, dir) {
		if !strings.HasSuffix(name, tempExtension) {
			b.WriteString(text(t, filepath.Join(dir, name)) + "\n")
		}
	}
	return b.String()
}

// unmount unmounts dir, even if it is busy.
func unmount(dir string) error {
	err := syscall.Unmount(dir, 0)
	if errors.Is(err, syscall.EBUSY) {
		err = fmt.Errorf("%w: a descriptor was left open", err)
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	}
	return err
}
