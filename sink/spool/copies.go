// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"os"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// copyExt is the extension of the copy of a segment, which has the same bytes
// at the same places as far as it goes. What was settled before it was copied
// may be missing.
const copyExt = ".copy"

func copyName(number uint64) string { return hex(number) + copyExt }

// makeCopy makes the copy of g, with its header and the bytes in [from, to). It
// is in place of the one that there is when it is on the disk.
func (d *dir) makeCopy(g *segment.Segment, from, to int) (f vfs.File, err error) {
	if err := d.held(); err != nil {
		return nil, err
	}
	name := d.name(copyName(g.Number))
	_ = d.fs.Remove(name + madeSuffix) // what is in it must be zeros
	f, err = d.fs.Open(name+madeSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = leaveRoom(f, g.Size, d.minFree, name); err == nil {
		err = f.Preallocate(g.Size)
	}
	if err == nil {
		_, err = f.WriteAt(g.Bytes()[:88], 0)
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
		err = d.fs.SyncDir(d.path)
	}
	if err != nil {
		if f != nil {
			_ = f.Close() // nothing in it counts
		}
		_ = d.fs.Remove(name + madeSuffix) // the next start removes it as well
		return nil, err
	}
	return f, nil
}

// own notes that the copy of a segment is the copier's: only the copier removes
// it.
func (d *dir) own(number uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owned[number] = false
}

// isRemoved reports whether a segment whose copy is the copier's is removed.
func (d *dir) isRemoved(number uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owned[number]
}

// remove deletes a segment and its copy, in this order: a segment of which only
// the copy exists is settled according to the cursor. g is the segment if it is
// of this process.
func (d *dir) remove(number uint64, g *segment.Segment) error {
	f, err := d.unlink(segmentName(number))
	if g != nil {
		g.Done(f)
	} else {
		d.sweeper.add(&spent{file: f})
	}
	if err != nil {
		return err
	}
	return d.removeItsCopy(number)
}

// removeItsCopy deletes the copy of a segment, or lets the copier do that if it
// is the copier's.
func (d *dir) removeItsCopy(number uint64) error {
	d.mu.Lock()
	_, owned := d.owned[number]
	if owned {
		d.owned[number] = true
	}
	d.mu.Unlock()
	if owned {
		d.removed()
		return nil
	}
	return d.removeCopy(number)
}

func (d *dir) removeCopy(number uint64) error {
	d.mu.Lock()
	delete(d.owned, number)
	d.mu.Unlock()
	f, err := d.unlink(copyName(number))
	d.sweeper.add(&spent{file: f})
	return err
}
