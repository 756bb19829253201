// SPDX-License-Identifier: Apache-2.0

package vfstest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
)

// A Faulty is a file system whose calls fail as set by [Faulty.Fail], and
// otherwise go to another file system.
type Faulty struct {
	faults
	fs vfs.FS
}

// NewFaulty returns fsys with a way to make its calls fail.
func NewFaulty(fsys vfs.FS) *Faulty { return &Faulty{fs: fsys} }

// do runs an operation, unless a fault makes it fail, or succeed and return an
// error.
func (f *Faulty) do(op Op, name string, call func() error, wrap func(error) error) error {
	h := f.enter(op, name)
	if h.err == nil {
		return call()
	}
	if h.done {
		_ = call() // the response is lost
	}
	return wrap(h.err)
}

// pathError returns a function that wraps the error of a fault like package os.
// It does not wrap the errors of conflicting or unsupported locks.
func pathError(op, name string) func(error) error {
	return func(err error) error {
		if err == vfs.ErrLocked || errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
}

func linkError(op, oldname, newname string) func(error) error {
	return func(err error) error {
		return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
	}
}

// Open opens a file; see [vfs.FS].
func (f *Faulty) Open(name string, flag int, perm fs.FileMode) (file vfs.File, err error) {
	name = filepath.Clean(name)
	op := OpOpen
	if flag&os.O_CREATE != 0 {
		op = OpCreate
	}
	h := f.enter(op, name)
	if h.err == nil || h.done {
		if file, err = f.fs.Open(name, flag, perm); err != nil {
			return nil, err
		}
	}
	if h.err != nil {
		if file != nil {
			_ = file.Close() // nothing was written
		}
		return nil, pathError("open", name)(h.err)
	}
	return &faultyFile{File: file, f: f, name: name}, nil
}

// Lstat describes a name; see [vfs.FS].
func (f *Faulty) Lstat(name string) (info vfs.Info, err error) {
	if h := f.enter(OpLstat, name); h.err != nil {
		return vfs.Info{}, pathError("lstat", name)(h.err)
	}
	return f.fs.Lstat(name)
}

// Rename gives a file a new name; see [vfs.FS].
func (f *Faulty) Rename(oldname, newname string) error {
	return f.do(OpRename, oldname, func() error { return f.fs.Rename(oldname, newname) },
		linkError("rename", oldname, newname))
}

// RenameNoReplace gives a file a name that is free; see [vfs.FS].
func (f *Faulty) RenameNoReplace(oldname, newname string) error {
	rename := func() error { return f.fs.RenameNoReplace(oldname, newname) }
	return f.do(OpNoReplace, oldname, rename, linkError("rename", oldname, newname))
}

// Link gives a file another name; see [vfs.FS].
func (f *Faulty) Link(oldname, newname string) error {
	return f.do(OpLink, oldname, func() error { return f.fs.Link(oldname, newname) },
		linkError("link", oldname, newname))
}

// Remove removes a file or an empty directory.
func (f *Faulty) Remove(name string) error {
	return f.do(OpRemove, name, func() error { return f.fs.Remove(name) },
		pathError("remove", name))
}

// MkdirAll makes dir and its parents.
func (f *Faulty) MkdirAll(dir string, perm fs.FileMode) error {
	return f.do(OpMkdir, dir, func() error { return f.fs.MkdirAll(dir, perm) },
		pathError("mkdir", dir))
}

// ReadDir returns the sorted names in dir.
func (f *Faulty) ReadDir(dir string) ([]string, error) {
	if h := f.enter(OpReadDir, dir); h.err != nil {
		return nil, pathError("readdir", dir)(h.err)
	}
	return f.fs.ReadDir(dir)
}

// SyncDir makes the names in dir survive a power failure; see [vfs.FS].
func (f *Faulty) SyncDir(dir string) error {
	return f.do(OpSyncDir, dir, func() error { return f.fs.SyncDir(dir) }, pathError("sync", dir))
}

// closeFaulty closes even if it reports an error, as close(2) does.
func closeFaulty(f *Faulty, name string, c io.Closer) error {
	h := f.enter(OpClose, name)
	if err := c.Close(); err != nil || h.err == nil {
		return err
	}
	return pathError("close", name)(h.err)
}

// A faultyFile is an open file of a Faulty.
type faultyFile struct {
	vfs.File
	f    *Faulty
	name string // the name with which it was opened
}

func (f *faultyFile) do(op Op, call func() error) error {
	return f.f.do(op, f.name, call, pathError(string(op), f.name))
}

func (f *faultyFile) Write(p []byte) (n int, err error) {
	h := f.f.enter(OpWrite, f.name)
	part := h.part(len(p))
	if part > 0 || h.err == nil {
		if n, err = f.File.Write(p[:part]); err != nil || n > 0 && !h.done {
			return n, err // like write(2): the next call returns the error
		}
	}
	return 0, h.err
}

func (f *faultyFile) WriteAt(p []byte, at int64) (n int, err error) {
	h := f.f.enter(OpWrite, f.name)
	part := h.part(len(p))
	if part > 0 || h.err == nil {
		if n, err = f.File.WriteAt(p[:part], at); err != nil {
			return n, err
		}
	}
	if err = h.err; err == nil && part < len(p) {
		err = syscall.ENOSPC
	}
	if err != nil {
		err = pathError(string(OpWrite), f.name)(err)
	}
	return n, err
}

func (f *faultyFile) ReadAt(p []byte, at int64) (n int, err error) {
	h := f.f.enter(OpRead, f.name)
	if part := h.part(len(p)); part > 0 || h.err == nil {
		if n, err = f.File.ReadAt(p[:part], at); err != nil && h.err == nil {
			return n, err
		}
		if h.err == nil && part < len(p) {
			h.err = io.EOF
		}
	}
	if h.err == nil || h.err == io.EOF {
		return n, h.err
	}
	return n, pathError(string(OpRead), f.name)(h.err)
}

// Sync writes the file to the disk; see [vfs.File].
func (f *faultyFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData writes the file to the disk; see [vfs.File].
func (f *faultyFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *faultyFile) sync(call func() error) error {
	h := f.f.enter(OpSync, f.name)
	if h.err == nil || h.done {
		if err := call(); err != nil || h.err == nil {
			return err
		}
	} else if m, ok := f.File.(interface{ forgetDirty() }); ok {
		m.forgetDirty()
	}
	return pathError(string(OpSync), f.name)(h.err)
}

func (f *faultyFile) Truncate(size int64) error {
	return f.do(OpTruncate, func() error { return f.File.Truncate(size) })
}

func (f *faultyFile) SetRights(perm fs.FileMode, group int) error {
	return f.do(OpRights, func() error { return f.File.SetRights(perm, group) })
}

func (f *faultyFile) Preallocate(size int64) error {
	return f.do(OpPreallocate, func() error { return f.File.Preallocate(size) })
}

func (f *faultyFile) Stat() (info vfs.Info, err error) {
	if h := f.f.enter(OpStat, f.name); h.err != nil {
		return vfs.Info{}, pathError(string(OpStat), f.name)(h.err)
	}
	return f.File.Stat()
}

func (f *faultyFile) Free() (free int64, err error) {
	if h := f.f.enter(OpFree, f.name); h.err != nil {
		return 0, pathError(string(OpFree), f.name)(h.err)
	}
	return f.File.Free()
}

// Lock locks the file; see [vfs.File].
func (f *faultyFile) Lock(mode vfs.LockMode) error {
	if h := f.f.enter(OpLock, f.name); h.err != nil {
		return pathError("flock", f.name)(h.err)
	}
	return f.File.Lock(mode)
}

func (f *faultyFile) Close() error { return closeFaulty(f.f, f.name, f.File) }

// forgetDirty makes a file in memory count as synced although it is not.
func (f *faultyFile) forgetDirty() {
	if m, ok := f.File.(interface{ forgetDirty() }); ok {
		m.forgetDirty()
	}
}
