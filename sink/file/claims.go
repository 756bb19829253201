// SPDX-License-Identifier: Apache-2.0

package file

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// Spools that deliver to one path take turns to write, using a lock on a file
// next to the log, which records the part of the log that each has written:
//
//	.app.log.claims
//
// Before a Sink writes a batch, it stores there the file and the offset where
// the batch begins. That is its claim. The claim is open until the next Sink
// has the lock and ends it at the current size of the file. So everything that
// a killed process has written is between the two offsets of its claim, and no
// other spool has written there.
//
// A claim belongs to a mark: both have the number of the writer, and its epoch,
// which grows when records are settled. A claim of the mark's epoch covers the
// batch in progress; an older one means that no batch was in progress, and a
// newer one that the mark is old.
//
// A Sink that cannot get the lock within a second writes without it. Before
// that, the spool stores a mark without a writer. With such a mark Resume
// searches all lines after it, and may take a line of another process for an
// identical record.

const (
	claimVersion = 1
	claimSize    = 64
	maxClaims    = 256 // the least recently written one is overwritten

	claimTimeout = time.Second           // time limit for the lock, which other spools hold while they write a batch
	claimRetry   = 10 * time.Millisecond // time limit if the last attempt failed
	claimPoll    = 50 * time.Microsecond // pause between two attempts; doubles up to a millisecond
)

// openEnd is the end of a claim that no other writer has ended.
const openEnd = int64(math.MaxInt64)

// A claim is the part of a file that only one of the spools has written.
type claim struct {
	writer, epoch uint32
	id            vfs.ID
	start, end    int64
	count         uint64 // higher for claims written later
}

// putClaim encodes a claim in 64 bytes. They are valid only until the system
// restarts: a power failure may leave an older claim, or an older log.
func putClaim(b []byte, boot uint64, c claim) {
	le := binary.LittleEndian
	le.PutUint32(b, claimVersion)
	le.PutUint32(b[4:], c.writer)
	le.PutUint32(b[8:], c.epoch)
	for i, n := range []uint64{boot, c.id.Device, c.id.Inode, uint64(c.start), uint64(c.end), c.count} {
		le.PutUint64(b[16+8*i:], n)
	}
}

// readClaim decodes a claim that putClaim has encoded.
func readClaim(b []byte, boot uint64) (c claim, ok bool) {
	le := binary.LittleEndian
	if le.Uint32(b) != claimVersion || le.Uint64(b[16:]) != boot {
		return claim{}, false
	}
	c = claim{
		writer: le.Uint32(b[4:]), epoch: le.Uint32(b[8:]),
		id:    vfs.ID{Device: le.Uint64(b[24:]), Inode: le.Uint64(b[32:])},
		start: int64(le.Uint64(b[40:])), end: int64(le.Uint64(b[48:])),
		count: le.Uint64(b[56:]),
	}
	return c, c.writer != 0
}

// claims is the state of the file of claims. The lock of the sink protects it.
type claims struct {
	boot   uint64 // result of vfs.Boot; 0 if there are no claims
	writer uint32 // number of this sink; 0 if it has none yet
	epoch  uint32
	stored bool // the file has had a claim of the writer
	marked bool // the last mark contains the writer
	weak   bool // the file cannot be locked or written: marks do not contain the writer

	file   vfs.File // nil if not open
	path   string
	locked bool
	table  []byte // contents of the file while it is locked
	out    [claimSize]byte

	retry, pause int64 // monotonic time before which locking is not retried
}

// lockClaims takes the lock and reads the claims, and reports whether it has
// succeeded. Until unlockClaims no other spool writes to the file.
func (d *destination) lockClaims() bool {
	c := &d.claims
	if c.boot == 0 || d.w.closed || d.w.file == nil || d.w.clock.mono() < c.retry {
		return false
	}
	err := d.tryClaims()
	if err == vfs.ErrLocked {
		timeout := claimTimeout
		if c.pause > 0 {
			timeout = claimRetry
		}
		pause := claimPoll
		for start := time.Now(); err == vfs.ErrLocked && time.Since(start) < timeout; {
			time.Sleep(pause)
			pause = min(2*pause, time.Millisecond)
			err = d.tryClaims()
		}
	}
	if err != nil {
		d.failClaims(err)
		return false
	}
	return true
}

// tryClaims is an attempt of lockClaims.
func (d *destination) tryClaims() (err error) {
	c := &d.claims
	for range openTries {
		if c.file == nil {
			if c.file, err = d.w.fs.Open(c.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
				return err
			}
		}
		if err = c.file.Lock(vfs.Exclusive); err != nil {
			return err
		}
		c.locked = true
		info, err := c.file.Stat()
		if err == nil && info.Links > 0 {
			if err = fit(info); err == nil {
				err = c.read(info.Size)
			}
		}
		if err != nil || info.Links > 0 {
			return err
		}
		c.drop() // the file was deleted
	}
	return errMoved
}

