// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package vfs

import (
	"io/fs"
	"os"
)

// On these systems files have no identity: all count as one file with one name.

func (f *osFile) Stat() (Info, error) {
	info, err := f.File.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

// Lstat describes a name; see [FS].
func (osFS) Lstat(name string) (Info, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func infoOf(info fs.FileInfo) Info {
	return Info{Owner: NoOwner, Group: NoOwner, Links: 1, Size: info.Size(), Mode: info.Mode(),
		ModTime: info.ModTime()}
}

// IsFull reports whether err means that there is no room left on the file
// system.
func IsFull(error) bool { return false }
