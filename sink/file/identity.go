// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

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

// openLive opens the file that has the name, or creates it, and takes a shared
// lock on it.
func (s *Sink) openLive() (f vfs.File, info vfs.Info, err error) {
	for range openTries {
		if f, info, err = s.openOnce(); err != errMoved {
			return f, info, err
		}
	}
	return nil, vfs.Info{}, err
}

func (s *Sink) openOnce() (f vfs.File, info vfs.Info, err error) {
	flag := os.O_RDWR | os.O_APPEND // reading is needed for the last byte
	info, err = s.fs.Lstat(s.path)
	switch {
	case err == nil:
		if err := fit(info); err != nil {
			return nil, vfs.Info{}, err
		}
	case errors.Is(err, fs.ErrNotExist):
		flag |= os.O_CREATE | os.O_EXCL
	default:
		return nil, vfs.Info{}, err
	}
	f, err = s.fs.Open(s.path, flag, s.c.Mode)
	if err != nil {
		existed := flag&os.O_CREATE == 0
		if existed && errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
			err = errMoved
		}
		return nil, vfs.Info{}, err
	}
	if info, err = s.claim(f); err != nil {
		_ = f.Close() // nothing was written
		return nil, vfs.Info{}, err
	}
	if created := flag&os.O_CREATE != 0; created && s.given.Mode == 0 && s.rights.Mode != 0 {
		if err := keepRights(f, info, s.rights); err != nil {
			s.errors.report("rotate", err)
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

// claim locks f and ensures that the path refers to it.
func (s *Sink) claim(f vfs.File) (vfs.Info, error) {
	lockErr := f.Lock(vfs.Shared)
	if lockErr != nil && lockErr != vfs.ErrLocked && !errors.Is(lockErr, errors.ErrUnsupported) {
		return vfs.Info{}, lockErr
	}
	info, err := f.Stat()
	if err != nil {
		return vfs.Info{}, err
	}
	named, err := s.fs.Lstat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && named.ID != info.ID:
		return vfs.Info{}, errMoved
	case err != nil:
		return vfs.Info{}, err
	case lockErr == vfs.ErrLocked: // not held for a compression: the file would have another name
		return vfs.Info{}, ErrInUse
	}
	return info, fit(info)
}

// fit rejects files that are not suitable for a log: a link, a FIFO, a device,
// a file with a second name, or one that another user has put there, as anyone
// can in a directory like /tmp.
func fit(info vfs.Info) error {
	if t := info.Mode.Type(); t != 0 {
		return fmt.Errorf("%w but %s", ErrNotRegular, describe(t))
	}
	if info.Links > 1 {
		return fmt.Errorf("%w: %d hard links", ErrLinked, info.Links)
	}
	return fitOwner(info)
}

// fitOwner rejects a file that is owned neither by root nor by the user of this
// process.
func fitOwner(info vfs.Info) error {
	if info.Foreign() {
		return fmt.Errorf("%w: %d, this process is user %d: chown it, or run as its owner", ErrOwner, info.Owner, os.Geteuid())
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

// reopen opens the file that has the name now and closes the old one. On an
// error nothing changes. The lock is held.
func (s *Sink) reopen() error {
	f, info, err := s.openLive()
	if err != nil {
		return err
	}
	old := s.file
	s.syncOld()
	if info.ID != s.id {
		s.torn = false
	}
	s.file, s.id, s.size, s.rights = f, info.ID, info.Size, info
	s.unseen, s.unnamed, s.unsynced = info.Size > 0, true, false
	s.rotation.begin(info.ModTime)
	s.checkNow() // computes the time until due
	if old != nil {
		if err := old.Close(); err != nil {
			s.errors.report("close", err)
		}
	}
	s.retention.start()
	return nil
}

// syncOld syncs a file before it is closed, if the policy requires it. The lock
// is held.
func (s *Sink) syncOld() {
	if s.unsynced && (s.durable || s.c.Sync != SyncNever) {
		if err := s.sync(); err != nil {
			s.undurable = err
			s.errors.announce("sync", err)
		}
	}
}

// look checks the file against its name, the clock against the schedule and the
// free space against MinFree. The lock is held.
func (s *Sink) look(now int64) error {
	s.checkAt = now + checkEvery
	info, err := s.fs.Lstat(s.path)
	switch {
	case err == nil && info.ID == s.id && s.file != nil:
		s.resize(info.Size)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		if err = s.reopen(); err == nil {
			s.stats.Followed++
			s.checkAt = now + checkEvery
		}
	}
	if err != nil {
		if s.orphaned() {
			return s.fail("open", err)
		}
		s.errors.report("open", err) // the open file still has a name, so lines are not lost
	}
	if s.c.MinFree > 0 && s.file != nil {
		if free, err := s.file.Free(); err == nil && free < s.c.MinFree {
			return s.fail("write", errLow)
		}
	}
	s.lookAtClock(now)
	s.retention.retry(now)
	s.lull.begin(now)
	return nil
}

// checkNow lets the next line check the name and the schedule. The lock is
// held.
func (s *Sink) checkNow() {
	s.checkAt = s.clock.mono()
	s.lull.on.Store(false)
}

// A lull is the time until the next check. Reading the clock takes a twentieth
// of the time of a line. So while lines come fast, a timer ends the lull, and
// no line reads the clock before.
type lull struct {
	checkAt int64 // monotonic time of the next check of the name
	on      atomic.Bool
	timer   *time.Timer // nil in tests, which have their own clock
	lines   int         // lines since the last check
}

// fastLines is from how many lines between two checks on a timer takes less
// time than the clock.
const fastLines = 1000

// begin begins a lull if there were many lines since the last check.
func (l *lull) begin(now int64) {
	if l.timer != nil && l.lines >= fastLines {
		l.on.Store(true)
		l.timer.Reset(time.Duration(l.checkAt - now))
	}
	l.lines = 0
}

// end ends it for good.
func (l *lull) end() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// resize records the current size of the file. It has shrunk if the file was
// truncated, as by copytruncate; lines still go to its end.
func (s *Sink) resize(size int64) {
	if size < s.size {
		s.stats.Truncations++
		s.torn, s.unseen = false, true
	}
	s.size = size
}

// orphaned reports whether lines written now would be lost because the file no
// longer has a name.
func (s *Sink) orphaned() bool {
	if s.file == nil {
		return true
	}
	info, err := s.file.Stat()
	return err != nil || info.Links == 0
}
