// SPDX-License-Identifier: Apache-2.0

package vfs

import (
	"errors"
	"io/fs"
	"os"
)

// OS returns the file system of the system.
func OS() FS { return osFS{} }

type osFS struct{}

// Open opens a file; see [FS].
func (osFS) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag|openFlags, perm)
	if err != nil {
		return nil, err
	}
	return newFile(f), nil
}

func (osFS) Rename(oldname, newname string) error { return os.Rename(oldname, newname) }
func (osFS) Link(oldname, newname string) error   { return os.Link(oldname, newname) }
func (osFS) Remove(name string) error             { return os.Remove(name) }

// MkdirAll makes a directory and its parents. os.MkdirAll fails with
// fs.ErrExist if another process makes a directory at the same time and removes
// it again, and would succeed now.
func (osFS) MkdirAll(dir string, perm fs.FileMode) error {
	for {
		err := os.MkdirAll(dir, perm)
		var e *fs.PathError
		if !errors.Is(err, fs.ErrExist) || !errors.As(err, &e) {
			return err
		}
		// By now it may be there again.
		info, lookErr := os.Lstat(e.Path)
		if again := lookErr == nil && info.IsDir(); !again && !errors.Is(lookErr, fs.ErrNotExist) {
			return err
		}
	}
}

// ReadDir returns the sorted names in dir.
func (osFS) ReadDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// zeros is the data that fill writes.
var zeros [64 << 10]byte

// fill writes zeros after the end of f until it has the given size, on systems
// that have no call to reserve disk space.
func fill(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	for at := info.Size(); at < size; {
		n, err := f.WriteAt(zeros[:min(size-at, int64(len(zeros)))], at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}
