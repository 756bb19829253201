// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"io"
	"os"
)

// window is how much of a segment quickEnd reads at a time.
const window = 256 << 10

// quickEnd returns what a segment begins with, with the first record, and the
// number and the offset behind the last one, if that can be found out in the
// time of a start: all records lie one behind the other, and behind them is
// nothing but zeros, or the file ends. It reads through a window that stays in
// the processor's cache, for a start waits for it. Anything else is for read
// and a scanner, which find the same number in such a segment.
func (d *dir) quickEnd(g *oldSegment) (head []byte, next uint64, used int, ok bool) {
	if g.copied && (g.boot != d.boot || d.boot == 0) {
		return nil, 0, 0, false // the copy may know more
	}
	f, err := d.fs.Open(d.name(segmentName(g.number)), os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, 0, false
	}
	defer f.Close()
	head = make([]byte, min(headerSize+window, g.size))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, 0, 0, false
	}
	next, used, ok = d.runToEnd(f, g)
	return head, next, used, ok
}

// runToEnd goes from record to record up to the zeros behind them.
func (d *dir) runToEnd(f io.ReaderAt, g *oldSegment) (next uint64, used int, ok bool) {
	buf := make([]byte, window)
	seed, next := g.seed(), g.first
	for base := int64(headerSize); ; {
		n, err := f.ReadAt(buf[:min(window, max(g.size-base, 0))], base)
		if err != nil && err != io.EOF {
			return 0, 0, false
		}
		b, at := buf[:n&^7], 0
		for {
			rec, seq, ok := recordAt(b, at, g.gen, seed)
			if !ok || seq != next {
				break
			}
			at, next = at+align(len(rec)), next+1
		}
		switch whole := base+int64(len(b)) >= g.size; {
		case err == io.EOF && base+int64(n) < g.size:
			return 0, 0, false // cut off
		case at < len(b) && stored(word(b, at).Load()) == 0:
			return next, int(base) + at, isEmpty(f, buf, base+int64(at), g.size)
		case at == len(b) && whole:
			return next, int(base) + at, true
		case at == 0 || whole:
			return 0, 0, false // a record that is longer than the window, or none
		}
		base += int64(at)
	}
}

var nothing [window]byte

// isEmpty reports whether f is all zeros in [from, to).
func isEmpty(f io.ReaderAt, buf []byte, from, to int64) bool {
	for from < to {
		n, err := f.ReadAt(buf[:min(window, to-from)], from)
		if err != nil && err != io.EOF || n == 0 {
			return false
		}
		if !bytes.Equal(buf[:n], nothing[:n]) {
			return false
		}
		from += int64(n)
	}
	return true
}
