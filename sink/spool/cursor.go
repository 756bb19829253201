// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"os"

	"github.com/nib-log/nib/internal/vfs"
)

// A cursor is the file that says how far a destination is. Only the delivering
// goroutine writes it.
type cursor struct {
	file  vfs.File
	count uint64 // of the younger slot
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
		if n, _ := f.ReadAt(b, i*slotGap); n < slotSize { // what cannot be read is as good as lost
			continue
		}
		count, p, valid := readSlot(b)
		if !valid || count < c.count {
			continue
		}
		c.count = count // of another spool too: the next write goes to the older slot
		seq, ok = p.seq, p.spool == d.spool
	}
	return c, seq, ok, nil
}

// put writes a position into the older slot.
func (c *cursor) put(p position) error {
	c.count++
	putSlot(c.slot[:], c.count, p)
	_, err := c.file.WriteAt(c.slot[:], int64(c.count%2)*slotGap)
	return err
}
