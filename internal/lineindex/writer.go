// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"encoding/binary"
	"io"
	"time"
)

// A Writer makes the entries of an index while its log is written. It does not
// write itself: the caller stores the results of Entry and Seal. It must be
// used by one goroutine.
type Writer struct {
	block *block
	start int64  // start of the block in the log
	at    int64  // offset of its entry in the index
	check uint32 // checksum of the previous entry
	full  uint32 // length at which the block ends
	next  uint32 // checksum of the latest entry
	buf   []byte
}

// MaxGap is the number of bytes of a log that may be missing in an index that
// is continued. That part is always read.
const MaxGap = 16 * BlockSize

// maxBlock bounds the length of a block whose entry cannot be stored.
const maxBlock = 1 << 30

// NewWriter returns a Writer.
func NewWriter() *Writer {
	w := &Writer{block: newBlock(), buf: make([]byte, 0, len(magic)+2*entryLen+2*sampleLen)}
	w.reset()
	return w
}

func (w *Writer) reset() {
	w.start, w.at, w.check = 0, 0, firstCheck
	w.begin()
}

func (w *Writer) begin() {
	w.block.begin()
	w.block.torn, w.full = false, BlockSize
}

// Resume begins at the end of a log, and continues its index as it was stored.
// fits is false if that is not the index of the log; then the caller must empty
// the index. ok is false if too much of the log is missing in the index to
// continue.
func (w *Writer) Resume(stored []byte, log io.ReaderAt, size int64, modified time.Time) (fits, ok bool) {
	w.reset()
	x := Decode(stored)
	if x != nil && len(x.blocks) > 0 && x.Fits(log, size, modified) {
		fits = true
		w.start = x.covered
		w.at = int64(len(magic) + len(x.blocks)*entryLen)
		if last := x.blocks[len(x.blocks)-1]; last.length < BlockSize {
			w.start -= int64(last.length)
			w.at -= entryLen
			w.block.entry = last
		}
		if w.at > int64(len(magic)) {
			w.check = binary.LittleEndian.Uint32(stored[w.at-4:])
		}
	}
	gap := size - w.start - int64(w.block.length)
	if gap > MaxGap {
		return fits, false
	}
	if gap > 0 {
		w.block.length += uint32(gap)
		w.block.torn = true // the block may end within a line
	}
	return fits, true
}

// Add adds bytes that were written to the end of the log, and reports whether
// the entry of the block should be stored now.
func (w *Writer) Add(p []byte) (full bool) {
	w.block.add(p)
	return w.block.length >= w.full && !w.block.torn
}

// End returns the offset in the log after the added bytes.
func (w *Writer) End() int64 { return w.start + int64(w.block.length) }

// Entry returns the entry of the block, and where to store it in the index. It
// is nil if the block does not end with a line.
func (w *Writer) Entry(log io.ReaderAt) (b []byte, at int64, err error) {
	w.next = w.check
	if w.block.torn || w.block.length == 0 {
		return nil, w.at, nil
	}
	if err := w.block.takeSample(log, w.start, w.buf[:2*sampleLen]); err != nil {
		return nil, w.at, err
	}
	b = w.buf[:0]
	if at = w.at; at == 0 {
		b = append(b, magic...)
	}
	b, w.next = w.block.entry.append(b, w.check)
	return b, at, nil
}

// Seal adds the last entry to the result of Entry, for a log whose size is End.
func (w *Writer) Seal(b []byte, modified time.Time) []byte {
	if b == nil {
		if w.at == 0 {
			return nil
		}
		b = w.buf[:0]
	}
	b, _ = (&entry{from: modified.UnixNano(), to: w.End()}).append(b, w.next)
	return b
}

// Stored begins a new block after the entry was stored.
func (w *Writer) Stored() {
	w.start = w.End()
	w.at = max(w.at, int64(len(magic))) + entryLen
	w.check = w.next
	w.begin()
}

// Failed keeps the block open because its entry could not be stored. It returns
// false if the block has become too long.
func (w *Writer) Failed() bool {
	w.full = w.block.length + BlockSize
	return w.full < maxBlock
}
