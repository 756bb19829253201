// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// Old files are deleted and compressed by a goroutine that is started when the
// sink closes a file, and ends when there is nothing left to do. A file that
// another process still writes to is left to that process, which will close it,
// too.

// A tidying is the state of that goroutine.
type tidying struct {
	running, again bool // protected by the lock of the sink, like the next three
	failed         bool // something remains to be done
	retryAt        int64
	pause          int64
	quit           atomic.Bool // do not compress any more files
	done           sync.WaitGroup
}

// Failed tidying is retried after a pause that doubles from firstTidy to
// longestTidy, if there are lines to write.
const (
	firstTidy   = int64(time.Second)
	longestTidy = int64(10 * time.Minute)
)

// retryTidying starts the goroutine again if it has failed and the pause is
// over. The lock of the sink is held.
func (s *Sink) retryTidying(now int64) {
	if t := &s.tidying; t.failed && !t.running && now >= t.retryAt {
		s.startTidying()
	}
}

// startTidying starts the goroutine, or makes it run once more. The lock of the
// sink is held.
func (s *Sink) startTidying() {
	t := &s.tidying
	switch {
	case s.closed, s.c.Compress == nil && s.c.MaxBackups == 0 && s.c.MaxAge == 0 && s.c.MaxTotal == 0:
	case t.running:
		t.again = true
	default:
		t.running = true
		t.done.Add(1)
		go s.tidy()
	}
}

// stopTidying interrupts compression. Files are still deleted.
func (s *Sink) stopTidying() { s.tidying.quit.Store(true) }

// awaitGoroutines returns when no goroutine is left.
func (s *Sink) awaitGoroutines() {
	if s.buffer != nil {
		s.buffer.firing.Wait()
	}
	s.tidying.done.Wait()
}

func (s *Sink) tidy() {
	defer s.tidying.done.Done()
	ended := false
	defer func() {
		if !ended { // a compressor has called runtime.Goexit
			s.mu.Lock()
			s.tidying.running = false
			s.pauseTidying()
			s.mu.Unlock()
		}
	}()
	for !ended {
		s.mu.Lock()
		s.tidying.failed = false
		s.mu.Unlock()
		s.tidyOnce()
		ended = s.tidied()
	}
}

// tidied reports whether the goroutine ends.
func (s *Sink) tidied() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.tidying
	if t.again {
		t.again = false
		return false
	}
	t.running = false
	if t.failed {
		s.pauseTidying()
	} else {
		t.pause = 0
	}
	return true
}

// pauseTidying delays the next attempt. The lock of the sink is held.
func (s *Sink) pauseTidying() {
	t := &s.tidying
	t.failed = true
	t.pause = min(max(2*t.pause, firstTidy), longestTidy)
	t.retryAt = s.clock.mono() + t.pause
}

// tidyOnce deletes the files that exceed MaxAge or MaxBackups, compresses the
// rest, and then deletes those that exceed MaxTotal.
func (s *Sink) tidyOnce() {
	if s.c.MaxBackups > 0 || s.c.MaxAge > 0 {
		now := s.clock.wall()
		s.deleteIf(func(i int, b backup) bool {
			return s.c.MaxBackups > 0 && i >= s.c.MaxBackups || s.c.MaxAge > 0 && now.Sub(b.time) > s.c.MaxAge
		})
	}
	if s.c.Compress != nil {
		s.compressAll()
	}
	if s.c.MaxTotal > 0 {
		total := int64(0)
		s.deleteIf(func(_ int, b backup) bool {
			total += b.size
			return total > s.c.MaxTotal
		})
	}
}

// deleteIf deletes the old files for which outdated returns true. It calls
// outdated for each, from the newest to the oldest.
func (s *Sink) deleteIf(outdated func(i int, b backup) bool) {
	for i, b := range s.backups() {
		if !outdated(i, b) {
			continue
		}
		if err := s.remove(b); err != nil {
			s.complain("delete an old file of", err)
		}
	}
}

// compressAll compresses old files, the oldest first, until Close interrupts
// it.
func (s *Sink) compressAll() {
	for _, b := range slices.Backward(s.backups()) {
		if b.packed != "" {
			continue
		}
		if s.tidying.quit.Load() {
			return
		}
		if err := s.compress(b); err != nil && !errors.Is(err, errBroken) && err != vfs.ErrLocked {
			s.complain("compress an old file of", err)
		}
	}
}

// complain reports an error of the goroutine, which is then restarted after a
// pause.
func (s *Sink) complain(op string, err error) {
	err = s.wrap(op, err) // called without the lock: it may call methods of a compressor's error
	s.mu.Lock()
	defer s.unlock()
	s.tidying.failed = true
	s.stats.Errors++
	s.announce(op, err)
}

