// SPDX-License-Identifier: Apache-2.0

// Package vfstest has a file system in memory for tests ([NewMem]): its power
// can be cut ([Mem.CrashClone]), and each of its operations can be made to
// fail, stop halfway or hang ([Mem.Fail]). [NewFaulty] adds such faults to any
// file system.
package vfstest

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// A Mem is a file system in memory. It has hard links, files that are open
// without a name, and locks, but no symbolic links, and directories keep their
// names. It records which data has been synced: see [Mem.CrashClone]. Faults
// are set by [Faulty.Fail].
type Mem struct {
	*Faulty
	mem *memory
}

// A memory is a Mem without faults.
type memory struct {
	mu      sync.Mutex       // protects the fields below and the nodes
	names   map[string]*node // keyed by clean name, including the roots / and .
	durable map[string]*node // the part of names that is on the disk
	pending []change         // changes of names that are not on the disk, in order
	free    int64            // bytes that may be written, below 0: any number
	inodes  uint64
	opened  int // number of open files and locks
	now     func() time.Time
}

// A node is a file or directory.
type node struct {
	inode   uint64
	mode    fs.FileMode
	group   int
	owner   int
	links   uint64
	modTime time.Time
	locks   map[any]vfs.LockMode // keyed by the open file that holds the lock

	data  []byte           // the data that readers see
	room  int64            // space that the file takes
	disk  []byte           // the data on the disk
	dirty map[int]struct{} // sectors of data that a sync has to write
}

// sector is the number of bytes that a disk writes atomically.
const sector = 512

// A change is one atomic change of names: afterwards each name refers to its
// node, or to nothing if the node is nil.
type change []entry

type entry struct {
	name string
	node *node
}

// NewMem returns an empty file system with room for anything. Its files have
// the time of now, or of time.Now if now is nil.
func NewMem(now func() time.Time) *Mem {
	if now == nil {
		now = time.Now
	}
	return newMemory(now).mem()
}

func newMemory(now func() time.Time) *memory {
	m := &memory{names: map[string]*node{}, durable: map[string]*node{}, free: -1, now: now}
	for _, root := range []string{".", string(filepath.Separator)} {
		m.apply(change{{root, m.newNode(fs.ModeDir | 0o777)}})
	}
	m.durable, m.pending = maps.Clone(m.names), nil
	return m
}

// mem returns m with a way to make its calls fail.
func (m *memory) mem() *Mem { return &Mem{NewFaulty(m), m} }

// SetFree sets the free room to n bytes. Removing or truncating a file frees
// its room. A negative n means unlimited.
func (m *Mem) SetFree(n int64) {
	m.mem.mu.Lock()
	defer m.mem.mu.Unlock()
	m.mem.free = n
}

// Opened returns the number of open files and locks.
func (m *Mem) Opened() int {
	m.mem.mu.Lock()
	defer m.mem.mu.Unlock()
	return m.mem.opened
}

// Chown changes the owner of the file called name.
func (m *Mem) Chown(name string, owner int) {
	m.mem.mu.Lock()
	defer m.mem.mu.Unlock()
	m.mem.names[filepath.Clean(name)].owner = owner
}

// take takes room for up to size bytes, and returns the room that was
// available.
func (m *memory) take(n *node, size int64) int64 {
	if m.free >= 0 {
		size = min(size, m.free)
		m.free -= size
	}
	n.room += size
	return size
}

// give returns the room of n beyond size.
func (m *memory) give(n *node, size int64) {
	if back := n.room - size; back > 0 {
		n.room = size
		if m.free >= 0 {
			m.free += back
		}
	}
}

// isDir reports whether there is a directory called name, which is clean.
func (m *memory) isDir(name string) bool {
	n := m.names[name]
	return n != nil && n.mode.IsDir()
}

// apply makes a change visible, and records it for the next SyncDir.
func (m *memory) apply(c change) {
	for _, e := range c {
		if old := m.names[e.name]; old != nil {
			old.links--
			m.forget(old)
			delete(m.names, e.name)
		}
	}
	for _, e := range c {
		if e.node != nil {
			e.node.links++
			m.names[e.name] = e.node
		}
	}
	m.pending = append(m.pending, c)
}

// forget returns the room of a node that has neither a name nor an open file.
func (m *memory) forget(n *node) {
	if n.links == 0 && n.opened() == 0 {
		m.give(n, 0)
	}
}

func (n *node) opened() int { return len(n.locks) }

