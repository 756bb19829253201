// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"
	"sync"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// CopyExt is the extension of the copy of a segment. The copy has the same
// bytes at the same offsets as far as it goes; records settled before they were
// copied may be missing.
const CopyExt = ".copy"

func CopyName(number uint64) string { return hex(number) + CopyExt }

// Copies are the copies of the segments of a directory. Methods may be called
// concurrently, for different segments.
type Copies struct {
	dir *Dir

	mu      sync.Mutex
	owned   map[uint64]bool // segments whose copies the copier owns, and whether they are removed
	removed func()          // notifies the copier
}

// OnRemoved sets f to be called when a segment is removed whose copy the copier
// owns.
func (c *Copies) OnRemoved(f func()) { c.removed = f }

// Make makes the copy of g, with its header and the bytes in [from, to). It
// replaces an existing copy once it is synced.
func (c *Copies) Make(g *segment.Segment, from, to int) (f vfs.File, err error) {
	d := c.dir
	if err := d.Held(); err != nil {
		return nil, err
	}
	name := d.Name(CopyName(g.Number))
	f, err = c.open(name+MadeSuffix, g.Size)
	if err == nil {
		_, err = f.WriteAt(make([]byte, segment.HeaderSize), 0)
	}
	if err == nil { // by the system, which does not fault if a page of g is gone
		_, err = f.WriteAt(g.Bytes()[:88], 0)
	}
	if err == nil && g.Continued {
		_, err = f.WriteAt(g.Bytes()[segment.StreamsAt:segment.StreamsEnd], segment.StreamsAt)
	}
	if err == nil {
		_, err = f.WriteAt(g.Bytes()[from:to], int64(from))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		f, err = d.rename(f, name)
	}
	if err == nil {
		err = d.Spares.sync()
	}
	if err != nil {
		if f != nil {
			_ = f.Close() // its contents are not needed
		}
		_ = d.FS.Remove(name + MadeSuffix) // the next start would remove it, too
		return nil, err
	}
	return f, nil
}

// open opens an allocated file for a copy: a spare one, which has old bytes, or
// a new one. With an error, there may be a file as well.
func (c *Copies) open(made string, size int64) (f vfs.File, err error) {
	d := c.dir
	if d.Spares.reuseCopy(made, size) {
		if f, err = d.FS.Open(made, os.O_RDWR, 0); err == nil {
			return f, nil
		}
		d.note("reuse a copy", err)
	}
	_ = d.FS.Remove(made)
	f, err = d.FS.Open(made, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = leaveRoom(f, size, d.minFree, made); err == nil {
		err = f.Preallocate(size)
	}
	return f, err
}

// Own records that the copier owns the copy of a segment: only the copier
// removes it.
func (c *Copies) Own(number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owned[number] = false
}

// IsRemoved reports whether a segment whose copy the copier owns is removed.
func (c *Copies) IsRemoved(number uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owned[number]
}

// Remove deletes a segment and its copy, in this order: if only the copy
// exists, the segment is settled according to the cursor. g is the segment if
// it is of this process.
func (d *Dir) Remove(number uint64, g *segment.Segment) error {
	f, err := d.unlink(SegmentName(number))
	if g != nil {
		g.Done(f)
	} else {
		d.Sweeper.Add(&Spent{file: f})
	}
	if err != nil {
		return err
	}
	return d.Copies.Remove(number)
}

// Remove deletes the copy of a segment that was deleted, or notifies the copier
// if it owns the copy.
func (c *Copies) Remove(number uint64) error {
	c.mu.Lock()
	_, owned := c.owned[number]
	if owned {
		c.owned[number] = true
	}
	c.mu.Unlock()
	if owned {
		c.removed()
		return nil
	}
	return c.RemoveOwned(number)
}

// RemoveOwned deletes the copy of a segment, or keeps the file for Make. The
// copier does not own it any more.
func (c *Copies) RemoveOwned(number uint64) error {
	c.mu.Lock()
	_, owned := c.owned[number]
	delete(c.owned, number)
	c.mu.Unlock()
	noPages := func(done func([]byte, func())) { done(nil, nil) }
	if owned && c.dir.Spares.add(CopyName(number), true, noPages) {
		return nil
	}
	f, err := c.dir.unlink(CopyName(number))
	c.dir.Sweeper.Add(&Spent{file: f})
	return err
}
