// SPDX-License-Identifier: Apache-2.0

package spool

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
	cursorExt     = ".cursor"
	cursorVersion = 2
	slotSize      = 128
	firstSlotSize = 64  // of version 1, which had no mark
	slotGap       = 512 // one sector for each slot, so that no write touches both
	maxMark       = 40
)

// A position is what a cursor remembers: the spool, and the number of the first
// record that its destination has not settled.
type position struct {
	spool, seq uint64
}

// putSlot makes a slot of a cursor. Of two valid slots the one with the higher
// count is the younger. mark is the destination's own, see [delivery.Resumer].
func putSlot(b []byte, count uint64, p position, mark []byte) {
	clear(b[:slotSize])
	copy(b, segment.Magic)
	binary.LittleEndian.PutUint32(b[8:], cursorVersion)
	binary.LittleEndian.PutUint32(b[12:], uint32(len(mark)))
	binary.LittleEndian.PutUint64(b[16:], count)
	binary.LittleEndian.PutUint64(b[24:], p.spool)
	binary.LittleEndian.PutUint64(b[32:], p.seq)
	copy(b[40:40+maxMark], mark)
	binary.LittleEndian.PutUint32(b[slotSize-4:], segment.Checksum(b[:slotSize-4]))
}

// readSlot reads a slot of either version. ok is false if it is not one. A
// later version is an error: it may change everything but the magic, the
// version, and the checksum of the first 124 bytes at 124.
func readSlot(b []byte) (count uint64, p position, ok bool, err error) {
	if len(b) < firstSlotSize || string(b[:8]) != segment.Magic {
		return 0, position{}, false, nil
	}
	size, v := slotSize, binary.LittleEndian.Uint32(b[8:])
	if v == 1 {
		size = firstSlotSize
	}
	switch {
	case len(b) < size || v == 0 || binary.LittleEndian.Uint32(b[size-4:]) != segment.Checksum(b[:size-4]):
		return 0, position{}, false, nil
	case v > cursorVersion:
		return 0, position{}, false, segment.VersionError{Found: v, Known: cursorVersion}
	}
	return binary.LittleEndian.Uint64(b[16:]), position{binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])}, true, nil
}

// readSlots reads the younger valid slot of a cursor. slot is nil if there is
// none.
func readSlots(f io.ReaderAt) (slot []byte, count uint64, p position, err error) {
	for i := range int64(2) {
		b := make([]byte, slotSize)
		n, err := f.ReadAt(b, i*slotGap)
		if err != nil && err != io.EOF {
			return nil, 0, position{}, err
		}
		c, q, valid, err := readSlot(b[:n])
		if err != nil {
			return nil, 0, position{}, err
		}
		if valid && c >= count {
			slot, count, p = b, c, q
		}
	}
	return slot, count, p, nil
}

// markIn returns the mark in a valid slot, nil if there is none.
func markIn(b []byte) []byte {
	n := binary.LittleEndian.Uint32(b[12:])
	if binary.LittleEndian.Uint32(b[8:]) != cursorVersion || n == 0 || n > maxMark {
		return nil
	}
	return bytes.Clone(b[40 : 40+n])
}

// A cursor is the file that records the progress of a destination. Only the
// delivering goroutine writes it.
type cursor struct {
	file  vfs.File
	count uint64 // of the younger slot
	mark  []byte // of the destination
	slot  [slotSize]byte
}

// openCursor reads the younger valid slot. ok is false if there is none for
// this spool: that is no error, delivery begins with the oldest record. A slot
// that cannot be read is an error: without it, everything would be delivered
// again.
func openCursor(d *dir, name string) (c *cursor, seq uint64, ok bool, err error) {
	base := name + cursorExt
	f, err := d.fs.Open(d.name(base), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, false, err
	}
	var slot []byte
	var count uint64
	var p position
	if err = d.checkFile(f, base); err == nil {
		slot, count, p, err = readSlots(f)
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, 0, false, fmt.Errorf("%s: %w", base, err)
	}
	c = &cursor{file: f, count: count} // of another spool too: the next write goes to the older slot
	if ok = slot != nil && p.spool == d.spool; ok {
		c.mark = markIn(slot)
	}
	return c, p.seq, ok, nil
}

// put writes a position, and the mark, into the older slot.
func (c *cursor) put(p position) error {
	c.count++
	putSlot(c.slot[:], c.count, p, c.mark)
	_, err := c.file.WriteAt(c.slot[:], int64(c.count%2)*slotGap)
	return err
}
