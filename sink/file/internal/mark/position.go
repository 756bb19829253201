// SPDX-License-Identifier: Apache-2.0

// Package mark determines which records are in a log file although their spool
// has not stored that they are: the process died in between.
//
// A spool stores, with each settled batch, the position in the file where that
// batch ended. After a crash the bytes after it were written but not settled.
//
// That holds only if those bytes are in the file of the position. So a file is
// ended at the beginning of a Deliver, in steps, between which Deliver returns
// the batch to the spool:
//
//  1. the position is at the end of the file, and on the disk
//  2. the file is renamed, and a new one is made
//  3. the position is at the beginning of that, and on the disk
//  4. lines are written to it
//
// A process that dies in between has either written nothing to the new file, or
// stored a position in it. If logrotate renames the file, or it ends with a
// line that was not delivered, only steps 3 and 4 are needed; the old file is
// then found by its identity.
//
// The position is stored as a mark. A [Position] finds its file again, a
// [Section] is a part of a file in which records are searched, and [Claims]
// tell apart what several spools have written to one file. This package does
// not write to the log.
package mark

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/nib-log/nib/internal/vfs"
)

// A Position is a file and the offset in it where the delivered lines end. The
// bytes before the offset distinguish the file from another file that got its
// identity after it was deleted.
type Position struct {
	ID   vfs.ID
	At   int64
	tail uint16 // number of bytes before at that sum covers
	sum  uint32

	Writer, Epoch uint32 // writer and epoch of the claim, in a mark; 0 if there is none
}

const (
	version   = 2
	size      = 40
	firstSize = 32 // size of version 1, which had no writer and epoch
	tailSize  = 512
)

var le = binary.LittleEndian

// At returns the position at an offset of f. It has only the identity of f, and
// is returned with the error, if the bytes before the offset cannot be read.
func At(f vfs.File, id vfs.ID, at int64) (Position, error) {
	p := Position{ID: id, At: at}
	n := min(at, tailSize)
	if n == 0 {
		return p, nil
	}
	b := make([]byte, n)
	m, err := f.ReadAt(b, at-n)
	if int64(m) == n {
		p.tail, p.sum = uint16(n), crc32.ChecksumIEEE(b)
		return p, nil
	}
	if err == io.EOF {
		err = nil
	}
	return p, err
}

// Bytes encodes a mark.
func (p Position) Bytes() []byte {
	b := make([]byte, size)
	b[0] = version
	le.PutUint16(b[2:], p.tail)
	le.PutUint32(b[4:], p.sum)
	le.PutUint64(b[8:], p.ID.Device)
	le.PutUint64(b[16:], p.ID.Inode)
	le.PutUint64(b[24:], uint64(p.At))
	le.PutUint32(b[32:], p.Writer)
	le.PutUint32(b[36:], p.Epoch)
	return b
}

// Parse decodes a mark.
func Parse(b []byte) (p Position, ok bool) {
	if !(len(b) == size && b[0] == version || len(b) == firstSize && b[0] == 1) {
		return Position{}, false
	}
	p = Position{
		tail: le.Uint16(b[2:]),
		sum:  le.Uint32(b[4:]),
		ID:   vfs.ID{Device: le.Uint64(b[8:]), Inode: le.Uint64(b[16:])},
		At:   int64(le.Uint64(b[24:])),
	}
	if len(b) == size {
		p.Writer, p.Epoch = le.Uint32(b[32:]), le.Uint32(b[36:])
	}
	return p, p.At >= int64(p.tail) && p.tail <= tailSize
}

// IsIn reports whether f is the file of the position and has not been
// truncated. An error means that f cannot be read now.
func (p Position) IsIn(f vfs.File) (bool, error) {
	info, err := f.Stat()
	if err != nil || info.ID != p.ID || info.Size < p.At {
		return false, err
	}
	if p.tail == 0 {
		return true, nil
	}
	b := make([]byte, p.tail)
	n, err := f.ReadAt(b, p.At-int64(p.tail))
	if n < len(b) && err != io.EOF { // the file may have been truncated just now
		return false, err
	}
	return n == len(b) && crc32.ChecksumIEEE(b) == p.sum, nil
}
