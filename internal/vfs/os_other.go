// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package vfs

import (
	"errors"
	"io/fs"
	"os"
)

// CanRenameOpen reports whether a file may be renamed while it is open.
const CanRenameOpen = false

// openFlags are the flags that Open adds.
const openFlags = 0

// An osFile is an os.File without its Stat. On these systems files have no
// identity: all count as one file with one name.
type osFile struct{ *os.File }

func newFile(f *os.File) File { return &osFile{f} }

func (f *osFile) Stat() (Info, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func (f *osFile) SetRights(perm fs.FileMode, _ int) error { return f.Chmod(perm) }

func (f *osFile) SyncData() error              { return f.Sync() }
func (f *osFile) Preallocate(size int64) error { return fill(f.File, size) }
func (f *osFile) Free() (int64, error)         { return 0, errors.ErrUnsupported }
func (f *osFile) Lock(LockMode) error          { return errors.ErrUnsupported }
func (f *osFile) Unlock() error                { return nil }

// Lstat describes a name; see [FS].
func (osFS) Lstat(name string) (Info, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func infoOf(info fs.FileInfo) Info {
	return Info{Owner: NoOwner, Group: NoOwner, Links: 1, Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}
}

// SyncDir does nothing.
func (osFS) SyncDir(string) error { return nil }

// IsFull reports whether err means that there is no room left on the file
// system.
func IsFull(error) bool { return false }
