// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"

	"github.com/nib-log/nib/internal/vfs"
)

// The errors of openDir.
var (
	ErrInUse  = errors.New("another process has the spool open")
	ErrUnsafe = errors.New("other users may write to the directory or its files")
	ErrAdopt  = errors.New("locks are not reliable on this file system, and another process has used the spool: set Config.Adopt once that process has ended")
)

// Options describe how a directory is used, and where it is.
type Options struct {
	FS      vfs.FS
	Shared  bool  // other processes have slots beside this one
	Adopt   bool  // a spool that was left on an unreliable volume is taken over
	Written bool  // segments are written, not mapped
	MinFree int64 // bytes of the volume that are left to others

	Volume  Volume
	Boot    uint64                   // a label of the system's run
	Host    uint64                   // a label of the machine and its name
	Mounted func(device uint64) bool // reports whether a device has a mounted file system
}
