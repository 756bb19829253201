// SPDX-License-Identifier: Apache-2.0

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// CanRenameOpen reports whether a file may be renamed while it is open. Package
// os opens files so that no process can rename or remove them while they are
// open: this replaces the protection of locks on other systems.
const CanRenameOpen = false

// openFlags are the flags that Open adds.
const openFlags = 0

// errDiskFull is ERROR_DISK_FULL.
const errDiskFull = syscall.Errno(112)

// An osFile is an os.File without its Stat.
type osFile struct{ *os.File }

func newFile(f *os.File) File { return &osFile{f} }

func (f *osFile) Stat() (Info, error) {
	return stat(syscall.Handle(f.Fd()), f.Name())
}

func (f *osFile) SetRights(perm fs.FileMode, _ int) error { return f.Chmod(perm) }

func (f *osFile) SyncData() error              { return f.Sync() }
func (f *osFile) Preallocate(size int64) error { return fill(f.File, size) }
func (f *osFile) Free() (int64, error)         { return 0, errors.ErrUnsupported }
func (f *osFile) Lock(LockMode) error          { return errors.ErrUnsupported }
func (f *osFile) Unlock() error                { return nil }

// Lstat describes a name; see [FS].
func (osFS) Lstat(name string) (Info, error) {
	text, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	h, err := syscall.CreateFile(text, 0,
		syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE|syscall.FILE_SHARE_DELETE, nil,
		syscall.OPEN_EXISTING, syscall.FILE_FLAG_BACKUP_SEMANTICS|syscall.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	defer syscall.CloseHandle(h)
	return stat(h, name)
}

func stat(h syscall.Handle, name string) (Info, error) {
	var d syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(h, &d); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	mode := fs.FileMode(0o666)
	if d.FileAttributes&syscall.FILE_ATTRIBUTE_READONLY != 0 {
		mode = 0o444
	}
	switch {
	case d.FileAttributes&syscall.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		mode |= fs.ModeSymlink
	case d.FileAttributes&syscall.FILE_ATTRIBUTE_DIRECTORY != 0:
		mode |= fs.ModeDir
	}
	return Info{
		ID:      ID{uint64(d.VolumeSerialNumber), uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow)},
		Owner:   NoOwner,
		Group:   NoOwner,
		Links:   uint64(d.NumberOfLinks),
		Size:    int64(d.FileSizeHigh)<<32 | int64(d.FileSizeLow),
		Mode:    mode,
		ModTime: time.Unix(0, d.LastWriteTime.Nanoseconds()),
	}, nil
}

// SyncDir does nothing: the system keeps names in a journal.
func (osFS) SyncDir(string) error { return nil }

// IsFull reports whether err means that there is no room left on the file
// system.
func IsFull(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, syscall.ENOSPC)
}
