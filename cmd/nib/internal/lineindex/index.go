// SPDX-License-Identifier: Apache-2.0

// Package lineindex makes and reads indexes of log files: the times and levels
// of each block of lines, so that a reader of a period of time skips the other
// blocks. Readers keep the indexes of large logs in a directory of the user.
//
// An index is a file of little-endian integers:
//
//	"nibidx5\n"
//	entries of blocks, in the order of the log:
//	  uint32  length  in bytes
//	  uint32  lines
//	  uint32  foreign the lines of text that are not of a log
//	  uint32  no time the other lines without a time, except empty ones
//	  uint32  levels  a bit for each class of level of the lines with a time, see
//	                  LevelBit, and the same shifted by 8 for the other lines that
//	                  are of a log
//	  int64   from    the earliest time of a line or before it, Unix nanoseconds
//	  int64   to      the latest or after it
//	  uint32  sample  CRC-32C of the first and the last 256 bytes of the block
//	  uint32  check   CRC-32C of the entry up to here, continued from the check
//	                  of the entry before, at first from the CRC-32C of "nibidx5\n"
//
// The lengths add up to the part of the log that is covered, which ends with a
// line break. In a block without times, from is greater than to. A block that
// must always be read, because it has times without a zone or outside 1678 to
// 2262, or a very long line, has the minimum and maximum integers.
//
// An entry of length 0 is the last one. It has the time of modification of the
// log in from, and its size in to, as they were when the index was completed.
//
// The number in the first line is another one whenever package logread reads a
// time or a level that it did not read before.
//
// An index contains nothing of the lines, and is used only to skip blocks.
// Readers ignore everything after an entry with a wrong check. They also ignore
// an index whose samples do not match the log or, if the log has the size in
// the last entry, its time of modification. A log that has grown keeps its
// index; the rest is added.
package lineindex

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"time"

	"github.com/nib-log/nib"
)

// BlockSize is the least length of a block, except the last one.
const BlockSize = 256 << 10

const (
	magic     = "nibidx5\n"
	entryLen  = 5*4 + 2*8 + 2*4
	sampleLen = 256
	samples   = 16            // number of blocks of an index whose samples are compared
	always    = math.MinInt64 // from of a block that must always be read
	timeless  = 8             // shift of the levels of lines without a time
)

// Least is the minimum size of a log for which an index is made.
const Least = 16 << 20

var least int64 = Least // lower in tests

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	firstCheck = crc32.Checksum([]byte(magic), castagnoli)
)

// An Index is the index of a log.
type Index struct {
	covered int64
	// Size and time of the log when the index was completed; size 0: it was
	// not.
	size, modified int64
	blocks         []entry
}

// An entry describes a block.
type entry struct {
	length, lines, foreign, noTime, levels uint32

	from, to int64
	sample   uint32
}

// A Window selects the lines that a reader wants.
type Window struct {
	Since, Until time.Time // no bound if zero
	Least        nib.Level // the lowest level, if HasLevel is set
	HasLevel     bool
	// Exact is set if the reader counts the lines that lack a time or a level, and
	// decides which by more than the times. Blocks with such lines are then read.
	Exact bool
}

// A Range is a part of a log: [From, To).
type Range struct{ From, To int64 }

// Skipped counts the lines outside of the ranges.
type Skipped struct{ Lines, Foreign, NoTime uint64 }

// Classes of levels: no level, and from each of these levels to the next.
var classes = [...]nib.Level{math.MinInt8, nib.LevelDebug, nib.LevelInfo, nib.LevelWarn,
	nib.LevelError, nib.LevelFatal}

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
		if !t.IsZero() && !isOrdinary(t) {
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
		levels = -LevelBit(w.Least, true) & (1<<timeless - 1) // this class and above
		if w.Exact {
			levels |= LevelBit(0, false)
		}
	}
	return since, until, levels, true
}

// isOrdinary reports whether a time has Unix nanoseconds.
func isOrdinary(t time.Time) bool { return t.Year() > 1678 && t.Year() < 2262 }

