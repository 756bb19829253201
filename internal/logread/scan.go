// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"io"
	"iter"
)

// The size of a read, and of the longest line.
const (
	blockSize = 256 << 10
	maxLine   = 64 << 20
)

// Lines iterates over the lines of r. The Line is the same each time. An error
// of r other than io.EOF ends the iteration; the line before it may be
// incomplete. A line of more than 64 MiB becomes several.
func Lines(r io.Reader) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		l := new(Line)
		var rest []byte
		buf, other := make([]byte, blockSize), make([]byte, blockSize)
		for {
			block, next, err := ReadBlock(r, buf, rest)
			for rest = next; len(block) > 0; {
				n := LineLen(block)
				l.Reset(block[:n])
				if block = block[n:]; !yield(l, nil) {
					return
				}
			}
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
			buf, other = other, buf
			if len(buf) < 2*len(rest) {
				buf = make([]byte, 2*len(rest))
			}
		}
	}
}

// LineLen returns the length of the line at the front of block, with its line
// break.
func LineLen(block []byte) int {
	if i := bytes.IndexByte(block, '\n'); i >= 0 {
		return i + 1
	}
	return len(block)
}

// ReadBlock reads from r into buf once, after a copy of rest, the beginning of
// a line that the call before has returned. It returns the whole lines, and the
// beginning of the next one; both are parts of buf, which must be longer than
// rest and not overlap it. At the end of r, the last line needs no line break,
// and err is io.EOF. It is for programs that use several goroutines; others use
// [Lines].
func ReadBlock(r io.Reader, buf, rest []byte) (block, next []byte, err error) {
	n := copy(buf, rest)
	m, err := io.ReadAtLeast(r, buf[n:], 1)
	n += m
	end := n
	if err == nil {
		end = bytes.LastIndexByte(buf[:n], '\n') + 1
		if end == 0 && n >= maxLine {
			end = n
		}
	}
	return buf[:end:end], buf[end:n:n], err
}
