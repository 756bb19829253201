// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

func TestDefaultSizes(t *testing.T) {
	const mib, gib = int64(1) << 20, int64(1) << 30
	for _, c := range []struct {
		name                   string
		config                 Config
		dir                    string
		volume                 store.Volume
		memory                 int64
		segment, size, minFree int64
	}{
		{"a server", Config{}, "x", store.Volume{Size: 500 * gib}, 32 * gib, 8 * mib, gib, gib},
		{"a small container", Config{}, "x", store.Volume{Size: 500 * gib}, 256 * mib, 2 * mib, gib, gib},
		{"a tiny container", Config{}, "x", store.Volume{Size: 500 * gib}, 4 * mib, 64 << 10, gib, gib},
		{"a small volume", Config{}, "x", store.Volume{Size: gib}, 32 * gib, 8 * mib, gib / 20, gib / 20},
		{"a tiny volume", Config{}, "x", store.Volume{Size: 4 * mib}, 32 * gib, 64 << 10, 4 * mib / 20, 4 * mib / 20},
		{"without copies", Config{Sync: SyncNever}, "x", store.Volume{Size: gib}, 32 * gib, 8 * mib, gib / 10, gib / 20},
		{"memory as a volume", Config{}, "x", store.Volume{Size: 16 * gib, Memory: true}, gib, 8 * mib, gib / 10, 16 * gib / 20},
		{"nothing known", Config{}, "x", store.Volume{}, 32 * gib, 8 * mib, gib, 0},
		{"in memory", Config{}, "", store.Volume{}, 32 * gib, 8 * mib, 64 * mib, 0},
		{"in little memory", Config{}, "", store.Volume{}, 256 * mib, 2 * mib, 256 * mib / 10, 0},
		{"a given size", Config{Size: mib}, "x", store.Volume{Size: 500 * gib}, 32 * gib, 256 << 10, mib, gib},
		{"segments as large as the default", Config{SegmentSize: gib}, "x", store.Volume{Size: 500 * gib}, 32 * gib, gib, 2 * gib, gib},
		{"large segments in memory", Config{SegmentSize: 32 * mib}, "", store.Volume{}, 32 * gib, 32 * mib, 64 * mib, 0},
		{"all given", Config{Size: mib, SegmentSize: 64 << 10, MinFree: 7}, "x", store.Volume{Size: gib}, gib, 64 << 10, mib, 7},
	} {
		got := c.config.sizes(c.dir, c.volume, c.memory)
		if got.SegmentSize != c.segment || got.Size != c.size || got.MinFree != c.minFree {
			t.Errorf("%s: got segments of %d, %d in all and %d free, want %d, %d and %d",
				c.name, got.SegmentSize, got.Size, got.MinFree, c.segment, c.size, c.minFree)
		}
		if got.SegmentSize%segment.HeaderSize != 0 || got.Size < 2*got.SegmentSize {
			t.Errorf("%s: got sizes that do not fit: %d, %d", c.name, got.SegmentSize, got.Size)
		}
	}
	if n := memoryLimit(); n < mib {
		t.Errorf("the memory limit is %d", n)
	}
}

// TestSpoolOnARemoteVolumeNeedsAdopt opens a spool again on a volume with
// unreliable locks.
func TestSpoolOnARemoteVolumeNeedsAdopt(t *testing.T) {
	m := vfstest.NewMem(nil)
	remote := store.Volume{Size: 1 << 40, Remote: true}
	f := &far{do: down}
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, volume: remote, Drain: 1})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
	_ = s.Close() // the line stays
	if _, err := Open(memDir, f, Config{fs: m, volume: remote}); !errors.Is(err, store.ErrAdopt) {
		t.Errorf("got %v, want ErrAdopt", err)
	}
	f.set(nil)
	s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, volume: remote, Adopt: true})
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, 1, 100)
}

// TestFreeSpaceIsLeft checks that no segment is made that would leave less than
// MinFree, except the first.
func TestFreeSpaceIsLeft(t *testing.T) {
	m := vfstest.NewMem(nil)
	m.SetFree(4 * segment.MinSize)
	f := &far{do: down}
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, MinFree: 3 * segment.MinSize, Sync: SyncNever, Drain: 1})
	var err error
	for n := 0; err == nil; n++ {
		err = s.WriteRecord(record(nib.LevelInfo, n, 1000))
	}
	if st := s.Stats(); err != errFull || st.Segments != 1 {
		t.Errorf("got %v with %d segments, want errFull with one", err, st.Segments)
	}
	m.SetFree(10 * segment.MinSize)
	awaitNext(s)
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
}