// complainUnlessGone reports err, unless it is nil or means that the file does
// not exist: another process was first.
func (s *Sink) complainUnlessGone(op string, err error) {
	if err = unlessGone(err); err != nil {
		s.complain(op, err)
	}
}

// backups lists the old files, newest first, and deletes leftovers of
// unfinished rotations and compressions. A file that cannot be examined is
// omitted, and so never deleted.
func (s *Sink) backups() []backup {
	names, err := s.fs.ReadDir(s.dir)
	if err != nil {
		s.complain("read the directory of", err)
		return nil
	}
	var list []backup
	var empty []string
	for _, name := range names {
		b, ok := s.naming.parse(name)
		if !ok {
			continue
		}
		info, err := s.fs.Lstat(filepath.Join(s.dir, name))
		switch {
		case err != nil:
			s.complainUnlessGone("look at an old file of", err)
		case !info.Mode.IsRegular():
		case b.temp:
			// While a file is being compressed, its source exists.
			if _, found := slices.BinarySearch(names, b.plain()); !found {
				s.complainUnlessGone("delete an old file of", s.fs.Remove(filepath.Join(s.dir, name)))
			}
		case info.Size == 0:
			empty = append(empty, name)
		default:
			b.size = info.Size
			list = append(list, b)
		}
	}
	s.removeEmpty(empty)
	now := s.clock.wall()
	slices.SortFunc(list, func(a, b backup) int { return a.compareAt(b, now) })
	return list
}

// removeEmpty deletes the empty files with which an unfinished rotation has
// reserved a name. During a rotation they must not be deleted: a moment later
// the name is that of a file with lines.
func (s *Sink) removeEmpty(names []string) {
	if len(names) == 0 {
		return
	}
	lock, err := s.takeTurn()
	if err != nil {
		if !errors.Is(err, vfs.ErrLocked) { // a process that rotates tidies up as well
			s.complain("delete an old file of", err)
		}
		return
	}
	defer lock.Close()
	for _, name := range names {
		path := filepath.Join(s.dir, name)
		info, err := s.fs.Lstat(path)
		if err == nil && info.Mode.IsRegular() && info.Size == 0 {
			err = s.fs.Remove(path)
		}
		s.complainUnlessGone("delete an old file of", err)
	}
}

// remove deletes an old file, unless a process writes to it, or it is not a
// regular file. A file that stays locked is an error: another process closes a
// file a tenth of a second after its rotation, if it has lines to write.
func (s *Sink) remove(b backup) error {
	f, info, err := s.seize(b.name)
	if err == vfs.ErrLocked && s.clock.wall().Sub(b.time) < longLocked {
		return nil
	}
	if f == nil {
		return err
	}
	defer f.Close()
	return s.unlink(b.name, f, info)
}

const longLocked = time.Minute

// seize opens an old file and locks it exclusively. It returns nil without an
// error if the name is not that of a regular file, and vfs.ErrLocked if a
// process still writes to it, or reads it under a lock. A file without lines is
// not seized; see removeEmpty.
func (s *Sink) seize(name string) (vfs.File, vfs.Info, error) {
	path := filepath.Join(s.dir, name)
	info, err := s.fs.Lstat(path)
	if err != nil || !info.Mode.IsRegular() {
		return nil, info, unlessGone(err)
	}
	f, err := s.fs.Open(path, os.O_RDWR, 0) // a network file system locks exclusively only files open for writing
	if errors.Is(err, fs.ErrPermission) {
		f, err = s.fs.Open(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, info, unlessGone(err)
	}
	err = f.Lock(vfs.Exclusive)
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if err == nil {
		info, err = f.Stat()
	}
	named := false
	if err == nil && info.Mode.IsRegular() && info.Size > 0 {
		named, err = s.isNamed(path, info)
	}
	if named {
		return f, info, nil
	}
	_ = f.Close() // nothing was written
	return nil, info, err
}

// unlink deletes the name of a seized file, if it still refers to that file.
func (s *Sink) unlink(name string, f vfs.File, info vfs.Info) error {
	path := filepath.Join(s.dir, name)
	named, err := s.isNamed(path, info)
	if !named {
		return err
	}
	if !vfs.CanRenameOpen {
		_ = f.Close() // nothing was written
	}
	return unlessGone(s.fs.Remove(path))
}

// isNamed reports whether path refers to the file that info describes.
func (s *Sink) isNamed(path string, info vfs.Info) (bool, error) {
	named, err := s.fs.Lstat(path)
	return err == nil && named.ID == info.ID, unlessGone(err)
}

// unlessGone returns err, or nil if it means that the file does not exist:
// another process was first.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
