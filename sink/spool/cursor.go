// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"hash/crc32"
	"os"

	"github.com/nib-log/nib/internal/vfs"
)

// The format of cursors, version 2; docs/spool-format.md describes it.
const (
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
// count is the younger. mark is the destination's own, see [Marker].
func putSlot(b []byte, count uint64, p position, mark []byte) {
	clear(b[:slotSize])
	copy(b, magic)
	le.PutUint32(b[8:], cursorVersion)
	le.PutUint32(b[12:], uint32(len(mark)))
	le.PutUint64(b[16:], count)
	le.PutUint64(b[24:], p.spool)
	le.PutUint64(b[32:], p.seq)
	copy(b[40:40+maxMark], mark)
	le.PutUint32(b[slotSize-4:], crc32.Update(0, castagnoli, b[:slotSize-4]))
}

// readSlot reads a slot of either version.
func readSlot(b []byte) (count uint64, p position, ok bool) {
	if len(b) < firstSlotSize || string(b[:8]) != magic {
		return 0, position{}, false
	}
	size := firstSlotSize
	if v := le.Uint32(b[8:]); v == cursorVersion {
		size = slotSize
	} else if v != 1 {
		return 0, position{}, false
	}
	if len(b) < size || le.Uint32(b[size-4:]) != crc32.Update(0, castagnoli, b[:size-4]) {
		return 0, position{}, false
	}
	return le.Uint64(b[16:]), position{le.Uint64(b[24:]), le.Uint64(b[32:])}, true
}

// markIn returns the mark in a valid slot, nil if there is none.
func markIn(b []byte) []byte {
	n := le.Uint32(b[12:])
	if le.Uint32(b[8:]) != cursorVersion || n == 0 || n > maxMark {
		return nil
	}
	return bytes.Clone(b[40 : 40+n])
}

// A cursor is the file that says how far a destination is. Only the delivering
// goroutine writes it.
type cursor struct {
	file  vfs.File
	count uint64 // of the younger slot
	mark  []byte // of the destination
	slot  [slotSize]byte
}

// openCursor reads the younger valid slot. ok is false if there is none for this
// spool: that is no error, delivery begins with the oldest record.
func openCursor(d *dir, name string) (c *cursor, seq uint64, ok bool, err error) {
	f, err := d.fs.Open(d.name(name+".cursor"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, false, err
	}
	c = &cursor{file: f}
	for i := range int64(2) {
		b := make([]byte, slotSize)
		n, _ := f.ReadAt(b, i*slotGap) // what cannot be read is as good as lost
		count, p, valid := readSlot(b[:n])
		if !valid || count < c.count {
			continue
		}
		c.count, c.mark = count, nil // of another spool too: the next write goes to the older slot
		if seq, ok = p.seq, p.spool == d.spool; ok {
			c.mark = markIn(b)
		}
	}
	return c, seq, ok, nil
}

// put writes a position, and the mark, into the older slot.
func (c *cursor) put(p position) error {
	c.count++
	putSlot(c.slot[:], c.count, p, c.mark)
	_, err := c.file.WriteAt(c.slot[:], int64(c.count%2)*slotGap)
	return err
}
