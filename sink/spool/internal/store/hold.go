// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/nib-log/nib/internal/vfs"
)

// A hold is the lock of a directory.
type hold struct {
	Lock   io.Closer
	id     vfs.ID     // of the directory; none if the lock file is not made again
	lockMu sync.Mutex // protects Lock and id
}

var ErrReplaced = errors.New("the directory or its lock file was removed")

// Held reports whether this process has the lock of the directory. If the lock
// file was removed, as by a cleaner of old files, Held makes and locks it
// again. If another process was faster, or the directory was removed, files
// there with the names of this spool belong to another one. Then lines continue
// in the mapped segments, and are refused after that, until the process is
// restarted.
func (d *Dir) Held() error {
	d.lockMu.Lock()
	defer d.lockMu.Unlock()
	err := d.isNamed()
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.lockAgain(); err == nil {
			sign(d.Lock)
		}
	}
	return err
}

// isNamed returns ErrReplaced if another file has the name of the lock file,
// and fs.ErrNotExist if none has.
func (d *Dir) isNamed() error {
	f, ok := d.Lock.(vfs.File)
	if !ok {
		return nil // the system does not remove open files
	}
	own, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := d.FS.Lstat(d.Name("lock"))
	if err == nil && named.ID != own.ID {
		return ErrReplaced
	}
	return err
}

// lockAgain makes the lock file again and locks it. Processes that open the
// spool lock the file that has the name, and check afterwards that it has: so
// only one gets it.
func (d *Dir) lockAgain() error {
	info, err := d.FS.Lstat(d.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.ID != d.id {
		return ErrReplaced
	}
	if err != nil {
		return err
	}
	f, err := d.FS.Open(d.Name("lock"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		if err = f.Lock(vfs.Exclusive); err != nil {
			_ = f.Close() // nothing was written
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist) || errors.Is(err, vfs.ErrLocked):
		return ErrReplaced
	case err != nil:
		return err
	}
	_ = d.Lock.Close() // the contents are only informative
	d.Lock = f
	return nil
}

// Touch makes the lock file younger, and makes it again if it was removed:
// programs that delete old files look at the time of the last change or of the
// last access.
func (d *Dir) Touch() error {
	if err := d.Held(); err != nil {
		return err
	}
	d.lockMu.Lock()
	defer d.lockMu.Unlock()
	sign(d.Lock)
	if f, ok := d.Lock.(vfs.File); ok {
		var b [1]byte
		_, _ = f.ReadAt(b[:], 0) // only for the time of the access
	}
	return nil
}

// isTight reports whether the volume has less free space than least.
func (h *hold) isTight(least int64) bool {
	h.lockMu.Lock()
	defer h.lockMu.Unlock()
	f, ok := h.Lock.(vfs.File)
	if !ok || least == 0 {
		return false
	}
	free, err := f.Free()
	return err == nil && free < least
}

// unlink removes a file of the spool, if it exists and does not belong to
// another spool. It returns the file if the sweeper is to free its space.
func (d *Dir) unlink(name string) (vfs.File, error) {
	switch err := d.Held(); {
	case err == ErrReplaced:
		return nil, nil
	case err != nil:
		return nil, err // the file may belong to another spool
	}
	var f vfs.File
	if vfs.CanRenameOpen { // the file can be renamed and removed while it is open
		f, _ = d.FS.Open(d.Name(name), os.O_RDWR, 0) // without f, all space is freed here
	}
	if err := d.FS.Remove(d.Name(name)); err != nil {
		if f != nil {
			_ = f.Close() // nothing was written
		}
		return nil, Ignore(err, fs.ErrNotExist)
	}
	return f, nil
}
