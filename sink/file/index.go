// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nib-log/nib/internal/lineindex"
	"github.com/nib-log/nib/internal/vfs"
)

// With Config.Index a sink writes an index next to its file, for readers of a
// period of time. An entry is written after each block of 256 KiB, and when the
// file is closed; readers read the lines after the last entry. No line depends
// on the index: if an operation on it fails, the error is reported, and the
// entry is written with the next one.
//
// One process writes an index, which it holds a lock on. It describes only
// lines of this process, and ends where another one has written to the file.

// An indexing is the state of the index of the file. The lock of the sink
// protects it.
type indexing struct {
	file   vfs.File // nil if none is written
	writer *lineindex.Writer
}

// index adds the written bytes to the index of the file. The lock is held.
func (s *Sink) index(p []byte) {
	if s.indexing.file != nil && s.indexing.writer.Add(p) {
		s.endBlock(false)
	}
}

// endBlock writes the entry of a block, and the last one if seal is set. If
// another process has written to the file, or truncated it, the index ends.
func (s *Sink) endBlock(seal bool) {
	x := &s.indexing
	info, err := s.file.Stat()
	if err == nil && info.Size != x.writer.End() {
		s.dropIndex()
		return
	}
	var entry []byte
	var at int64
	if err == nil {
		entry, at, err = x.writer.Entry(s.file)
	}
	whole := entry != nil
	if seal && err == nil && vfs.CanRenameOpen { // elsewhere the time of modification is set later
		entry = x.writer.Seal(entry, info.ModTime)
	}
	if entry != nil {
		_, err = x.file.WriteAt(entry, at)
	}
	switch {
	case err != nil:
		s.report("write the index of", err)
		if !x.writer.Failed() {
			s.dropIndex()
		}
	case whole:
		x.writer.Stored()
	}
}

// dropIndex ends the index with the last entry.
func (s *Sink) dropIndex() {
	if f := s.indexing.file; f != nil {
		s.indexing.file = nil
		if err := f.Close(); err != nil {
			s.report("close the index of", err)
		}
	}
}

// closeIndex completes the index of the file, which is open.
func (s *Sink) closeIndex() {
	if s.indexing.file != nil {
		s.endBlock(true)
		s.dropIndex()
	}
}

// openIndex continues the index of the file, or begins one.
func (s *Sink) openIndex() {
	if !s.c.Index || s.indexing.file != nil {
		return
	}
	if err := s.tryOpenIndex(); err != nil && err != vfs.ErrLocked && err != errMoved && err != errUncovered {
		s.report("open the index of", err)
	}
}

// errUncovered means that too much of the file is not in its index.
var errUncovered = errors.New("the index does not cover the file")

func (s *Sink) tryOpenIndex() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	flag := os.O_RDWR
	if info.Size <= lineindex.MaxGap {
		flag |= os.O_CREATE
	}
	path := lineindex.NameOf(s.path)
	f, err := s.fs.Open(path, flag, s.c.Mode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.holdLock(f, path); err != nil {
		_ = f.Close() // nothing was written
		return err
	}
	if err := s.resumeIndex(f, info); err != nil {
		if closeErr := f.Close(); closeErr != nil {
			err = closeErr
		}
		return err
	}
	s.indexing.file = f
	return nil
}

// resumeIndex reads the index in f, and empties it if it is that of another
// file.
func (s *Sink) resumeIndex(f vfs.File, log vfs.Info) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	stored := make([]byte, min(info.Size, lineindex.MaxSize))
	if len(stored) > 0 {
		if n, err := f.ReadAt(stored, 0); n < len(stored) && err != io.EOF {
			return err
		}
	}
	if s.indexing.writer == nil {
		s.indexing.writer = lineindex.NewWriter()
	}
	fits, ok := s.indexing.writer.Resume(stored, s.file, log.Size, log.ModTime)
	if !fits {
		err = f.Truncate(0)
	}
	if err == nil && !ok {
		err = errUncovered
	}
	return err
}

// moveIndex gives the index of the file that was rotated to name the name that
// belongs to it.
func (s *Sink) moveIndex(name string) {
	if !s.c.Index {
		return
	}
	if err := unlessGone(s.fs.Rename(lineindex.NameOf(s.path), lineindex.NameOf(name))); err != nil {
		s.report("rename the index of", err)
	}
}

// removeIndexes deletes the indexes of old files that are gone: those that were
// compressed, and leftovers. names is sorted.
func (s *Sink) removeIndexes(names []string) {
	for _, name := range names {
		log, ok := lineindex.LogOf(name)
		if !ok {
			continue
		}
		if b, ok := s.naming.parse(log); !ok || b.packed != "" {
			continue
		}
		if _, found := slices.BinarySearch(names, log); found {
			continue
		}
		// The names may have been read during a rotation, but the log has its
		// name before the index has.
		if _, err := s.fs.Lstat(filepath.Join(s.dir, log)); errors.Is(err, fs.ErrNotExist) {
			err = s.fs.Remove(filepath.Join(s.dir, name))
			s.complainUnlessGone("delete the index of an old file of", err)
		}
	}
}
