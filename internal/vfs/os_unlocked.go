// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package vfs

import (
	"errors"
	"io/fs"
	"os"
)

// CanRenameOpen reports whether a file may be renamed while it is open. On
// Windows, package os opens files so that no process can rename or remove them
// while they are open: this replaces the protection of locks on other systems.
const CanRenameOpen = false

// openFlags are the flags that Open adds.
const openFlags = 0

// An osFile is an os.File without its Stat.
type osFile struct{ *os.File }

func newFile(f *os.File) File { return &osFile{f} }

func (f *osFile) SetRights(perm fs.FileMode, _ int) error { return f.Chmod(perm) }

func (f *osFile) SyncData() error              { return f.Sync() }
func (f *osFile) Preallocate(size int64) error { return fill(f.File, size) }
func (f *osFile) Free() (int64, error)         { return 0, errors.ErrUnsupported }
func (f *osFile) Lock(LockMode) error          { return errors.ErrUnsupported }
func (f *osFile) Unlock() error                { return nil }

// SyncDir does nothing: Windows keeps names in a journal.
func (osFS) SyncDir(string) error { return nil }
