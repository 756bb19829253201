// SPDX-License-Identifier: Apache-2.0

package file

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"path/filepath"

	"github.com/nib-log/nib/internal/vfs"
)

// A spool stores, with each settled batch, the position in the file where that
// batch ended. After a crash the bytes after it were written but not settled.
//
// That holds only if those bytes are in the file of the position. So a file is
// ended at the beginning of a Deliver, in steps, between which Deliver returns
// the batch to the spool:
//
//	1. the position is at the end of the file, and on the disk: the cursor is synced
//	2. the file is renamed, and a new one is made
//	3. the position is at the beginning of that, and on the disk
//	4. lines are written to it
//
// A process that dies in between has either written nothing to the new file, or
// stored a position in it. If logrotate renames the file, or it ends with a
// line that was not delivered, only steps 3 and 4 are needed; the old file is
// then found by its identity.

// A position is a file and the offset in it where the delivered lines end. The
// bytes before the offset distinguish that file from another one that got its
// identity after the file was deleted.
type position struct {
	id   vfs.ID
	at   int64
	tail uint16 // number of bytes before at that sum covers
	sum  uint32

	writer, epoch uint32 // writer and epoch of the claim, in a mark; 0 if there is none
}

const (
	markVersion   = 2
	markSize      = 40
	firstMarkSize = 32 // size of version 1, which had no writer and epoch
	tailSize      = 512
)

// mark is Mark under the lock of the sink.
func (d *destination) mark() []byte {
	if !d.marking {
		d.beginMarking()
		d.moveToEnd()
	}
	d.beginClaims()
	b := make([]byte, markSize)
	b[0] = markVersion
	binary.LittleEndian.PutUint16(b[2:], d.position.tail)
	binary.LittleEndian.PutUint32(b[4:], d.position.sum)
	binary.LittleEndian.PutUint64(b[8:], d.position.id.Device)
	binary.LittleEndian.PutUint64(b[16:], d.position.id.Inode)
	binary.LittleEndian.PutUint64(b[24:], uint64(d.position.at))
	c := &d.claims
	if c.marked = c.stored && !c.weak; c.marked {
		binary.LittleEndian.PutUint32(b[32:], c.writer)
		binary.LittleEndian.PutUint32(b[36:], c.epoch)
	}
	return b
}

// beginMarking is called before a spool stores the position.
func (d *destination) beginMarking() {
	d.marking = true
	c := &d.claims
	c.path = d.w.pathOf(claimsName(filepath.Base(d.w.path)))
	if c.boot = d.boot; c.boot == 0 {
		c.boot = vfs.Boot()
	}
}

func readMark(b []byte) (p position, ok bool) {
	if !(len(b) == markSize && b[0] == markVersion || len(b) == firstMarkSize && b[0] == 1) {
		return position{}, false
	}
	p = position{
		tail: binary.LittleEndian.Uint16(b[2:]),
		sum:  binary.LittleEndian.Uint32(b[4:]),
		id:   vfs.ID{Device: binary.LittleEndian.Uint64(b[8:]), Inode: binary.LittleEndian.Uint64(b[16:])},
		at:   int64(binary.LittleEndian.Uint64(b[24:])),
	}
	if len(b) == markSize {
		p.writer, p.epoch = binary.LittleEndian.Uint32(b[32:]), binary.LittleEndian.Uint32(b[36:])
	}
	return p, p.at >= int64(p.tail) && p.tail <= tailSize
}

// moveTo sets the position to an offset of f. If the bytes before it cannot be
// read, only the identity of f is used.
func (d *destination) moveTo(f vfs.File, id vfs.ID, at int64) {
	d.position, d.stored = position{id: id, at: at}, false
	n := min(at, tailSize)
	if n == 0 {
		return
	}
	b := make([]byte, n)
	m, err := f.ReadAt(b, at-n)
	if int64(m) == n {
		d.position.tail, d.position.sum = uint16(n), crc32.ChecksumIEEE(b)
	} else if err != io.EOF {
		d.w.errors.report("read", err)
	}
}

// moveToEnd sets the position to the end of the file, after the lines of all
// writers.
func (d *destination) moveToEnd() {
	if d.w.file == nil {
		d.position, d.stored = position{}, false
		return
	}
	at := d.w.size
	if info, err := d.w.file.Stat(); err == nil {
		at = info.Size
	} else {
		d.w.errors.report("read", err)
	}
	d.moveTo(d.w.file, d.w.id, at)
}

// isIn reports whether f is the file of the position and has not been
// truncated. An error means that f cannot be read now.
func (p position) isIn(f vfs.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.ID != p.id || info.Size < p.at {
		return false, err
	}
	if p.tail == 0 {
		return true, nil
	}
	b := make([]byte, p.tail)
	n, err := f.ReadAt(b, p.at-int64(p.tail))
	if n < len(b) && err != io.EOF { // the file may have been truncated just now
		return false, err
	}
	return n == len(b) && crc32.ChecksumIEEE(b) == p.sum, nil
}

// barrier prepares the file for n bytes of deliveries. stop reports that the
// spool has to store the position first.
func (d *destination) barrier(n int64) (stop bool, err error) {
	d.held = !d.stored
	err = d.w.ready(n)
	d.held = true
	if err != nil || d.mustSync {
		return true, err
	}
	if d.w.id != d.position.id { // the file was rotated, or another file has its name
		d.moveToEnd()
		d.claims.epoch++ // the claimed lines are in the other file
		d.mustSync = true
		return true, nil
	}
	return false, nil
}

// mayRotate reports whether the file may be ended now, and otherwise makes
// SyncMark report true.
func (d *destination) mayRotate() bool {
	if d.held {
		d.mustSync = true
	}
	return !d.held
}
