// SPDX-License-Identifier: Apache-2.0

// Package lineindex makes and reads indexes of log files: the times and levels
// of each block of lines, so that a reader of a period of time skips the
// others.
//
// An index is a file of little-endian integers:
//
//	"nibidx1\n"
//	uint64  covered   the length of the indexed part of the log, which ends with a line break
//	uint64  size      the length of the log when it was indexed
//	int64   modified  when the log was modified last by then, Unix nanoseconds
//	[32]    head      SHA-256 of the first 64 KiB of the log
//	[32]    tail      SHA-256 of the 4 KiB before covered
//	uint64  n         the number of blocks
//	n blocks in the order of the log:
//	  uint32  length  in bytes; the lengths add up to covered
//	  uint32  lines
//	  uint32  foreign the lines of text that are not of a log
//	  uint32  levels  a bit for each class of level, see LevelBit
//	  int64   from    the earliest time of a line, Unix nanoseconds
//	  int64   to      the latest
//	uint32  CRC-32C of all before
//
// A block without times has from above to. One that must always be read, since
// it has times without a zone or outside 1678 to 2262, or a very long line, has
// the least and the greatest integers.
//
// An index contains nothing of the lines, and is used only to skip blocks. It
// is ignored unless its sum, its lengths and the head and the tail of the log
// are right, and for a log of the size that was indexed also its time of
// modification. A log that has grown keeps its index; the rest is added.
package lineindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"os"
	"time"

	"github.com/nib-log/nib"
)

// The sizes of a block, and of the parts of a log that identify it.
const (
	blockSize = 256 << 10
	headSize  = 64 << 10
	tailSize  = 4 << 10
)

const (
	magic      = "nibidx1\n"
	headerLen  = len(magic) + 3*8 + 2*sha256.Size + 8
	entryLen   = 4*4 + 2*8
	checksum   = 4
	always     = math.MinInt64 // from of a block that must always be read
	settleTime = 2 * time.Second
)

// Least is the size from which on a log is worth an index.
const Least = 16 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An Index is the index of a log.
type Index struct {
	covered, size, modified int64
	head, tail              [sha256.Size]byte
	blocks                  []entry
}

// An entry is what is known about a block.
type entry struct {
	length, lines, foreign, levels uint32
	from, to                       int64
}

// A Window is what a reader wants to see.
type Window struct {
	Since, Until time.Time // zero: no bound
	Least        nib.Level // the lowest level, if HasLevel is set
	HasLevel     bool
}

// A Range is a part of a log: [From, To).
type Range struct{ From, To int64 }

// Skipped counts the lines outside of the ranges.
type Skipped struct{ Lines, Foreign uint64 }

// Classes of levels: none, and from each of these levels to the next.
var classes = [...]nib.Level{math.MinInt8, nib.LevelDebug, nib.LevelInfo, nib.LevelWarn, nib.LevelError, nib.LevelFatal}

// LevelBit returns the bit of the class of a level: 1<<0 for lines without one,
// 1<<1 below debug, 1<<2 from debug on, and so on for info, warn, error and
// fatal.
func LevelBit(level nib.Level, ok bool) uint32 {
	if !ok {
		return 1
	}
	i := len(classes) - 1
	for i > 0 && level < classes[i] {
		i--
	}
	return 2 << i
}

// bounds returns the window in Unix nanoseconds, and the bits of its levels.
// It reports false if the window is too wide for an index.
func (w Window) bounds() (since, until int64, levels uint32, ok bool) {
	since, until, levels = math.MinInt64, math.MaxInt64, math.MaxUint32
	if w.Since.IsZero() && w.Until.IsZero() {
		return since, until, levels, false
	}
	for _, t := range []time.Time{w.Since, w.Until} {
		if !t.IsZero() && (t.Year() <= 1678 || t.Year() >= 2262) {
			return since, until, levels, false
		}
	}
	if !w.Since.IsZero() {
		since = w.Since.UnixNano()
	}
	if !w.Until.IsZero() {
		until = w.Until.UnixNano()
	}
	if w.HasLevel {
		levels = -LevelBit(w.Least, true) // this class and above
	}
	return since, until, levels, true
}

