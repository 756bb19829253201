// SPDX-License-Identifier: Apache-2.0

package vfstest

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

// SyncDir makes the names in dir survive a power failure; see [vfs.FS].
func (m *memory) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isDir(dir) {
		return &fs.PathError{Op: "sync", Path: dir, Err: syscall.ENOENT}
	}
	// A change of two directories is atomic: it also writes the other name to the
	// disk, with the earlier changes of that name.
	touched := map[string]bool{}
	needed := func(e entry) bool { return touched[e.name] || filepath.Dir(e.name) == dir }
	var now, later []change
	for _, c := range slices.Backward(m.pending) {
		if !slices.ContainsFunc(c, needed) {
			later = append(later, c)
			continue
		}
		now = append(now, c)
		for _, e := range c {
			touched[e.name] = true
		}
	}
	for _, c := range slices.Backward(now) {
		c.settle(m.durable)
	}
	slices.Reverse(later)
	m.pending = later
	return nil
}

// settle applies the change to names.
func (c change) settle(names map[string]*node) {
	for _, e := range c {
		if e.node == nil {
			delete(names, e.name)
		} else {
			names[e.name] = e.node
		}
	}
}

// settle writes the dirty sectors to the disk.
func (n *node) settle() {
	n.disk = resized(n.disk, len(n.data))
	for s := range n.dirty {
		copySector(n.disk, n.data, s)
	}
}

// copySector copies the part of a sector that both files have.
func copySector(dst, src []byte, s int) {
	from := s * sector
	if to := min(from+sector, len(dst), len(src)); from < to {
		copy(dst[from:to], src[from:to])
	}
}

// resized returns a copy of b, cut off or filled up with zeros.
func resized(b []byte, size int) []byte {
	c := make([]byte, size)
	copy(c, b)
	return c
}

// CrashClone returns the file system that a machine finds after a power failure
// at this moment, with everything synced and without faults, locks and open
// files.
//
// pick decides which unsynced data is left; pick(n) returns a number below n,
// and 0 loses the most. Each change of names is kept or lost; a change that
// depends on a lost one is also lost. A file that grew is torn at any byte.
// Each sector of 512 bytes that was written is kept or not, so one may be
// missing in the middle, and reads as zeros or as the bytes before.
//
// The IntN of a math/rand/v2 Rand is a pick, and so are [Nothing] and
// [Everything].
func (m *Mem) CrashClone(pick func(n int) int) *Mem { return m.mem.crashClone(pick).mem() }

func (m *memory) crashClone(pick func(n int) int) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := newMemory(m.now)
	c.free = m.free
	c.names, c.durable = map[string]*node{}, map[string]*node{}
	kept, lost := maps.Clone(m.durable), map[string]bool{}
	for _, change := range m.pending {
		buildsOn := func(e entry) bool { return lost[e.name] }
		if !slices.ContainsFunc(change, buildsOn) && pick(2) == 1 {
			change.settle(kept)
			continue
		}
		for _, e := range change {
			lost[e.name] = true
		}
	}
	clones := map[*node]*node{}
	// Sorted, so that a seed means one outcome.
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		n := kept[name]
		if c.durable[filepath.Dir(name)] == nil && filepath.Dir(name) != name {
			continue // its directory is lost
		}
		if clones[n] == nil {
			clones[n] = n.crash(pick)
		}
		clones[n].links++
		c.names[name], c.durable[name] = clones[n], clones[n]
	}
	c.inodes = m.inodes
	return c
}

// crash returns n after a crash.
func (n *node) crash(pick func(n int) int) *node {
	left := &node{
		inode: n.inode, mode: n.mode, owner: n.owner, modTime: n.modTime, room: n.room,
		locks: map[any]vfs.LockMode{}, dirty: map[int]struct{}{},
	}
	size := len(n.disk)
	if len(n.dirty) > 0 {
		if grown := len(n.data) - size; grown >= 0 {
			size += pick(grown + 1)
		} else if pick(2) == 1 {
			size = len(n.data)
		}
	}
	left.disk = resized(n.disk, size)
	for _, s := range slices.Sorted(maps.Keys(n.dirty)) {
		if pick(2) == 1 {
			copySector(left.disk, n.data, s)
		}
	}
	left.data = slices.Clone(left.disk)
	return left
}

// Nothing is a pick for CrashClone that loses everything that was not synced.
func Nothing(int) int { return 0 }

// Everything is a pick for CrashClone that keeps everything, as after the death
// of the process alone.
func Everything(n int) int { return n - 1 }