// Usable reports whether an index helps to find the lines of the window.
func (w Window) Usable() bool {
	_, _, _, ok := w.bounds()
	return ok
}

// Ranges returns the parts of a log that a reader of the window must read. The
// last one, which the index does not cover, has no end.
func (x *Index) Ranges(w Window) (list []Range, skipped Skipped) {
	since, until, levels, ok := w.bounds()
	at := int64(0)
	for _, e := range x.blocks {
		end := at + int64(e.length)
		isOutside := e.to < since || e.from >= until || e.from > e.to || e.levels&levels == 0
		switch {
		case ok && e.from != always && isOutside && !(w.Exact && e.levels>>timeless&levels != 0):
			skipped.Lines += uint64(e.lines)
			skipped.Foreign += uint64(e.foreign)
			if !w.Exact {
				skipped.NoTime += uint64(e.noTime)
			}
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

// append appends an entry to an index whose last check is given.
func (e *entry) append(dst []byte, check uint32) ([]byte, uint32) {
	from, le := len(dst), binary.LittleEndian
	for _, n := range [...]uint32{e.length, e.lines, e.foreign, e.noTime, e.levels} {
		dst = le.AppendUint32(dst, n)
	}
	dst = le.AppendUint64(le.AppendUint64(dst, uint64(e.from)), uint64(e.to))
	dst = le.AppendUint32(dst, e.sample)
	check = crc32.Update(check, castagnoli, dst[from:])
	return le.AppendUint32(dst, check), check
}

// encode returns the index as a file.
func (x *Index) encode() []byte {
	b := make([]byte, 0, len(magic)+(len(x.blocks)+1)*entryLen)
	b, check := append(b, magic...), firstCheck
	for i := range x.blocks {
		b, check = x.blocks[i].append(b, check)
	}
	if x.size > 0 {
		b, _ = (&entry{from: x.modified, to: x.size}).append(b, check)
	}
	return b
}

// decode returns the index that is in b, up to the first damaged entry, or nil.
func decode(b []byte) *Index {
	if !strings.HasPrefix(string(b[:min(len(b), len(magic))]), magic) {
		return nil
	}
	le, x, last := binary.LittleEndian, new(Index), firstCheck
	for b = b[len(magic):]; len(b) >= entryLen; b = b[entryLen:] {
		check := crc32.Update(last, castagnoli, b[:entryLen-4])
		if check != le.Uint32(b[entryLen-4:]) {
			break
		}
		e := entry{
			le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:]), le.Uint32(b[16:]),
			int64(le.Uint64(b[20:])), int64(le.Uint64(b[28:])), le.Uint32(b[36:]),
		}
		if e.length == 0 {
			if x.modified, x.size = e.from, e.to; x.size < x.covered {
				return nil
			}
			break
		}
		last, x.blocks, x.covered = check, append(x.blocks, e), x.covered+int64(e.length)
	}
	return x
}

// fits reports whether the index belongs to a log with a size and a time of
// modification.
func (x *Index) fits(log io.ReaderAt, size int64, modified time.Time) bool {
	if size < x.covered || size < x.size || size == x.size && modified.UnixNano() != x.modified {
		return false
	}
	step := max(1, (len(x.blocks)-1)/(samples-1))
	at := x.covered
	buf := make([]byte, 2*sampleLen)
	for i := len(x.blocks) - 1; i >= 0; i-- {
		e := x.blocks[i]
		at -= int64(e.length)
		if i%step == 0 || i == len(x.blocks)-1 {
			if err := e.takeSample(log, at, buf); err != nil || e != x.blocks[i] {
				return false
			}
		}
	}
	return true
}

// takeSample takes the sample of a block at an offset.
func (e *entry) takeSample(log io.ReaderAt, at int64, buf []byte) error {
	n := int64(min(e.length, sampleLen))
	if k, err := log.ReadAt(buf[:n], at); int64(k) < n {
		return err
	}
	if k, err := log.ReadAt(buf[n:2*n], at+int64(e.length)-n); int64(k) < n {
		return err
	}
	e.sample = crc32.Checksum(buf[:2*n], castagnoli)
	return nil
}
