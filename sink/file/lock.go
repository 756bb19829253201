// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nib-log/nib/internal/vfs"
)

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

// claimsName returns the name of its file of claims; see claims.go.
func claimsName(base string) string { return "." + base + ".claims" }

type nothing struct{}

func (nothing) Close() error { return nil }

// takeTurn takes the lock until the result is closed. vfs.ErrLocked means that
// another process holds it. On a system without locks it takes none.
func (s *Sink) takeTurn() (io.Closer, error) {
	if !vfs.CanRenameOpen {
		return nothing{}, nil
	}
	path := filepath.Join(s.dir, lockName(filepath.Base(s.path)))
	for range openTries {
		f, err := s.fs.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err = s.holdLock(f, path); err == nil {
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
func (s *Sink) holdLock(f vfs.File, path string) error {
	err := f.Lock(vfs.Exclusive)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := fit(info); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	named, err := s.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && named.ID != info.ID {
		return errMoved
	}
	return err
}
