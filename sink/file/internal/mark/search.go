// SPDX-License-Identifier: Apache-2.0

package mark

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// blockSize is the number of bytes that are read at once.
const blockSize = 64 << 10

// A Section is the part of a file between two offsets; the second one may be
// past its end.
type Section struct {
	File    vfs.File
	ID      vfs.ID
	At, End int64
}

// Find searches for the records of batch, one after the other, and returns the
// number of records found and the end of the last one. A record may have
// several lines, as with sink/console: it is found if all of them are,
// one after the other.
func (s Section) Find(ctx context.Context, batch []nib.Record) (n int, end int64, err error) {
	info, err := s.File.Stat()
	if err != nil {
		return 0, 0, err
	}
	last := min(info.Size, s.End)
	from := func(at int64) io.Reader { return io.NewSectionReader(s.File, at, max(last-at, 0)) }
	in := bufio.NewReaderSize(from(s.At), blockSize)
	at := s.At
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

// IsWithinLine reports whether there is no newline before an offset of f.
func IsWithinLine(f vfs.File, at int64) (bool, error) {
	var last [1]byte
	_, err := f.ReadAt(last[:], at-1)
	return last[0] != '\n', err
}

// Begun returns the number of bytes of record with which f ends, from offset
// from on: fewer than all, and starting at the beginning of a line. The error
// is io.EOF if the file has just become shorter.
func Begun(f vfs.File, record []byte, from int64) (n int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	at := max(info.Size-int64(len(record)), from, 0) // one byte more than needed
	b := make([]byte, max(info.Size-at, 0))
	if n, err := f.ReadAt(b, at); n < len(b) {
		return 0, err
	}
	if at > from || len(b) == len(record) {
		b = afterLine(b)
	}
	for !bytes.HasPrefix(record, b) {
		b = afterLine(b)
	}
	return int64(len(b)), nil
}

// afterLine returns the bytes after the first newline of b.
func afterLine(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte{'\n'})
	return rest
}

// Holed reports whether the bytes of f from an offset to its end are batch,
// with some bytes replaced by zeros.
func Holed(f vfs.File, batch []nib.Record, at, size int64) (bool, error) {
	b := make([]byte, blockSize)
	holes := false
	for _, r := range batch {
		for line := r.Line; len(line) > 0 && at < size; {
			part := b[:min(int64(len(line)), int64(len(b)), size-at)]
			if n, err := f.ReadAt(part, at); n < len(part) {
				return false, err
			}
			for i, c := range part {
				if c != line[i] && c != 0 {
					return false, nil
				}
				holes = holes || c != line[i]
			}
			at += int64(len(part))
			line = line[len(part):]
		}
	}
	return holes && at >= size, nil
}
