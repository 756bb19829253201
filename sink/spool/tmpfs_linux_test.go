// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestE2EDiskFull fills a file system of 4 MiB while lines are logged, and then
// makes room: calls return and dropped lines are counted while it is full, and
// then lines are accepted again.
func TestE2EDiskFull(t *testing.T) {
	for _, written := range []bool{false, true} {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
			t.Skipf("cannot mount a file system: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // if the test fails
		f := &far{}
		s := open(t, filepath.Join(dir, "spool"), f,
			Config{SegmentSize: 256 << 10, Size: 64 << 20, MinFree: 1, Written: written})
		ballast, logged := filepath.Join(dir, "ballast"), 0
		log := func() error {
			logged++
			return s.WriteRecord(record(nib.LevelInfo, logged, 1000))
		}
		must(t, log())
		fill, err := os.Create(ballast)
		must(t, err)
		for chunk := make([]byte, 4096); ; {
			if _, err := fill.Write(chunk); err != nil {
				break
			}
		}
		must(t, fill.Close())
		f.set(down)
		for log() == nil {
		}
		must(t, os.Remove(ballast))
		await.Until(t, "lines are accepted again", func() bool { return log() == nil })
		f.set(nil)
		must(t, s.Flush(context.Background()), s.Close())
		st := checkIdentity(t, s)
		if got := uint64(len(f.take())); got+st.Lost() != uint64(logged) {
			t.Errorf("%d lines arrived and %d are counted as lost, of %d", got, st.Lost(), logged)
		}
		t.Logf("%d of %d lines were dropped", st.Lost(), logged)
		must(t, vfstest.Unmount(dir))
	}
}
