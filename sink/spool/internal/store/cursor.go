// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// The format of cursors, version 2; docs/spool-format.md describes it.
const (
	CursorExt     = ".cursor"
	cursorVersion = 2
	SlotSize      = 128
	firstSlotSize = 64  // size of a slot of version 1, which had no mark
	SlotGap       = 512 // one sector for each slot, so that no write touches both
	MaxMark       = 40

	lossesAt  = 2 * SlotGap // of the losses of the first slot; lossesGap behind are the others
	lossesGap = 1024
)

// A Position is the content of a cursor: the spool, and the number of the first
// record that its destination has not settled.
type Position struct {
	Spool, Seq uint64
}

// PutSlot writes a slot of a cursor to b. Of two valid slots the one with the
// higher count is the newer. mark is the mark of the destination; see
// [delivery.Resumer].
func PutSlot(b []byte, count uint64, p Position, mark []byte) {
	clear(b[:SlotSize])
	copy(b, segment.Magic)
	binary.LittleEndian.PutUint32(b[8:], cursorVersion)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(mark)))
	binary.LittleEndian.PutUint64(b[16:], count)
	binary.LittleEndian.PutUint64(b[24:], p.Spool)
	binary.LittleEndian.PutUint64(b[32:], p.Seq)
	copy(b[40:40+MaxMark], mark)
	binary.LittleEndian.PutUint32(b[SlotSize-4:], segment.Checksum(b[:SlotSize-4]))
}

// readSlot reads a slot of either version. ok is false if it is not one. A
// later version is an error: it may change everything but the magic, the
// version, and the checksum at 124 of the first 124 bytes.
func readSlot(b []byte) (count uint64, p Position, ok bool, err error) {
	if len(b) < firstSlotSize || string(b[:8]) != segment.Magic {
		return 0, Position{}, false, nil
	}
	size, v := SlotSize, binary.LittleEndian.Uint32(b[8:])
	if v == 1 {
		size = firstSlotSize
	}
	switch {
	case len(b) < size || v == 0 ||
		binary.LittleEndian.Uint32(b[size-4:]) != segment.Checksum(b[:size-4]):
		return 0, Position{}, false, nil
	case v > cursorVersion:
		return 0, Position{}, false, segment.VersionError{Found: v, Known: cursorVersion}
	}
	return binary.LittleEndian.Uint64(b[16:]), Position{binary.LittleEndian.Uint64(b[24:]),
		binary.LittleEndian.Uint64(b[32:])}, true, nil
}

// ReadSlots reads the newer valid slot of a cursor. slot is nil if there is
// none.
func ReadSlots(f io.ReaderAt) (slot []byte, count uint64, p Position, err error) {
	for i := range int64(2) {
		b := make([]byte, SlotSize)
		n, err := f.ReadAt(b, i*SlotGap)
		if err != nil && err != io.EOF {
			return nil, 0, Position{}, err
		}
		c, q, valid, err := readSlot(b[:n])
		if err != nil {
			return nil, 0, Position{}, err
		}
		if valid && c >= count {
			slot, count, p = b, c, q
		}
	}
	return slot, count, p, nil
}

// MarkIn returns the mark in a valid slot, nil if there is none.
func MarkIn(b []byte) []byte {
	n := binary.LittleEndian.Uint32(b[12:])
	if binary.LittleEndian.Uint32(b[8:]) != cursorVersion || n == 0 || n > MaxMark {
		return nil
	}
	return bytes.Clone(b[40 : 40+n])
}

// Losses are lines that a destination has lost, and that no notice which it has
// settled reports.
type Losses struct {
	Lines segment.Tally
	Drop  Drop // a segment that is being dropped; its lines are not in Lines yet
}

// A Drop is a segment that is being dropped to make room. After a crash its
// lines are lost if the segment has no unsettled records any more.
type Drop struct {
	Segment uint64 // its number; 0: none
	End     uint64 // number after its last record
	Lines   segment.Tally
}

// lossesSize is the size of appended losses: the count of the slot that they
// belong to, two tallies, two numbers, and a checksum.
const (
	lossesSize = 8 + 2*tallySize + 2*8 + 4
	tallySize  = int(segment.Causes) * len(segment.Tally{}[0]) * 8
)

func (l *Losses) append(b []byte, count uint64) []byte {
	b = binary.LittleEndian.AppendUint64(b, count)
	b = appendTally(b, &l.Lines)
	b = binary.LittleEndian.AppendUint64(b, l.Drop.Segment)
	b = binary.LittleEndian.AppendUint64(b, l.Drop.End)
	b = appendTally(b, &l.Drop.Lines)
	return binary.LittleEndian.AppendUint32(b, segment.Checksum(b))
}

