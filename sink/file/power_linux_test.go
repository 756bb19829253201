// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

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
	err := errors.Join(vfstest.MakeExt4(image, 16<<20), vfstest.MountExt4(image, dir, ""))
	if err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	must(t, vfstest.Unmount(dir))
	accepted := 0
	pick := rand.New(rand.NewPCG(seed.Of(t), 0))
	for cut := range cuts {
		must(t, vfstest.MountExt4(image, dir, ""))
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
		must(t, vfstest.Unmount(dir))
		must(t, vfstest.MountExt4(image, dir, ""))
		checkHas(t, eachOf(t, dir), accepted)
		must(t, vfstest.Unmount(dir))
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
