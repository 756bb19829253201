// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
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
	case len(b) < size || v == 0 || binary.LittleEndian.Uint32(b[size-4:]) != segment.Checksum(b[:size-4]):
		return 0, Position{}, false, nil
	case v > cursorVersion:
		return 0, Position{}, false, segment.VersionError{Found: v, Known: cursorVersion}
	}
	return binary.LittleEndian.Uint64(b[16:]), Position{binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])}, true, nil
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

// A Cursor is the file that records the progress of a destination. Only the
// delivering goroutine writes it.
type Cursor struct {
	File  vfs.File
	Count uint64 // counter of the newer slot
	Mark  []byte // mark of the destination
	slot  [SlotSize]byte
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
	c = &Cursor{File: f, Count: count} // the counter of another spool's slot, too: the next write goes to the older slot
	if ok = slot != nil && p.Spool == d.Spool; ok {
		c.Mark = MarkIn(slot)
	}
	return c, p.Seq, ok, nil
}

// Put writes a position, and the mark, into the older slot. If that fails, the
// next call writes the same slot: the other one is whole.
func (c *Cursor) Put(p Position) error {
	count := c.Count + 1
	PutSlot(c.slot[:], count, p, c.Mark)
	_, err := c.File.WriteAt(c.slot[:], int64(count%2)*SlotGap)
	if err == nil {
		c.Count = count
	}
	return err
}
