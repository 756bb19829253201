// SPDX-License-Identifier: Apache-2.0

// Package vfs is the interface between nib and the file system: the operations
// that log files and spools need, and their implementation on the system
// ([OS]). Package vfstest has one in memory, where a test can cut the power and
// make any operation fail, stop halfway or hang.
//
// It is deliberately narrower than package os. No operation follows a link in
// the last element of a name, waits for another process, or leaves a descriptor
// open in a child. Files have an identity, which shows whether a name still
// refers to the open file.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// An FS is a file system. It may be used concurrently. Errors are *fs.PathError
// or *os.LinkError with the system's number inside, unless noted otherwise.
type FS interface {
	// Open opens a file with the flags of package os. A link, in the last
	// element of name, is not followed but an error, and a FIFO is opened
	// without waiting for its other end.
	Open(name string, flag int, perm fs.FileMode) (File, error)

	// Lstat describes the file called name; for a link, the link itself, not
	// its target. 0 allocs on linux/amd64 and linux/arm64, for names of up to
	// 255 bytes.
	Lstat(name string) (Info, error)

	// Rename gives a file a new name, replacing an existing file with that name.
	Rename(oldname, newname string) error

	// RenameNoReplace is Rename, but fails with fs.ErrExist if there is a file
	// called newname. Its error is errors.ErrUnsupported where the system or the
	// file system cannot do that.
	RenameNoReplace(oldname, newname string) error

	// Link gives a file another name, and fails if there is a file with it.
	Link(oldname, newname string) error

	Remove(name string) error
	MkdirAll(dir string, perm fs.FileMode) error

	// ReadDir returns the sorted names in dir.
	ReadDir(dir string) ([]string, error)

	// SyncDir makes the names in dir survive a power failure.
	SyncDir(dir string) error
}

// SyncPath makes the names in dir survive a power failure, and dir itself: a
// new directory above would be lost with all that is in it. A directory above
// is not new if this process may not read it, or if nothing can be written.
func SyncPath(f FS, dir string) error {
	err := f.SyncDir(dir)
	for above := filepath.Dir(dir); err == nil && above != dir; above = filepath.Dir(dir) {
		dir = above
		err = f.SyncDir(dir)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			err = nil
		}
	}
	return err
}

// A File is an open file. Methods may be called concurrently, except Close.
// Offsets and sizes are in bytes.
type File interface {
	// Write writes at the end of a file opened with O_APPEND, otherwise after
	// the last write. It may write less than p without an error, as write(2).
	// Its error is the system's number itself: a full disk costs no
	// allocations.
	Write(p []byte) (n int, err error)

	io.ReaderAt
	io.WriterAt // not with O_APPEND
	io.Closer

	// Sync makes the content and the metadata of the file survive a power failure;
	// SyncData the parts needed to read it again. After an error the state of the
	// disk is unknown, and another Sync does not help: the system considers the
	// pages clean.
	Sync() error
	SyncData() error

	Truncate(size int64) error

	// Preallocate makes the file at least size long, with room on the disk for
	// every byte: writing to it cannot run out of space.
	Preallocate(size int64) error

	// SetRights changes the permissions of the file, and before them its group,
	// unless group is NoOwner.
	SetRights(perm fs.FileMode, group int) error

	// Stat describes the file, even if its name is gone. 0 allocs on Linux.
	Stat() (Info, error)

	// Free returns the number of bytes that this process may still write to the
	// file system.
	Free() (int64, error)

	// Lock locks the file together with others (Shared) or alone (Exclusive),
	// until Unlock or Close, or returns ErrLocked if another lock conflicts. It
	// does not wait: the holder of a lock may be suspended. Locks are advisory.
	// errors.ErrUnsupported means that this file system has no locks.
	Lock(LockMode) error
	Unlock() error

	// Fd returns the descriptor, or ^uintptr(0) if there is none.
	Fd() uintptr
}

// Info describes a file.
type Info struct {
	ID      ID
	Owner   int    // user ID of its owner, NoOwner where the system has none
	Group   int    // group ID of the file, NoOwner where the system has none
	Links   uint64 // number of its names
	Size    int64
	Mode    fs.FileMode
	ModTime time.Time
}

// NoOwner is the owner and group of a file on systems without user IDs.
const NoOwner = -1

// Foreign reports whether the file belongs to a user other than root and the
// one of this process: its owner may change it at any time.
func (i Info) Foreign() bool {
	return i.Owner != NoOwner && i.Owner != 0 && i.Owner != os.Geteuid()
}

// An ID distinguishes a file from all others that exist at the same time.
type ID struct{ Device, Inode uint64 }

// A LockMode determines whether a lock is shared.
type LockMode int

// The modes of File.Lock.
const (
	Shared LockMode = iota
	Exclusive
)

// ErrLocked is the error for a lock that another open file holds.
var ErrLocked = errors.New("nib/vfs: the file is locked by another process or handle")
