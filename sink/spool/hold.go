// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"os"

	"github.com/nib-log/nib/internal/vfs"
)

var errReplaced = errors.New("the directory or its lock file was removed")

// held reports whether the lock file is still the one in the directory. If the
// directory was removed, another process may have made and locked a new one:
// files there with the names of this spool belong to that process. Then lines
// continue in the mapped segments, and are refused after that, until the
// process is restarted.
func (d *dir) held() error {
	f, ok := d.lock.(vfs.File)
	if !ok {
		return nil // the system does not remove open files
	}
	own, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := d.fs.Lstat(d.name("lock"))
	if err == nil && named.ID != own.ID || errors.Is(err, fs.ErrNotExist) {
		return errReplaced
	}
	return err
}

// unlink removes a file of the spool, if it is there and not another one's. It
// returns the file if what that takes up is to be given back by a sweeper.
func (d *dir) unlink(name string) (vfs.File, error) {
	switch err := d.held(); {
	case err == errReplaced:
		return nil, nil
	case err != nil:
		return nil, err // it may be another one's
	}
	var f vfs.File
	if vfs.CanRenameOpen { // and remove
		f, _ = d.fs.Open(d.name(name), os.O_RDWR, 0) // without it, all is given back here
	}
	err := d.fs.Remove(d.name(name))
	if err != nil && f != nil {
		_ = f.Close() // nothing was written to it
		f = nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}
