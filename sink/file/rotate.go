// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// Rotation renames the file and makes a new one. If several processes did so at
// once, the second would rename the new file of the first. So they take turns
// (see takeTurn), and the name must still refer to the file to rotate. The name
// of the old file is first reserved by an empty file, which only one process
// can create, and which the rename then replaces.

const (
	busyPause     = int64(100 * time.Microsecond) // pause before rotation is retried while another process rotates
	firstRotate   = int64(100 * time.Millisecond) // pause after a failure; it doubles up to longestRotate
	longestRotate = int64(10 * time.Second)
	longBusy      = int64(time.Second) // longer than any rotation of another process
	rotateTimeout = 10 * time.Second   // how long Rotate waits while another process rotates
	rotateStep    = time.Millisecond
	maxSeq        = 1_000_000 // names in one microsecond
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
	err := s.rotate()
	if err == nil {
		return
	}
	first := firstRotate
	busy := errors.Is(err, vfs.ErrLocked)
	if busy {
		first = busyPause
	}
	s.rotatePause = min(max(2*s.rotatePause, first), longestRotate)
	s.rotateAt = now + s.rotatePause
	if !busy || s.rotatePause > longBusy {
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
	name, err := s.moveAway()
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
	s.rotateAt, s.rotatePause = 0, 0
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

// moveAway renames the file to a name that is free and returns this name, or ""
// if the file could not be renamed. It may have been renamed although there is
// an error: a network file system may lose the response of its server.
func (s *Sink) moveAway() (name string, err error) {
	t, seq := s.naming.next(s.clock.wall(), s.lastName, s.lastSeq)
	for ; seq < maxSeq; seq++ {
		name = s.at(s.naming.name(t, seq))
		if packed, err := s.wasPacked(name); err != nil {
			return "", err
		} else if packed {
			continue
		}
		err := s.renameTo(name)
		if err != nil {
			switch moved, lookErr := s.isNamed(name, vfs.Info{ID: s.id}); {
			case moved:
			case errors.Is(err, fs.ErrExist):
				continue
			default:
				return "", errors.Join(err, lookErr)
			}
		}
		s.lastName, s.lastSeq = t, seq
		return name, err
	}
	return "", fmt.Errorf("no name is left like %s", name)
}

// renameTo renames the file to name, if it is free.
//
// A rename that replaces a file makes ext4 find blocks for all of the renamed
// file and begin to write it to the disk before the call returns: 8 to 100 ms
// for 50 MiB, during which no line is written, and 0.3 ms without a file to
// replace.
func (s *Sink) renameTo(name string) error {
	err := s.fs.RenameNoReplace(s.path, name)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	f, err := s.fs.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, s.c.Mode)
	if err != nil {
		return err
	}
	_ = f.Close() // nothing was written
	if err = s.fs.Rename(s.path, name); err != nil {
		if info, lookErr := s.fs.Lstat(name); lookErr == nil && info.Size == 0 {
			err = errors.Join(err, unlessGone(s.fs.Remove(name)))
		}
	}
	return err
}

// wasPacked reports whether there is a compressed file that was called name
// before, and that compressing the new one would replace.
func (s *Sink) wasPacked(name string) (bool, error) {
	for _, ext := range s.naming.packed {
		if _, err := s.fs.Lstat(name + ext); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// lookAtClock rotates if the schedule requires it, and ensures that the next
// check is not later than the schedule. The lock is held.
func (s *Sink) lookAtClock(now int64) {
	if s.schedule.never() {
		return
	}
	wall := s.clock.wall()
	if s.size > 0 && !wall.Before(s.due) && now >= s.rotateAt && s.mayRotate() {
		s.tryRotate(now)
		s.checkAt = now + checkEvery
	}
	next := s.schedule.next(wall)
	if s.size == 0 || next.Before(s.due) { // nothing to rotate, or the clock was set back
		s.due = next
	}
	if left := int64(s.due.Sub(wall)); left > 0 {
		s.checkAt = min(s.checkAt, now+left)
	}
}