// Usable reports whether an index helps to find what is in the window.
func (w Window) Usable() bool {
	_, _, _, ok := w.bounds()
	return ok
}

// Ranges returns the parts of a log that a reader of the window must read. The
// last one has no end: it is what the index does not cover.
func (x *Index) Ranges(w Window) (list []Range, skipped Skipped) {
	since, until, levels, ok := w.bounds()
	at := int64(0)
	for _, e := range x.blocks {
		end := at + int64(e.length)
		switch {
		case ok && e.from != always && (e.to < since || e.from >= until || e.from > e.to || e.levels&levels == 0):
			skipped.Lines += uint64(e.lines)
			skipped.Foreign += uint64(e.foreign)
		case len(list) > 0 && list[len(list)-1].To == at:
			list[len(list)-1].To = end
		default:
			list = append(list, Range{at, end})
		}
		at = end
	}
	if len(list) > 0 && list[len(list)-1].To == at {
		list[len(list)-1].To = math.MaxInt64
		return list, skipped
	}
	return append(list, Range{at, math.MaxInt64}), skipped
}

// encode returns the index as a file.
func (x *Index) encode() []byte {
	b := make([]byte, 0, headerLen+len(x.blocks)*entryLen+checksum)
	b = append(b, magic...)
	le := binary.LittleEndian
	for _, n := range []int64{x.covered, x.size, x.modified} {
		b = le.AppendUint64(b, uint64(n))
	}
	b = append(append(b, x.head[:]...), x.tail[:]...)
	b = le.AppendUint64(b, uint64(len(x.blocks)))
	for _, e := range x.blocks {
		for _, n := range []uint32{e.length, e.lines, e.foreign, e.levels} {
			b = le.AppendUint32(b, n)
		}
		b = le.AppendUint64(le.AppendUint64(b, uint64(e.from)), uint64(e.to))
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// decode returns the index that is in b, or nil if b is damaged.
func decode(b []byte) *Index {
	le := binary.LittleEndian
	n := len(b) - headerLen - checksum
	if n < 0 || n%entryLen != 0 || !bytes.HasPrefix(b, []byte(magic)) {
		return nil
	}
	if sum := len(b) - checksum; crc32.Checksum(b[:sum], castagnoli) != le.Uint32(b[sum:]) {
		return nil
	}
	b = b[len(magic):]
	x := &Index{covered: int64(le.Uint64(b)), size: int64(le.Uint64(b[8:])), modified: int64(le.Uint64(b[16:]))}
	b = b[24:]
	b = b[copy(x.head[:], b):]
	b = b[copy(x.tail[:], b):]
	if le.Uint64(b) != uint64(n/entryLen) {
		return nil
	}
	x.blocks = make([]entry, n/entryLen)
	total := int64(0)
	for b, i := b[8:], 0; i < len(x.blocks); i++ {
		x.blocks[i] = entry{le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:]), int64(le.Uint64(b[16:])), int64(le.Uint64(b[24:]))}
		total += int64(x.blocks[i].length)
		b = b[entryLen:]
	}
	if total != x.covered || x.size < x.covered {
		return nil
	}
	return x
}

// fits reports whether the index is that of a log.
func (x *Index) fits(f io.ReaderAt, info os.FileInfo) bool {
	size := info.Size()
	if size < x.covered || size == x.size && info.ModTime().UnixNano() != x.modified {
		return false
	}
	head, err := sumOf(f, 0, headSize)
	if err != nil || head != x.head {
		return false
	}
	tail, err := sumOf(f, max(0, x.covered-tailSize), x.covered)
	return err == nil && tail == x.tail
}

// sumOf returns the sum of [from, to).
func sumOf(f io.ReaderAt, from, to int64) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	if n, err := io.Copy(h, io.NewSectionReader(f, from, to-from)); err != nil || n < to-from {
		return sum, io.ErrUnexpectedEOF
	}
	h.Sum(sum[:0])
	return sum, nil
}