func (m *memory) newNode(mode fs.FileMode) *node {
	m.inodes++
	return &node{
		inode: m.inodes, mode: mode, owner: os.Geteuid(), group: os.Getegid(), modTime: m.now(),
		locks: map[any]vfs.LockMode{}, dirty: map[int]struct{}{},
	}
}

func (m *memory) info(n *node) vfs.Info {
	return vfs.Info{ID: vfs.ID{Device: 1, Inode: n.inode}, Owner: n.owner, Group: n.group,
		Links: n.links, Size: int64(len(n.data)), Mode: n.mode, ModTime: n.modTime}
}

// Open opens a file; see [vfs.FS].
func (m *memory) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	name = filepath.Clean(name)
	f, err := m.open(name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

func (m *memory) open(name string, flag int, perm fs.FileMode) (*memFile, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.names[name]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, syscall.ENOENT
	case n == nil && !m.isDir(filepath.Dir(name)):
		return nil, syscall.ENOENT
	case n == nil:
		n = m.newNode(perm & fs.ModePerm)
		m.apply(change{{name, n}})
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	case n.mode.IsDir():
		return nil, syscall.EISDIR
	}
	if flag&os.O_TRUNC != 0 {
		m.resize(n, 0)
	}
	f := &memFile{m: m, n: n, name: name, flag: flag}
	n.locks[f] = unlocked
	m.opened++
	return f, nil
}

// Lstat describes a name; see [vfs.FS].
func (m *memory) Lstat(name string) (vfs.Info, error) {
	name = filepath.Clean(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.names[name]
	if n == nil {
		return vfs.Info{}, &fs.PathError{Op: "lstat", Path: name, Err: syscall.ENOENT}
	}
	return m.info(n), nil
}

// Rename gives a file a new name; see [vfs.FS].
func (m *memory) Rename(oldname, newname string) error {
	return m.link(OpRename, oldname, newname)
}

// RenameNoReplace gives a file a name that is free; see [vfs.FS].
func (m *memory) RenameNoReplace(oldname, newname string) error {
	return m.link(OpNoReplace, oldname, newname)
}

// Link gives a file another name; see [vfs.FS].
func (m *memory) Link(oldname, newname string) error {
	return m.link(OpLink, oldname, newname)
}

func (m *memory) link(op Op, oldname, newname string) error {
	oldname, newname = filepath.Clean(oldname), filepath.Clean(newname)
	fail := func(err error) error {
		return &os.LinkError{Op: string(op), Old: oldname, New: newname, Err: err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, target := m.names[oldname], m.names[newname]
	switch {
	case n == nil || !m.isDir(filepath.Dir(newname)):
		return fail(syscall.ENOENT)
	case n.mode.IsDir():
		return fail(syscall.EPERM)
	case target != nil && target.mode.IsDir():
		return fail(syscall.EISDIR)
	case op != OpRename && target != nil:
		return fail(syscall.EEXIST)
	case target == n: // rename(2) of one name of a file to another does nothing
		return nil
	}
	c := change{{newname, n}}
	if op != OpLink {
		c = append(c, entry{oldname, nil})
	}
	m.apply(c)
	return nil
}

// Remove removes a file or an empty directory.
func (m *memory) Remove(name string) error {
	name = filepath.Clean(name)
	fail := func(err error) error { return &fs.PathError{Op: "remove", Path: name, Err: err} }
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[name] == nil {
		return fail(syscall.ENOENT)
	}
	for other := range m.names {
		if other != name && filepath.Dir(other) == name {
			return fail(syscall.ENOTEMPTY)
		}
	}
	m.apply(change{{name, nil}})
	return nil
}

// MkdirAll makes dir and its parents.
func (m *memory) MkdirAll(dir string, perm fs.FileMode) error {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	var missing []string
	for d := dir; !m.isDir(d); d = filepath.Dir(d) {
		if m.names[d] != nil {
			return &fs.PathError{Op: "mkdir", Path: d, Err: syscall.ENOTDIR}
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		m.apply(change{{d, m.newNode(fs.ModeDir | perm&fs.ModePerm)}})
	}
	return nil
}

// ReadDir returns the sorted names in dir.
func (m *memory) ReadDir(dir string) ([]string, error) {
	dir = filepath.Clean(dir)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isDir(dir) {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: syscall.ENOENT}
	}
	names := []string{}
	for name := range maps.Keys(m.names) {
		if name != dir && filepath.Dir(name) == dir {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

var errAppend = errors.New("nib/vfs: WriteAt on a file opened with O_APPEND")
