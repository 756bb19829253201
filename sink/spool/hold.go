// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"os"

	"github.com/nib-log/nib/internal/vfs"
)

var errReplaced = errors.New("the directory that was opened has been removed, or its lock has")

// held says whether the lock is still the one that others find in the directory. When
// someone has removed the directory, another process may have made and locked a new one:
// what has the names of this spool's files there is not this spool's. Then lines go on in
// the segments that are mapped, and afterwards are refused, until the process is started
// anew.
func (d *dir) held() error {
	f, ok := d.lock.(vfs.File)
	if !ok {
		return nil // a system that lets nobody remove a file that is open
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

// unlink removes a file of the spool, if it is there and not another one's. It returns the file
// if what that takes up is to be given back by a sweeper.
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