// read reads all claims.
func (c *claims) read(size int64) error {
	n := int(min(size, maxClaims*claimSize) / claimSize * claimSize)
	if n > cap(c.table) {
		c.table = make([]byte, n, n+claimSize)
	}
	c.table = c.table[:n]
	if n == 0 {
		return nil
	}
	if m, err := c.file.ReadAt(c.table, 0); m < n {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// unlockClaims releases the lock, if it is held.
func (d *destination) unlockClaims() {
	c := &d.claims
	if c.locked && c.file.Unlock() != nil {
		c.drop()
	}
	c.locked = false
}

// drop closes the file of claims, which releases the lock.
func (c *claims) drop() {
	if c.file != nil {
		_ = c.file.Close() // claims are not synced either
	}
	c.file, c.locked = nil, false
}

// failClaims records that there is no claim, and delays the next attempt.
func (d *destination) failClaims(err error) {
	c := &d.claims
	c.drop()
	c.pause = min(max(2*c.pause, firstRotate), longestRotate)
	c.retry = d.w.clock.mono() + c.pause
	if !errors.Is(err, errors.ErrUnsupported) {
		d.w.errors.report("claim a part of", err)
	}
}

// all returns the claims that were read, and their offsets.
func (c *claims) all(yield func(at int, old claim) bool) {
	for at := 0; at < len(c.table); at += claimSize {
		if old, ok := readClaim(c.table[at:], c.boot); ok && !yield(at, old) {
			return
		}
	}
}

// of returns the claim of writer.
func (c *claims) of(writer uint32) (own claim, ok bool) {
	for _, old := range c.all {
		if old.writer == writer {
			return old, true
		}
	}
	return claim{}, false
}

// endOthers ends the open claims of other writers to a file of size bytes.
func (c *claims) endOthers(id vfs.ID, size int64) error {
	for at, old := range c.all {
		if old.end == openEnd && old.id == id && old.writer != c.writer {
			old.end = size
			if err := c.write(at, old); err != nil {
				return err
			}
		}
	}
	return nil
}

// store writes the claim of this sink: over its last one, to a free position,
// or over the oldest.
func (c *claims) store(mine claim) error {
	for taken := c.writer == 0; taken; {
		c.writer = rand.Uint32()
		_, taken = c.of(c.writer)
		taken = taken || c.writer == 0
	}
	next, own, oldest, least := 0, -1, 0, uint64(math.MaxUint64)
	for at, old := range c.all {
		if at == next {
			next += claimSize
		}
		if old.writer == c.writer {
			own = at
		}
		if old.count < least {
			oldest, least = at, old.count
		}
		mine.count = max(mine.count, old.count+1)
	}
	switch {
	case own >= 0:
		next = own
	case next >= maxClaims*claimSize:
		next = oldest
	}
	mine.writer = c.writer
	err := c.write(next, mine)
	c.stored = c.stored || err == nil
	return err
}

// write writes a claim.
func (c *claims) write(at int, x claim) error {
	putClaim(c.out[:], c.boot, x)
	_, err := c.file.WriteAt(c.out[:], int64(at))
	return err
}

// claimFrom claims the file from start on, before anything is written there. It
// returns false if there is no claim and the spool has to store another mark
// first. The claims stay locked if locking succeeded.
func (d *destination) claimFrom(start int64) bool {
	c := &d.claims
	if c.locked {
		err := c.endOthers(d.w.id, d.w.size)
		if err == nil {
			err = c.store(claim{epoch: c.epoch, id: d.w.id, start: start, end: openEnd})
		}
		if err == nil {
			c.weak, c.pause = false, 0
			return true
		}
		d.failClaims(err)
	}
	stop := c.marked
	c.weak, c.marked = true, false // a spool that does not call SyncMark is not asked to store twice
	d.mustSync = stop
	return !stop
}

// beginClaims stores an empty claim of an older epoch before there is a mark.
// Then Resume can determine that no batch was begun.
func (d *destination) beginClaims() {
	c := &d.claims
	if c.stored || !d.lockClaims() {
		return
	}
	defer d.unlockClaims()
	if _, c.stored = c.of(c.writer); c.stored {
		return
	}
	if err := c.store(claim{epoch: c.epoch - 1}); err != nil {
		d.failClaims(err)
	}
}

// inFlight returns where lines written after p can be: in the file of a
// position, after that position and between two offsets. It returns false if
// the claims do not determine that; then they can be anywhere after p. The
// claims stay locked if locking succeeded.
func (d *destination) inFlight(p position) (in position, start, end int64, ok bool) {
	c := &d.claims
	c.writer, c.epoch = p.writer, p.epoch
	if !c.locked || p.writer == 0 {
		return p, 0, openEnd, false
	}
	own, ok := c.of(p.writer)
	if c.stored = ok; !ok {
		return p, 0, openEnd, false
	}
	switch age := int32(own.epoch - p.epoch); {
	case age < 0:
		return p, 0, 0, true
	case age > 0:
		c.epoch = own.epoch
		return p, 0, openEnd, false
	case own.id != p.id: // the file of p was rotated before
		return position{id: own.id}, own.start, own.end, true
	}
	return p, own.start, own.end, true
}
