// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/vfs"
)

// looking returns a clock that makes the sink check the name, the schedule and
// the free space before each line.
func looking() clock {
	c := newTestClock()
	c.steps = time.Second
	return c.clock()
}

// An unsyncedFS does not wait for the disk.
type unsyncedFS struct{ vfs.FS }

type unsyncedFile struct{ vfs.File }

func (u unsyncedFS) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := u.FS.Open(name, flag, perm)
	return unsyncedFile{f}, err
}

func (unsyncedFS) SyncDir(string) error { return nil }
func (unsyncedFile) SyncData() error    { return nil }

// freeLook reports whether checking a name does not allocate: see vfs.FS.
const freeLook = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")

// unwatched stops the clock if checking the name allocates: ten times a second
// would be measurable.
func unwatched(c Config) Config {
	if !freeLook {
		c.clock = newTestClock().clock()
	}
	return c
}

func TestAllocWriteRecord(t *testing.T) {
	full := strangeFS{vfs.OS(), func([]byte) (int, error) { return 0, syscall.ENOSPC }}
	// Thousands of long lines would fill a small disk.
	dropped := strangeFS{vfs.OS(), func(p []byte) (int, error) { return len(p), nil }}
	everything := Config{MaxSize: 1 << 40, Every: time.Hour, At: []string{"00:00"}, MaxBackups: 3, MinFree: 1}
	watched := everything
	watched.clock = looking()
	for _, c := range []struct {
		name string
		c    Config
		size int
		want error
	}{
		{"unbuffered", Config{}, 300, nil},
		{"long line", Config{fs: dropped}, 100_000, nil},
		{"with everything", everything, 300, nil},
		{"looking each time", watched, 300, nil},
		{"buffered", Config{Buffer: 4096}, 300, nil},
		{"longer than the buffer", Config{Buffer: 200}, 300, nil},
		{"synced", Config{Sync: SyncAlways, fs: unsyncedFS{vfs.OS()}}, 300, nil},
		{"full", Config{fs: full}, 300, syscall.ENOSPC},
		{"full, tried each time", Config{fs: full, clock: looking()}, 300, syscall.ENOSPC},
		{"closed", Config{}, 300, errClosed},
		{"closed buffer", Config{Buffer: 4096}, 300, errClosed},
	} {
		c.c = unwatched(c.c)
		t.Run(c.name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "app.log"), c.c)
			cleaned(s)
			if c.want == errClosed {
				must(t, s.Close())
			}
			r := record(nib.LevelInfo, 1, c.size)
			var err error // checked afterwards: errors.Is may make the runtime cache types
			alloctest.Zero(t, func() { err = s.WriteRecord(r) })
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestAllocFlushAndDeliver(t *testing.T) {
	batch := batchOf(0, 10) // of 100 lines, the files would need 100 MB
	for _, buffer := range []int{0, 4096} {
		s := open(t, filepath.Join(t.TempDir(), "app.log"), unwatched(Config{Buffer: buffer, fs: unsyncedFS{vfs.OS()}}))
		ctx := context.Background()
		alloctest.Zero(t, func() {
			_ = s.WriteRecord(&batch[0])
			must(t, s.Flush(ctx))
		})
		alloctest.Zero(t, func() {
			if res, err := s.Deliver(ctx, batch); err != nil || res.Accepted != len(batch) {
				t.Fatal(res, err)
			}
		})
	}
}

// TestAllocsOfARotation checks that a rotation allocates only for names, and no
// more than documented at WriteRecord.
func TestAllocsOfARotation(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("allocations are not counted in this build")
	}
	s := open(t, filepath.Join(t.TempDir(), "app.log"), Config{})
	r := record(nib.LevelInfo, 1, 300)
	mallocs, bytes := alloctest.Count(func() {
		must(t, s.WriteRecord(r), s.Rotate())
	}, 50)
	t.Logf("a rotation costs %.1f mallocs of %.0f bytes", mallocs, bytes)
	if mallocs > 40 {
		t.Errorf("got %.1f mallocs for a line and a rotation, want at most 40", mallocs)
	}
}
