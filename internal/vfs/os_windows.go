// SPDX-License-Identifier: Apache-2.0

package vfs

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// errDiskFull is ERROR_DISK_FULL.
const errDiskFull = syscall.Errno(112)

func (f *osFile) Stat() (Info, error) {
	return stat(syscall.Handle(f.Fd()), f.Name())
}

// Lstat describes a name; see [FS].
func (osFS) Lstat(name string) (Info, error) {
	text, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	h, err := syscall.CreateFile(text, 0,
		syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE|syscall.FILE_SHARE_DELETE, nil,
		syscall.OPEN_EXISTING,
		syscall.FILE_FLAG_BACKUP_SEMANTICS|syscall.FILE_FLAG_OPEN_REPARSE_POINT, 0)
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
		ID: ID{uint64(d.VolumeSerialNumber),
			uint64(d.FileIndexHigh)<<32 | uint64(d.FileIndexLow)},
		Owner:   NoOwner,
		Group:   NoOwner,
		Links:   uint64(d.NumberOfLinks),
		Size:    int64(d.FileSizeHigh)<<32 | int64(d.FileSizeLow),
		Mode:    mode,
		ModTime: time.Unix(0, d.LastWriteTime.Nanoseconds()),
	}, nil
}

// IsFull reports whether err means that there is no room left on the file
// system.
func IsFull(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, syscall.ENOSPC)
}
