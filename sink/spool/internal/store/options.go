// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"

	"github.com/nib-log/nib/internal/vfs"
)

// The errors of OpenDir.
var (
	ErrInUse  = errors.New("another process has the spool open")
	ErrUnsafe = errors.New("other users may write to the directory or its files")
	ErrAdopt  = errors.New(
		"locks are not reliable on this file system, and another process has used the spool: set " +
			"Config.Adopt once that process has ended")
)

// Options configures how a directory is used, and describes where it is.
type Options struct {
	FS      vfs.FS
	Shared  bool  // other processes have slots in the same directory
	Adopt   bool  // take over a spool left on a volume without reliable locks
	Written bool  // write segments instead of mapping them
	MinFree int64 // bytes of the volume to keep free

	Volume Volume
	Boot   uint64 // a label of the current boot
}
