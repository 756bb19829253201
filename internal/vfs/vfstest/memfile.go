// SPDX-License-Identifier: Apache-2.0

package vfstest

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

// A memFile is an open file of a Mem.
type memFile struct {
	m    *memory
	n    *node
	name string // the name with which it was opened
	flag int
	at   int64 // offset after the last Write

	closed bool
}

// unlocked is the mode of an open file without a lock.
const unlocked vfs.LockMode = -1

// lock locks n for f, if no other lock conflicts. The lock of the file system
// is held.
func (n *node) lock(f *memFile, mode vfs.LockMode) bool {
	for other, held := range n.locks {
		if other != any(f) && held != unlocked && (mode == vfs.Exclusive || held == vfs.Exclusive) {
			return false
		}
	}
	n.locks[f] = mode
	return true
}

// begin takes the lock of the file system, which is held even if it returns an
// error.
func (f *memFile) begin(op Op) error {
	f.m.mu.Lock()
	if f.closed {
		return f.fail(op, os.ErrClosed)
	}
	return nil
}

func (f *memFile) fail(op Op, err error) error {
	return &fs.PathError{Op: string(op), Path: f.name, Err: err}
}

func (f *memFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return 0, os.ErrClosed
	}
	if f.flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return 0, syscall.EBADF
	}
	if f.flag&os.O_APPEND != 0 {
		f.at = int64(len(f.n.data))
	}
	n, err := f.put(p, f.at)
	f.at += int64(n)
	return n, err
}

func (f *memFile) WriteAt(p []byte, at int64) (n int, err error) {
	if f.flag&os.O_APPEND != 0 {
		return 0, errAppend
	}
	err = f.begin(OpWrite)
	defer f.m.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err = f.put(p, at)
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	if err != nil {
		err = f.fail(OpWrite, err)
	}
	return n, err
}

// put writes p, or as much of it as there is room for.
func (f *memFile) put(p []byte, at int64) (int, error) {
	end := at + int64(len(p))
	if grow := end - int64(len(f.n.data)); grow > 0 {
		missing := grow - f.m.take(f.n, grow)
		if p = p[:max(int64(len(p))-missing, 0)]; len(p) == 0 && missing > 0 {
			return 0, syscall.ENOSPC
		}
		f.n.grow(at + int64(len(p)))
	}
	copy(f.n.data[at:], p)
	f.n.soil(at, at+int64(len(p)))
	f.n.modTime = f.m.now()
	return len(p), nil // like write(2): the next call returns the error
}

func (f *memFile) ReadAt(p []byte, at int64) (int, error) {
	err := f.begin(OpRead)
	defer f.m.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if at >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[at:])
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Sync writes the file to the disk; see [vfs.File].
func (f *memFile) Sync() error { return f.sync() }

// SyncData is Sync.
func (f *memFile) SyncData() error { return f.sync() }

func (f *memFile) sync() error {
	err := f.begin(OpSync)
	defer f.m.mu.Unlock()
	if err == nil {
		f.n.settle()
	}
	clear(f.n.dirty)
	return err
}

// forgetDirty imitates the system after a failed sync: it does not write these
// pages again.
func (f *memFile) forgetDirty() {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	clear(f.n.dirty)
}

func (f *memFile) Truncate(size int64) error {
	err := f.begin(OpTruncate)
	defer f.m.mu.Unlock()
	if err == nil {
		f.m.resize(f.n, size)
	}
	return err
}

func (f *memFile) SetRights(perm fs.FileMode, group int) error {
	err := f.begin(OpRights)
	defer f.m.mu.Unlock()
	if err != nil {
		return err
	}
	if group != vfs.NoOwner {
		f.n.group = group
	}
	f.n.mode = f.n.mode.Type() | perm
	return nil
}

func (f *memFile) Preallocate(size int64) error {
	err := f.begin(OpPreallocate)
	defer f.m.mu.Unlock()
	if err != nil {
		return err
	}
	grow := size - int64(len(f.n.data))
	if grow <= 0 {
		return nil
	}
	if got := f.m.take(f.n, grow); got < grow {
		f.m.give(f.n, f.n.room-got)
		return f.fail(OpPreallocate, syscall.ENOSPC)
	}
	f.n.grow(size)
	return nil
}

// resize truncates n, or adds zeros and takes room for them if there is some.
func (m *memory) resize(n *node, size int64) {
	was := int64(len(n.data))
	if size > was {
		m.take(n, size-was)
		n.grow(size)
	} else {
		m.give(n, size)
		n.data = slices.Clone(n.data[:size])
		n.soil(size, was)
	}
	n.modTime = m.now()
}

// grow makes n size bytes long.
func (n *node) grow(size int64) {
	was := int64(len(n.data))
	n.data = append(n.data, make([]byte, size-was)...)
	n.soil(was, size)
}

// soil records that the bytes in [from, to) are not on the disk.
func (n *node) soil(from, to int64) {
	for s := from / sector; s*sector < to; s++ {
		n.dirty[int(s)] = struct{}{}
	}
}

func (f *memFile) Stat() (vfs.Info, error) {
	err := f.begin(OpStat)
	defer f.m.mu.Unlock()
	if err != nil {
		return vfs.Info{}, err
	}
	return f.m.info(f.n), nil
}

func (f *memFile) Free() (int64, error) {
	err := f.begin(OpFree)
	defer f.m.mu.Unlock()
	if f.m.free < 0 {
		return 1 << 62, err
	}
	return f.m.free, err
}

// Lock locks the file; see [vfs.File].
func (f *memFile) Lock(mode vfs.LockMode) error {
	err := f.begin(OpLock)
	defer f.m.mu.Unlock()
	if err == nil && !f.n.lock(f, mode) {
		return vfs.ErrLocked
	}
	return err
}

func (f *memFile) Unlock() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if !f.closed {
		f.n.locks[f] = unlocked
	}
	return nil
}

func (f *memFile) Close() error {
	err := f.begin(OpClose)
	defer f.m.mu.Unlock()
	if !f.closed {
		f.closed = true
		f.m.opened--
		delete(f.n.locks, f)
		f.m.forget(f.n)
	}
	return err
}

// Fd returns ^uintptr(0): there is no descriptor.
func (f *memFile) Fd() uintptr { return ^uintptr(0) }