func appendTally(b []byte, t *segment.Tally) []byte {
	for c := range t {
		for _, n := range t[c] {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	return b
}

// tallyIn reads what appendTally has written.
func tallyIn(b []byte) (t segment.Tally) {
	for c := range t {
		for l := range t[c] {
			t[c][l] = binary.LittleEndian.Uint64(b)
			b = b[8:]
		}
	}
	return t
}

// readLosses reads the losses that belong to the slot with a count. There are
// none if the slot was written without.
func readLosses(f io.ReaderAt, count uint64) (l Losses, err error) {
	b := make([]byte, lossesSize)
	n, err := f.ReadAt(b, lossesAt+int64(count%2)*lossesGap)
	if err == io.EOF {
		err = nil
	}
	sum := lossesSize - 4
	if err != nil || n < lossesSize || binary.LittleEndian.Uint64(b) != count ||
		binary.LittleEndian.Uint32(b[sum:]) != segment.Checksum(b[:sum]) {
		return Losses{}, err
	}
	l.Lines, b = tallyIn(b[8:]), b[8+tallySize:]
	l.Drop = Drop{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), tallyIn(b[16:])}
	return l, nil
}

// A Cursor is the file that records the progress of a destination. The
// delivering goroutine writes it, and PutDrop.
type Cursor struct {
	File  vfs.File
	Count uint64 // counter of the newer slot
	Mark  []byte // mark of the destination
	slot  [SlotSize]byte
	torn  bool // the file may have losses of the next count, without their slot
	roomy bool // the disk has room for all of the file

	// The contents of the newer slot, for PutDrop.
	last   Position
	marked []byte
	losses Losses
}

// OpenCursor reads the newer valid slot. ok is false if there is none for this
// spool. That is not an error: delivery begins with the oldest record. A slot
// that cannot be read is an error: without it, everything would be delivered
// again.
func OpenCursor(d *Dir, name string) (c *Cursor, seq uint64, ok bool, err error) {
	base := name + CursorExt
	f, err := d.FS.Open(d.Name(base), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, false, err
	}
	var slot []byte
	var count uint64
	var p Position
	if err = d.checkFile(f, base); err == nil {
		slot, count, p, err = ReadSlots(f)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, false, fmt.Errorf("%s: %w", base, err)
	}
	// The counter of another spool's slot, too: the next write goes to the
	// older slot.
	c = &Cursor{File: f, Count: count}
	c.last = Position{d.Spool, 1}
	if ok = slot != nil && p.Spool == d.Spool; ok {
		c.Mark, c.marked = MarkIn(slot), MarkIn(slot)
		c.last = p
		c.losses, err = readLosses(f, count)
	}
	next, e := readLosses(f, count+1)
	if err = cmp.Or(err, e); err != nil {
		_ = f.Close() // nothing was written
		return nil, 0, false, fmt.Errorf("%s: %w", base, err)
	}
	c.torn = next != (Losses{})
	c.allocate()
	return c, p.Seq, ok, nil
}

// allocate takes room for the slots and their losses, which may be in blocks of
// their own, before the disk is full.
func (c *Cursor) allocate() {
	if !c.roomy {
		c.roomy = c.File.Preallocate(lossesAt+2*lossesGap) == nil
	}
}

// Losses returns the losses that were read or written last. The caller may
// change them; they are not written before the next call of Put or PutDrop.
func (c *Cursor) Losses() *Losses { return &c.losses }

// End ends the drop of a segment. If it is complete, its lines are lost.
func (l *Losses) End(complete bool) {
	if complete {
		l.Lines = l.Lines.Plus(&l.Drop.Lines)
	}
	l.Drop = Drop{}
}

// Put writes a position, the mark, and the losses into the older slot. If the
// write fails, the next call writes the same slot: the other one is whole.
func (c *Cursor) Put(p Position, l *Losses) error { return c.put(p, c.Mark, l) }

// PutDrop records that a segment is going to be dropped, and leaves the
// position and the mark as they are.
func (c *Cursor) PutDrop(x *Drop) error {
	l := Losses{c.losses.Lines, *x}
	return c.put(c.last, c.marked, &l)
}

func (c *Cursor) put(p Position, mark []byte, l *Losses) (err error) {
	c.allocate()
	count := c.Count + 1
	c.torn = c.torn || *l != (Losses{})
	if c.torn { // losses are written first: without their slot they have no meaning
		b := l.append(make([]byte, 0, lossesSize), count)
		_, err = c.File.WriteAt(b, lossesAt+int64(count%2)*lossesGap)
	}
	if err == nil {
		PutSlot(c.slot[:], count, p, mark)
		_, err = c.File.WriteAt(c.slot[:], int64(count%2)*SlotGap)
	}
	if err == nil {
		c.Count, c.last, c.losses, c.torn = count, p, *l, false
		c.marked = append(c.marked[:0], mark...)
	}
	return err
}
