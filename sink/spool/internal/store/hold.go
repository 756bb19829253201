// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"os"

	"github.com/nib-log/nib/internal/vfs"
)

var ErrReplaced = errors.New("the directory or its lock file was removed")

// Held reports whether the lock file is still the one in the directory. If the
// directory was removed, another process may have made and locked a new one:
// files there with the names of this spool belong to that process. Then lines
// continue in the mapped segments, and are refused after that, until the
// process is restarted.
func (d *Dir) Held() error {
	f, ok := d.Lock.(vfs.File)
	if !ok {
		return nil // the system does not remove open files
	}
	own, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := d.FS.Lstat(d.Name("lock"))
	if err == nil && named.ID != own.ID || errors.Is(err, fs.ErrNotExist) {
		return ErrReplaced
	}
	return err
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
