// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/nib-log/nib/internal/vfs"
)

// A location is where a log is, and what all parts of a sink share. Only its
// reporter changes, which has a lock, and isTaken.
type location struct {
	c, given Config // with and without defaults
	fs       vfs.FS
	path     string // absolute
	dir      string
	naming   naming
	errors   reporter
	isTaken  atomic.Bool // a goroutine has the turn
}

// newLocation makes the location of an absolute path. c is given with defaults.
func newLocation(path string, c, given Config) *location {
	dir, base := filepath.Split(path)
	return &location{
		c: c, given: given, fs: c.fs, path: path, dir: filepath.Clean(dir),
		naming: newNaming(base, c.Compress.Extension, c.LumberjackNames),
		errors: reporter{path: path, mono: c.clock.mono, onError: c.OnError},
	}
}

// pathOf returns the path of a file next to the log.
func (l *location) pathOf(name string) string { return filepath.Join(l.dir, name) }

// Processes that log to one path take turns to rotate, using a lock on a
// separate file, which stays next to the log:
//
//	.app.log.lock
//
// Any user who may read a directory, or a log with a mode for other readers,
// may lock it as well, and would block rotation for as long as the lock is
// held. This file has mode 0600. Its name begins with a dot so that patterns of
// collectors such as *.log or app* do not match it.

// lockName returns the name of the lock file of the log called base.
func lockName(base string) string { return "." + base + ".lock" }

// claimsName returns the name of its file of claims; see package mark.
func claimsName(base string) string { return "." + base + ".claims" }

// A turn is the right to rename files of the log.
type turn struct {
	*location
	file vfs.File // nil on a system without locks
}

// Close ends the turn.
func (t turn) Close() (err error) {
	if t.file != nil {
		err = t.file.Close()
	}
	t.isTaken.Store(false)
	return err
}

// takeTurn takes the turn until the result is closed. vfs.ErrLocked means that
// another process has it, or another goroutine. Where files cannot be locked,
// only goroutines take turns.
func (l *location) takeTurn() (io.Closer, error) {
	if !l.isTaken.CompareAndSwap(false, true) {
		return nil, vfs.ErrLocked
	}
	file, err := l.lock()
	if err != nil {
		l.isTaken.Store(false)
		return nil, err
	}
	return turn{l, file}, nil
}

// lock opens and locks the lock file. On a system without locks it returns nil.
func (l *location) lock() (vfs.File, error) {
	if !vfs.CanRenameOpen {
		return nil, nil
	}
	path := l.pathOf(lockName(filepath.Base(l.path)))
	for range openTries {
		f, err := l.fs.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err = l.holdLock(f, path); err == nil {
			return f, nil
		}
		_ = f.Close() // nothing was written
		if !errors.Is(err, errMoved) {
			return nil, err
		}
	}
	return nil, errMoved
}

// holdLock locks f and checks that the path still refers to it: the file may
// have been removed in the meantime.
func (l *location) holdLock(f vfs.File, path string) error {
	err := f.Lock(vfs.Exclusive)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := validateFile(info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if named, err := l.isNamed(path, info.ID); named || err != nil {
		return err
	}
	return errMoved
}

// validateDir rejects a directory of another user, who could replace the log by
// any file.
func (l *location) validateDir() error {
	// The dot makes Lstat follow a link to the directory.
	info, err := l.fs.Lstat(l.dir + string(filepath.Separator) + ".")
	if err != nil {
		return err
	}
	if err := validateOwner(info); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	return nil
}

// isNamed reports whether path refers to the file with the identity id.
func (l *location) isNamed(path string, id vfs.ID) (bool, error) {
	named, err := l.fs.Lstat(path)
	return err == nil && named.ID == id, unlessGone(err)
}

// unlessGone returns err, or nil if it means that the file does not exist:
// another process was first.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
