// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"

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

// unlink removes a file of the spool, if it is there and not another one's.
func (d *dir) unlink(name string) error {
	if d.held() == errReplaced {
		return nil
	}
	err := d.fs.Remove(d.name(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
