// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// Resume returns how many of the first records of batch are in the file
// although the spool has not recorded them as settled, because the process that
// wrote them died before its cursor was written. It searches, line by line, the
// part of the file after mark that this process has claimed, and syncs it.
// Without a claim it searches everything after mark, and a line of another
// process with the same bytes as a record counts as that record. Without a
// mark, or if the file of the mark is not found, the result is 0.
func (s *Sink) Resume(ctx context.Context, mark []byte, batch []nib.Record) (taken int, err error) {
	s.mu.Lock()
	defer s.unlock()
	if s.w.closed {
		return 0, errClosed
	}
	s.beginMarking()
	if p, ok := readMark(mark); ok {
		taken, err = s.resume(ctx, p, batch)
	} else {
		s.moveToEnd()
	}
	if 0 < taken && taken < len(batch) {
		s.claims.epoch++ // everything claimed before is settled
	}
	return taken, err
}

func (s *Sink) resume(ctx context.Context, p place, batch []nib.Record) (taken int, err error) {
	texts, err := s.textsInDoubt(p)
	defer func() {
		for _, t := range texts {
			t.close(s)
		}
	}()
	if err != nil {
		return 0, s.w.fail("read", err)
	}
	if len(texts) == 0 {
		s.moveToEnd()
		return 0, nil
	}
	d := &s.delivering
	d.place, d.stored = p, false
	for _, t := range texts {
		n, end, err := t.find(ctx, batch[taken:])
		if err == nil && n > 0 {
			err = t.f.SyncData() // the writer may have died before the sync
		}
		if err != nil {
			return 0, s.w.fail("read", err)
		}
		if taken += n; n > 0 {
			s.moveTo(t.f, t.id, end)
		}
	}
	if taken > 0 {
		err = s.w.sync() // syncs the directory, which has the names
	}
	if err != nil {
		return 0, err
	}
	return taken, nil
}

// A stretch is the part of a file between two offsets; the second one may be
// past its end.
type stretch struct {
	f       vfs.File
	id      vfs.ID
	at, end int64
}

// textsInDoubt returns the parts of files that were written after a place and
// may not be settled, or none if the file of the place is not found.
func (s *Sink) textsInDoubt(p place) (texts []stretch, err error) {
	s.lockClaims()
	defer s.unlockClaims() // then others may write, but not to the claimed part
	in, start, end, known := s.inFlight(p)
	if texts, err = s.textsBehind(in); err != nil || len(texts) == 0 {
		return texts, err
	}
	d := &s.delivering
	d.doubt, d.from, d.until = true, start, 0
	if !known {
		return texts, nil
	}
	for _, t := range texts[1:] {
		t.close(s)
	}
	texts = texts[:1]
	t := &texts[0]
	info, err := t.f.Stat()
	if err == nil && start < t.at { // a partial line of another process may have been completed
		var within bool
		if within, err = isWithinLine(t.f, t.at); !within {
			start = t.at
		}
	}
	if err != nil {
		return texts, err
	}
	t.at, t.end = start, min(end, info.Size)
	d.doubt, d.until = end == openEnd, info.Size
	return texts, nil
}

// isWithinLine reports whether there is no newline before an offset of f.
func isWithinLine(f vfs.File, at int64) (bool, error) {
	var last [1]byte
	_, err := f.ReadAt(last[:], at-1)
	return last[0] != '\n', err
}

// textsBehind returns the texts that were written after a place: the rest of
// its file, the files that were rotated later, and the live file. It returns
// none if the file of the place is not found.
func (s *Sink) textsBehind(p place) (texts []stretch, err error) {
	if s.w.file == nil {
		return nil, errNoFile
	}
	if s.w.id == p.id {
		if ok, err := p.isIn(s.w.file); !ok {
			return nil, err
		}
		return []stretch{{s.w.file, s.w.id, p.at, openEnd}}, nil
	}
	names, err := s.w.fs.ReadDir(s.w.dir)
	if err != nil {
		return nil, err
	}
	name, f, err := s.findFile(names, p)
	if f == nil {
		return nil, err
	}
	texts = []stretch{{f, p.id, p.at, openEnd}}
	if b, ok := s.w.naming.parse(name); ok {
		for _, later := range s.rotatedAfter(names, b) {
			f, err := s.w.fs.Open(s.w.pathOf(later.name), os.O_RDONLY, 0)
			if errors.Is(err, fs.ErrNotExist) {
				continue // just compressed, so it is older than the unsettled records
			}
			if err != nil {
				return texts, err
			}
			info, err := f.Stat()
			texts = append(texts, stretch{f, info.ID, 0, openEnd})
			if err != nil {
				return texts, err
			}
		}
	}
	return append(texts, stretch{s.w.file, s.w.id, 0, openEnd}), nil
}

// findFile searches for the file of a place under any name that begins like the
// log's. An error means that one of these files cannot be read now, which may
// be the right one.
func (s *Sink) findFile(names []string, p place) (name string, f vfs.File, err error) {
	for _, name := range names {
		if !strings.HasPrefix(name, s.w.naming.stem) {
			continue
		}
		path := s.w.pathOf(name)
		info, err := s.w.fs.Lstat(path)
		if err == nil && (info.ID != p.id || !info.Mode.IsRegular()) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		f, err := s.w.fs.Open(path, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		ok, err := p.isIn(f)
		if ok {
			return name, f, nil
		}
		_ = f.Close() // nothing was written
		if err != nil {
			return "", nil, err
		}
	}
	return "", nil, nil
}

// rotatedAfter returns the old files that were rotated after b and are not
// compressed, oldest first.
func (s *Sink) rotatedAfter(names []string, b backup) (later []backup) {
	for _, name := range names {
		if o, ok := s.w.naming.parse(name); ok && o.packed == "" && o.compare(b) < 0 {
			later = append(later, o)
		}
	}
	slices.SortFunc(later, func(a, b backup) int { return b.compare(a) })
	return later
}

func (t stretch) close(s *Sink) {
	if t.f != s.w.file {
		_ = t.f.Close() // nothing was written
	}
}

// find searches for the records of batch, one after the other, and returns the
// number of records found and the end of the last one. A record may have
// several lines, like those of sink/console: it is found if all of them are,
// one after the other.
func (t stretch) find(ctx context.Context, batch []nib.Record) (n int, end int64, err error) {
	info, err := t.f.Stat()
	if err != nil {
		return 0, 0, err
	}
	last := min(info.Size, t.end)
	from := func(at int64) io.Reader { return io.NewSectionReader(t.f, at, max(last-at, 0)) }
	in := bufio.NewReaderSize(from(t.at), deliverySize)
	at := t.at
	for n < len(batch) {
		want := batch[n].Line
		same, line, size, err := nextIs(in, want)
		if err == io.EOF {
			return n, end, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return n, end, err
		}
		if same {
			at += size
			n, end = n+1, at
			continue
		}
		if at += line; line < size {
			in.Reset(from(at)) // the record may begin at the second line that was read
		}
	}
	return n, end, nil
}

// nextIs reads a line, and further lines of want while they are equal. line is
// the length of the first line, and size how much was read. A line without a
// newline does not count.
func nextIs(in *bufio.Reader, want []byte) (same bool, line, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		want, same = bytes.CutPrefix(want, part)
		for !same && err == bufio.ErrBufferFull && line == 0 {
			part, err = in.ReadSlice('\n')
			size += int64(len(part))
		}
		if err == nil && line == 0 {
			line = size
		}
		switch {
		case err != nil && err != bufio.ErrBufferFull:
			return same, line, size, err
		case !same || len(want) == 0:
			return same, line, size, nil
		}
	}
}
