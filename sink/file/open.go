// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/nib-log/nib/internal/vfs"
)

// A path may stop referring to the open file: logrotate renames the file, an
// administrator deletes it, another process that logs to the same path rotates
// it. So the sink checks periodically whether the path still refers to the open
// file, and follows the path.
//
// A writer holds a shared lock on its file, even after a rename; a process that
// deletes a file, or replaces it by its compressed form, first locks it
// exclusively. That may have happened between opening the file and locking it,
// so the file is used only if the path still refers to it after it was locked.

// openTries is the number of times that a name may change while it is being
// opened.
const openTries = 10

// errMoved means that the path referred to another file each time.
var errMoved = errors.New("the file at this name keeps changing")

// open opens the file that has the name, or creates it, and takes a shared
// lock on it.
func (l *liveFile) open() (f vfs.File, info vfs.Info, err error) {
	for range openTries {
		if f, info, err = l.tryOpen(); err != errMoved {
			return f, info, err
		}
	}
	return nil, vfs.Info{}, err
}

func (l *liveFile) tryOpen() (f vfs.File, info vfs.Info, err error) {
	flag := os.O_RDWR | os.O_APPEND // reading is needed for the last byte
	info, err = l.fs.Lstat(l.path)
	switch {
	case err == nil:
		if err := validateFile(info); err != nil {
			return nil, vfs.Info{}, err
		}
	case errors.Is(err, fs.ErrNotExist):
		flag |= os.O_CREATE | os.O_EXCL
	default:
		return nil, vfs.Info{}, err
	}
	f, err = l.fs.Open(l.path, flag, l.c.Mode)
	if err != nil {
		existed := flag&os.O_CREATE == 0
		if existed && errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
			err = errMoved
		}
		return nil, vfs.Info{}, err
	}
	if info, err = l.hold(f); err != nil {
		_ = f.Close() // nothing was written
		return nil, vfs.Info{}, err
	}
	if created := flag&os.O_CREATE != 0; created && l.given.Mode == 0 && l.rights.Mode != 0 {
		if err := keepRights(f, info, l.rights); err != nil {
			l.errors.report("rotate", err)
		}
	}
	return f, info, nil
}

// keepRights gives the new file f, which is described by info, the permissions
// and the group of old.
func keepRights(f vfs.File, info, old vfs.Info) error {
	group := vfs.NoOwner
	if info.Group != old.Group {
		group = old.Group
	}
	if group == vfs.NoOwner && info.Mode == old.Mode {
		return nil
	}
	return f.SetRights(old.Mode.Perm(), group)
}

// hold locks f and ensures that the path refers to it.
func (l *liveFile) hold(f vfs.File) (vfs.Info, error) {
	lockErr := f.Lock(vfs.Shared)
	if lockErr != nil && lockErr != vfs.ErrLocked && !errors.Is(lockErr, errors.ErrUnsupported) {
		return vfs.Info{}, lockErr
	}
	info, err := f.Stat()
	if err != nil {
		return vfs.Info{}, err
	}
	switch named, err := l.isNamed(l.path, info.ID); {
	case err != nil:
		return vfs.Info{}, err
	case !named:
		return vfs.Info{}, errMoved
	case lockErr == vfs.ErrLocked: // not held for a compression: the file would have another name
		return vfs.Info{}, errInUse
	}
	return info, validateFile(info)
}

// validateFile rejects files that are not suitable for a log: a link, a FIFO, a
// device, a file with a second name, or a file of another user, who can put one
// into a directory like /tmp.
func validateFile(info vfs.Info) error {
	if t := info.Mode.Type(); t != 0 {
		return fmt.Errorf("%w but %s", errNotRegular, describe(t))
	}
	if info.Links > 1 {
		return fmt.Errorf("%w: %d hard links", errLinked, info.Links)
	}
	return validateOwner(info)
}

// validateOwner rejects a file that is owned neither by root nor by the user of
// this process.
func validateOwner(info vfs.Info) error {
	if info.Foreign() {
		return fmt.Errorf("%w: %d, this process is user %d: chown it, or run as its owner",
			errOwner, info.Owner, os.Geteuid())
	}
	return nil
}

// describe returns the name of a file type.
func describe(t fs.FileMode) string {
	switch {
	case t&fs.ModeSymlink != 0:
		return "a symbolic link"
	case t&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case t&fs.ModeDir != 0:
		return "a directory"
	case t&fs.ModeSocket != 0:
		return "a socket"
	case t&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
