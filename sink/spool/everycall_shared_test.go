// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/enumerate"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestEveryCallOfASharedDirectoryMayFail is [TestEveryCallMayFail] for
// Config.Shared. Dead processes have left lines in the directory itself and in
// two slots, and an empty slot. A first process takes over one slot and
// delivers the others; a second one takes over the slot of the first; then the
// fault is gone, and a third one delivers the rest. In the end only the slot of
// the third is left.
func TestEveryCallOfASharedDirectoryMayFail(t *testing.T) {
	t.Run("written", func(t *testing.T) {
		image := memHome(t)
		enumerate.Life{
			New:   func(testing.TB) vfs.FS { return image.CrashClone(vfstest.Everything) },
			Run:   func(t *testing.T, w *enumerate.World) { shareThrough(t, w, memDir) },
			Class: classOf,
		}.Enumerate(t)
	})
	t.Run("mapped", func(t *testing.T) {
		if !segment.CanMap {
			t.Skip("segments are mapped on Linux only, and written elsewhere")
		}
		image, dir := memHome(t), filepath.Join(t.TempDir(), "spool")
		enumerate.Life{
			New: func(t testing.TB) vfs.FS {
				must(t, os.RemoveAll(dir))
				writeTree(t, image, memDir, dir)
				return unsynced{vfs.OS()}
			},
			Run:   func(t *testing.T, w *enumerate.World) { shareThrough(t, w, dir) },
			Class: classOf,
		}.Enumerate(t)
	})
}

// memHome returns a file system with a directory that dead processes have
// shared. In the bubble each of them has checked the other slots before one of
// them dies.
func memHome(t *testing.T) (m *vfstest.Mem) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { m = shareInMemory(t) })
	return m
}

func shareInMemory(t *testing.T) *vfstest.Mem {
	t.Helper()
	m := vfstest.NewMem(nil)
	f := &far{do: down}
	n := 0
	process := func(c Config) *Sink {
		c.SegmentSize, c.Size, c.fs, c.poll, c.slow, c.Drain = segment.MinSize, 64*segment.MinSize, m, time.Hour, eventTimeout, time.Nanosecond
		c.OnError = func(error) {} // the destination is down
		s, err := Open(memDir, f, c)
		must(t, err)
		for range lifeBacklog / 5 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, lifeSize)))
			n++
		}
		must(t, s.Sync(context.Background()))
		synctest.Wait()
		return s
	}
	before := process(Config{})
	var all []*Sink
	for range 3 {
		all = append(all, process(Config{Shared: true}))
	}
	closeDown(t, before)
	for _, s := range all[:2] {
		closeDown(t, s)
	}
	f.set(nil)
	must(t, all[2].Flush(context.Background()), all[2].Close())
	names, err := m.ReadDir(filepath.Join(memDir, store.SlotName(3)))
	must(t, err)
	for _, name := range names {
		if _, ok := store.SegmentNumber(name); ok {
			must(t, m.Remove(filepath.Join(memDir, store.SlotName(3), name)))
		}
	}
	return m
}

// writeTree writes a directory in memory to the disk.
func writeTree(t testing.TB, m *vfstest.Mem, from, to string) {
	t.Helper()
	must(t, os.MkdirAll(to, 0o700))
	names, err := m.ReadDir(from)
	must(t, err)
	for _, name := range names {
		info, err := m.Lstat(filepath.Join(from, name))
		must(t, err)
		if info.Mode.IsDir() {
			writeTree(t, m, filepath.Join(from, name), filepath.Join(to, name))
			continue
		}
		must(t, os.WriteFile(filepath.Join(to, name), memFile(t, m, filepath.Join(from, name)), 0o600))
	}
}

func shareThrough(t *testing.T, w *enumerate.World, dir string) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(w, dir)
		l.backlog(0, 3*lifeBacklog/5) // and the lines of the empty slot
		l.logged += lifeBacklog / 5
		l.c.Shared, l.c.poll, l.c.Size = true, time.Minute, 64*segment.MinSize

		first := l.open(t)
		l.log(first, 2)
		l.wait(first.Flush)
		second := l.open(t)
		l.log(second, 2)
		l.f.set(down)
		l.log(first, lifeLines)
		l.log(second, lifeLines)
		l.wait(second.Sync)
		l.close(t, first)
		l.f.set(nil)
		await.Sleep(2 * l.c.poll)
		l.f.set(down)
		l.log(second, 2)
		l.close(t, second)
		l.f.set(nil)
		w.Heal()
		l.process(t, func(s *Sink) {
			l.log(s, 1)
			must(t, s.Flush(context.Background()))
			time.Sleep(5 * l.c.poll)
			synctest.Wait()
		})
		l.checkShared(t)
	})
}

// checkShared checks the delivered lines of all slots, and that one slot is
// left.
func (l *life) checkShared(t *testing.T) {
	t.Helper()
	got := l.arrived(t, l.f)
	slices.Sort(got) // arrived checks the order of each slot by the numbers of the records
	want := l.wanted()
	if !slices.Equal(got, want) {
		t.Errorf("%d lines arrived, want %d: %s", len(got), len(want), firstDifference(got, want))
	}
	l.checkReports(t)
	names, err := l.w.Sound.ReadDir(l.dir)
	must(t, err)
	names = slices.DeleteFunc(names, func(name string) bool { return l.onlyQuarantined(t, name) })
	if len(names) != 1 || !store.IsSlot(names[0]) {
		t.Fatalf("got %q, want one slot alone", names)
	}
	l.checkFiles(t, filepath.Join(l.dir, names[0]))
}

// onlyQuarantined reports whether a slot has only a quarantined file, which
// stays for the operator. A partial write that could not be undone causes one.
func (l *life) onlyQuarantined(t *testing.T, slot string) bool {
	t.Helper()
	names, err := l.w.Sound.ReadDir(filepath.Join(l.dir, slot))
	must(t, err)
	names = slices.DeleteFunc(names, func(name string) bool { return name == "lock" })
	return len(names) == 1 && strings.HasSuffix(names[0], store.BadExt)
}
