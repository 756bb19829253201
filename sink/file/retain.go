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

	"github.com/nib-log/nib/internal/vfs"
)

// Old files are deleted and compressed by a goroutine that is started when the
// sink lets go of a file, and ends when there is nothing left to do. A file that
// another process writes to still is left to that process: it will let go of it,
// too.

// A tidying is the state of that goroutine.
type tidying struct {
	running, again bool        // protected by the lock of the sink
	quit           atomic.Bool // no compression any more
	done           sync.WaitGroup
}

// startTidying sees to it that what is old is looked at from now on. The lock of
// the sink is held.
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

// stopTidying breaks compression off. What is to be deleted is deleted yet.
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
	for {
		s.tidyOnce()
		s.mu.Lock()
		if !s.tidying.again {
			s.tidying.running = false
			s.mu.Unlock()
			return
		}
		s.tidying.again = false
		s.mu.Unlock()
	}
}

// tidyOnce deletes what is too old or too many, compresses the rest, and deletes
// what is too much then.
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

// deleteIf deletes the old files that are outdated. It asks for each, from the
// newest to the oldest.
func (s *Sink) deleteIf(outdated func(i int, b backup) bool) {
	for i, b := range s.backups() {
		if !outdated(i, b) {
			continue
		}
		if err := s.remove(b.name); err != nil {
			s.complain("delete an old file of", err)
		}
	}
}

// compressAll compresses old files, the oldest first, until Close breaks it off.
func (s *Sink) compressAll() {
	for _, b := range slices.Backward(s.backups()) {
		if b.packed != "" {
			continue
		}
		if s.tidying.quit.Load() {
			return
		}
		if err := s.compress(b); err != nil && !errors.Is(err, errBroken) {
			s.complain("compress an old file of", err)
		}
	}
}

// complain reports an error of the goroutine.
func (s *Sink) complain(op string, err error) {
	s.mu.Lock()
	defer s.unlock()
	s.report(op, err)
}

// backups lists the old files, newest first, and deletes what was left over by
// rotations and compressions that did not end.
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
		if b.temp {
			// While it is being written, its source is there.
			if _, found := slices.BinarySearch(names, s.naming.plain(b)); !found {
				s.removeFile(name)
			}
			continue
		}
		if b.size = s.sizeOf(name); b.size == 0 {
			empty = append(empty, name)
			continue
		}
		list = append(list, b)
	}
	s.removeEmpty(empty)
	slices.SortFunc(list, backup.compare)
	return list
}

// sizeOf is the size of an old file, or 0 if there is none.
func (s *Sink) sizeOf(name string) int64 {
	info, err := s.fs.Lstat(filepath.Join(s.dir, name))
	if err != nil {
		return 0
	}
	return info.Size
}

// removeEmpty deletes the files that a rotation made to take a name and did not
// come to replace. While one is under way they are not to be touched: a moment
// later the name is that of a file with lines.
func (s *Sink) removeEmpty(names []string) {
	if len(names) == 0 {
		return
	}
	lock, err := s.fs.LockDir(s.dir)
	if err != nil {
		return
	}
	defer lock.Close()
	for _, name := range names {
		if s.sizeOf(name) == 0 {
			s.removeFile(name)
		}
	}
}

// removeFile deletes a file that holds no lines. At worst it stays.
func (s *Sink) removeFile(name string) {
	path := filepath.Join(s.dir, name)
	if info, err := s.fs.Lstat(path); err == nil && info.Mode.IsRegular() {
		_ = s.fs.Remove(path)
	}
}

// remove deletes an old file, unless someone writes to it, or it is no file.
func (s *Sink) remove(name string) error {
	f, info, err := s.seize(name)
	if f == nil {
		return err
	}
	defer f.Close()
	return s.unlink(name, f, info)
}

// seize opens an old file and locks it alone. It returns nil, and no error, if
// the name does not mean a regular file, or someone writes to it still. A file
// without lines is not seized, see removeEmpty.
func (s *Sink) seize(name string) (vfs.File, vfs.Info, error) {
	path := filepath.Join(s.dir, name)
	info, err := s.fs.Lstat(path)
	if err != nil || !info.Mode.IsRegular() {
		return nil, info, unlessGone(err)
	}
	f, err := s.fs.Open(path, os.O_RDWR, 0) // a network file system locks alone only what is open for writing
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
	if err == nil && info.Mode.IsRegular() && info.Size > 0 && s.isNamed(path, info) {
		return f, info, nil
	}
	_ = f.Close() // nothing was written to it
	if err == vfs.ErrLocked {
		err = nil
	}
	return nil, info, err
}

// unlink deletes the name of a seized file, if it still is its name.
func (s *Sink) unlink(name string, f vfs.File, info vfs.Info) error {
	path := filepath.Join(s.dir, name)
	if !s.isNamed(path, info) {
		return nil
	}
	if !vfs.CanRenameOpen {
		_ = f.Close() // nothing was written to it
	}
	return unlessGone(s.fs.Remove(path))
}

// isNamed says whether path means the file that info describes.
func (s *Sink) isNamed(path string, info vfs.Info) bool {
	named, err := s.fs.Lstat(path)
	return err == nil && named.ID == info.ID
}

// unlessGone forgets an error that says that there is no such file: someone else
// was first.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
