// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// mend deals with a line at the end of the file that has no end, and with what a
// loss of power has left behind the place, before batch is written, which begins with the first
// line that is not in the file. It returns how many records that has brought there.
//
// A line without an end that is the beginning of the first record is completed: whoever
// wrote it, then the file has that record as a whole. If everything behind the place is
// what would be written now, but for sectors that read as zeros, it was written by a
// process that died with the machine: it is cut off. Anything else is left alone, and
// ended with a newline by whoever writes next.
func (s *Sink) mend(batch []nib.Record) (n int, err error) {
	d := &s.delivering
	doubt := d.doubt
	d.doubt = false
	if s.file == nil || d.tainted {
		return 0, nil
	}
	if s.unseen {
		s.seeEnd()
	}
	if doubt && d.place.id == s.id && s.cut(batch) {
		return 0, nil
	}
	if !s.torn {
		return 0, nil
	}
	tail, ok := s.openLine(len(batch[0].Line))
	if !ok || !bytes.HasPrefix(batch[0].Line, tail) {
		return 0, nil
	}
	if _, err := s.put(batch[0].Line[len(tail):]); err != nil {
		return 0, err
	}
	return 1, nil
}

// openLine returns what stands behind the last newline of the file. ok is false
// if that is nothing, or not shorter than limit, or cannot be read.
func (s *Sink) openLine(limit int) (tail []byte, ok bool) {
	info, err := s.file.Stat()
	if err != nil {
		return nil, false
	}
	b := make([]byte, min(info.Size, int64(limit)))
	if n, _ := s.file.ReadAt(b, info.Size-int64(len(b))); n < len(b) {
		return nil, false
	}
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		b = b[i+1:]
	} else if int64(len(b)) < info.Size {
		return nil, false
	}
	return b, len(b) > 0 && len(b) < limit
}

// cut cuts off what is behind the place if that is batch with holes. Nobody else may have
// the file open: he might write in just that moment.
func (s *Sink) cut(batch []nib.Record) bool {
	at := s.delivering.place.at
	info, err := s.file.Stat()
	if err != nil || info.Size <= at || !s.holed(batch, at, info.Size) {
		return false
	}
	alone := s.file.Lock(vfs.Exclusive) == nil
	defer func() { _ = s.file.Lock(vfs.Shared) }() // as before; others would have to be quick
	if !alone {
		return false
	}
	if now, err := s.file.Stat(); err != nil || now.Size != info.Size || s.file.Truncate(at) != nil {
		return false
	}
	s.size, s.torn, s.unseen, s.unsynced = at, false, false, true
	return true
}

// holed says whether the bytes of the file from an offset to its end are those of
// batch, with some that are zeros instead.
func (s *Sink) holed(batch []nib.Record, at, size int64) bool {
	b := make([]byte, deliverySize)
	holes := false
	for _, r := range batch {
		for line := r.Line; len(line) > 0 && at < size; {
			part := b[:min(int64(len(line)), int64(len(b)), size-at)]
			if n, _ := s.file.ReadAt(part, at); n < len(part) {
				return false
			}
			for i, c := range part {
				if c != line[i] && c != 0 {
					return false
				}
				holes = holes || c != line[i]
			}
			at += int64(len(part))
			line = line[len(part):]
		}
	}
	return holes && at >= size
}
