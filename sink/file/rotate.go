// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// rotateTimeout is how long Rotate waits while another process rotates.
const (
	rotateTimeout = 10 * time.Second
	rotateStep    = time.Millisecond
)

// Rotate ends the file and starts a new one, unless the file is empty or
// another process has just rotated it. It writes buffered lines to the old file
// first. On an error the old file stays in use.
func (s *Sink) Rotate() error {
	for start := time.Now(); ; time.Sleep(rotateStep) {
		err := s.rotateNow()
		if !errors.Is(err, vfs.ErrLocked) {
			return err
		}
		if time.Since(start) > rotateTimeout {
			s.mu.Lock()
			defer s.unlock()
			return s.errors.returned("rotate", err)
		}
	}
}

func (s *Sink) rotateNow() error {
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return errClosed
	}
	s.flushBuffer(nil)
	if s.file != nil {
		if info, err := s.file.Stat(); err != nil {
			s.errors.report("rotate", err)
		} else {
			s.size = info.Size // includes the lines of all writers
		}
	}
	if s.size == 0 {
		return nil
	}
	err := s.rotate()
	if err == nil || errors.Is(err, vfs.ErrLocked) {
		return err
	}
	return s.errors.returned("rotate", err)
}

// Reopen opens the file that has the name now, creating it if necessary, and
// closes the old one, as a program does on SIGHUP after logrotate has renamed
// the file. It writes buffered lines to the old file first. On an error the old
// file stays in use.
func (s *Sink) Reopen() error {
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return errClosed
	}
	s.flushBuffer(nil)
	if err := s.reopen(); err != nil {
		return s.errors.returned("open", err)
	}
	return nil
}

// tryRotate rotates, and ensures that a failure does not cost every line
// another attempt. Until it succeeds, lines go to the old file. The lock is
// held.
func (s *Sink) tryRotate(now int64) {
	if err := s.rotate(); err != nil && s.rotation.postpone(now, err) {
		s.errors.report("rotate", err)
	}
}

// rotate rotates. On an error the old file stays in use, under its old or its
// new name. The lock is held.
func (s *Sink) rotate() error {
	if s.file == nil { // the last rotation has let go of it; see letGo
		return s.reopen()
	}
	lock, err := s.takeTurn()
	if err != nil {
		return err
	}
	defer lock.Close()
	info, err := s.fs.Lstat(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || info.ID != s.id { // another process was first
		s.stats.Followed++
		return s.reopen()
	}
	s.rights = info
	if s.resize(info.Size); s.size == 0 { // it was truncated
		return nil
	}
	s.endLine()
	s.syncOld()
	if !vfs.CanRenameOpen {
		s.letGo()
	}
	name, err := s.rotation.moveAway(s.id)
	if name == "" {
		if !vfs.CanRenameOpen {
			err = errors.Join(err, s.reopen())
		}
		return err
	}
	if err != nil {
		s.errors.report("rotate", err)
	}
	s.stats.Rotations++
	s.rotation.succeeded()
	return s.reopen()
}

// endLine ends a partial last line of the file, so that the old files can be
// concatenated. It may fail on a full disk.
func (s *Sink) endLine() {
	if s.unseen {
		s.seeEnd()
	}
	if s.torn {
		n, _ := s.file.Write(newline)
		s.wrote(newline[:n])
	}
}

var newline = []byte{'\n'}

// letGo closes the file on systems that cannot rename an open file.
func (s *Sink) letGo() {
	if err := s.file.Close(); err != nil {
		s.errors.report("close", err)
	}
	s.file = nil
}

// lookAtClock rotates if the schedule requires it, and ensures that the next
// check is not later than the schedule. The lock is held.
func (s *Sink) lookAtClock(now int64) {
	r := &s.rotation
	if r.never() {
		return
	}
	wall := s.clock.wall()
	if s.size > 0 && !wall.Before(r.due) && now >= r.retryAt && s.mayRotate() {
		s.tryRotate(now)
		s.checkAt = now + checkEvery
	}
	if left := r.left(wall, s.size == 0); left > 0 {
		s.checkAt = min(s.checkAt, now+left)
	}
}
