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
//	1. the place is at the end of the file, and on the disk: the cursor is synced
//	2. the file is renamed, and a new one is made
//	3. the place is at the beginning of that, and on the disk
//	4. lines are written to it
//
// A process that dies in between has either written nothing to the new file, or
// stored a place in it. If logrotate renames the file, or it ends with a line
// that was not delivered, only steps 3 and 4 are needed; the old file is then
// found by its identity.

// A place is a file and the offset in it where the delivered lines end. The
// bytes before the offset distinguish that file from another one that got its
// identity after the file was deleted.
type place struct {
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

// A delivering is the state of a Sink as a destination. The lock of the sink
// protects it.
type delivering struct {
	marking bool // a spool stores the place
	place   place
	stored  bool  // place is on disk, and covers everything settled
	ask     bool  // SyncMark must report true
	held    bool  // do not rotate now, set ask instead
	doubt   bool  // the bytes after place were not delivered; see unfinished
	from    int64 // the lowest offset at which they begin
	until   int64 // the size of the file if it ends with them; 0 if unknown
}

// Mark returns the position in the file after the delivered lines. It is for a
// spool, which stores it with the number of these lines and passes it to Resume
// after a crash. After the first call of Mark, a delivery rotates the file only
// when the spool has stored the position; see SyncMark.
func (s *Sink) Mark() []byte {
	s.mu.Lock()
	defer s.unlock()
	d := &s.delivering
	if !d.marking {
		s.beginMarking()
		s.moveToEnd()
	}
	s.beginClaims()
	b := make([]byte, markSize)
	b[0] = markVersion
	binary.LittleEndian.PutUint16(b[2:], d.place.tail)
	binary.LittleEndian.PutUint32(b[4:], d.place.sum)
	binary.LittleEndian.PutUint64(b[8:], d.place.id.Device)
	binary.LittleEndian.PutUint64(b[16:], d.place.id.Inode)
	binary.LittleEndian.PutUint64(b[24:], uint64(d.place.at))
	c := &s.claims
	if c.marked = c.stored && !c.weak; c.marked {
		binary.LittleEndian.PutUint32(b[32:], c.writer)
		binary.LittleEndian.PutUint32(b[36:], c.epoch)
	}
	return b
}

// beginMarking is called before a spool stores the place.
func (s *Sink) beginMarking() {
	s.delivering.marking = true
	c := &s.claims
	c.path = s.w.pathOf(claimsName(filepath.Base(s.w.path)))
	if c.boot = s.given.boot; c.boot == 0 {
		c.boot = vfs.Boot()
	}
}

func readMark(b []byte) (p place, ok bool) {
	if !(len(b) == markSize && b[0] == markVersion || len(b) == firstMarkSize && b[0] == 1) {
		return place{}, false
	}
	p = place{
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

// SyncMark reports whether the result of Mark must be on disk before Deliver is
// called again: the file is full, or a new one was started.
func (s *Sink) SyncMark() bool {
	s.mu.Lock()
	defer s.unlock()
	return s.delivering.ask
}

// moveTo sets the place to an offset of f. If the bytes before it cannot be
// read, only the identity of f is used.
func (s *Sink) moveTo(f vfs.File, id vfs.ID, at int64) {
	d := &s.delivering
	d.place, d.stored = place{id: id, at: at}, false
	n := min(at, tailSize)
	if n == 0 {
		return
	}
	b := make([]byte, n)
	m, err := f.ReadAt(b, at-n)
	if int64(m) == n {
		d.place.tail, d.place.sum = uint16(n), crc32.ChecksumIEEE(b)
	} else if err != io.EOF {
		s.w.errors.report("read", err)
	}
}

// moveToEnd sets the place to the end of the file, after the lines of all
// writers.
func (s *Sink) moveToEnd() {
	if s.w.file == nil {
		s.delivering.place, s.delivering.stored = place{}, false
		return
	}
	at := s.w.size
	if info, err := s.w.file.Stat(); err == nil {
		at = info.Size
	} else {
		s.w.errors.report("read", err)
	}
	s.moveTo(s.w.file, s.w.id, at)
}

// isIn reports whether f is the file of the place and has not been truncated.
// An error means that f cannot be read now.
func (p place) isIn(f vfs.File) (bool, error) {
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
// spool has to store the place first.
func (s *Sink) barrier(n int64) (stop bool, err error) {
	d := &s.delivering
	d.held = !d.stored
	err = s.w.ready(n)
	d.held = true
	if err != nil || d.ask {
		return true, err
	}
	if s.w.id != d.place.id { // the file was rotated, or another file has its name
		s.moveToEnd()
		s.claims.epoch++ // the claimed lines are in the other file
		d.ask = true
		return true, nil
	}
	return false, nil
}

// mayRotate reports whether the file may be ended now, and otherwise makes
// SyncMark report true.
func (s *Sink) mayRotate() bool {
	if s.delivering.held {
		s.delivering.ask = true
	}
	return !s.delivering.held
}
