// SPDX-License-Identifier: Apache-2.0

package mark

import (
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
// batch in progress. With an older claim, no batch was in progress; with a
// newer claim, the mark is old.
//
// A Sink that cannot get the lock within a second writes without it. Before
// that, the spool stores a mark without a writer. With such a mark Resume
// searches all lines after it, and may take a line of another process for an
// identical record.

const (
	claimVersion = 1
	claimSize    = 64
	maxClaims    = 256 // the least recently written one is overwritten

	lockTimeout  = time.Second           // other spools hold the lock while they write a batch
	retryTimeout = 10 * time.Millisecond // if the last attempt failed
	firstPoll    = 50 * time.Microsecond // pause between two attempts; doubles up to a millisecond

	firstPause   = int64(100 * time.Millisecond) // pause after a failure
	longestPause = int64(10 * time.Second)       // to which it doubles

	openTries = 10 // times that the file may be deleted while it is being opened
)

// End is past the end of any file. It is the end of a claim that no other
// writer has ended.
const End = int64(math.MaxInt64)

// ErrDeleted means that the file of claims was deleted in each attempt.
var ErrDeleted = errors.New("the file at this name keeps changing")

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
	le.PutUint32(b, claimVersion)
	le.PutUint32(b[4:], c.writer)
	le.PutUint32(b[8:], c.epoch)
	start, end := uint64(c.start), uint64(c.end)
	for i, n := range []uint64{boot, c.id.Device, c.id.Inode, start, end, c.count} {
		le.PutUint64(b[16+8*i:], n)
	}
}

// readClaim decodes a claim that putClaim has encoded.
func readClaim(b []byte, boot uint64) (c claim, ok bool) {
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

// Claims is a file of claims. It is not safe for concurrent use.
type Claims struct {
	FS     vfs.FS
	Path   string
	Boot   uint64               // result of vfs.Boot; 0 if there are no claims
	Now    func() int64         // monotonic time
	Check  func(vfs.Info) error // rejects files that are not suitable
	Report func(error)          // receives the reasons why there is no claim

	writer   uint32 // number of this sink; 0 if it has none yet
	epoch    uint32
	stored   bool // the file has had a claim of the writer
	marked   bool // the last mark contains the writer
	unusable bool // the file cannot be locked or written: marks do not contain the writer

	file   vfs.File // nil if not open
	locked bool
	table  []byte // contents of the file while it is locked
	out    [claimSize]byte

	retry, pause int64 // monotonic time before which locking is not retried
}

// Settle begins an epoch: all lines before are settled, or in another file.
func (c *Claims) Settle() { c.epoch++ }

// Mark returns p with the writer and its epoch, if the claims have them.
func (c *Claims) Mark(p Position) Position {
	if c.marked = c.stored && !c.unusable; c.marked {
		p.Writer, p.Epoch = c.writer, c.epoch
	}
	return p
}

// Lock takes the lock and reads the claims, and reports whether it has
// succeeded. Until Unlock no other spool writes to the file.
func (c *Claims) Lock() bool {
	if c.Boot == 0 || c.Now() < c.retry {
		return false
	}
	err := c.try()
	if err == vfs.ErrLocked {
		timeout, pause := lockTimeout, firstPoll
		if c.pause > 0 {
			timeout = retryTimeout
		}
		// The last attempt follows the timeout: the process may have been stopped.
		start, last := time.Now(), false
		for err == vfs.ErrLocked && !last {
			last = time.Since(start)+pause >= timeout
			time.Sleep(pause)
			pause = min(2*pause, time.Millisecond)
			err = c.try()
		}
	}
	if err != nil {
		c.fail(err)
	}
	return err == nil
}

// try is an attempt of Lock.
func (c *Claims) try() (err error) {
	for range openTries {
		if c.file == nil {
			if c.file, err = c.FS.Open(c.Path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
				return err
			}
		}
		if err = c.file.Lock(vfs.Exclusive); err != nil {
			return err
		}
		c.locked = true
		info, err := c.file.Stat()
		if err == nil && info.Links > 0 {
			if err = c.Check(info); err == nil {
				err = c.read(info.Size)
			}
		}
		if err != nil || info.Links > 0 {
			return err
		}
		c.Close() // the file was deleted
	}
	return ErrDeleted
}

// read reads all claims.
func (c *Claims) read(size int64) error {
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

// Unlock releases the lock, if it is held.
func (c *Claims) Unlock() {
	if c.locked && c.file.Unlock() != nil {
		c.Close()
	}
	c.locked = false
}

// Close closes the file, which releases the lock.
func (c *Claims) Close() {
	if c.file != nil {
		_ = c.file.Close() // claims are not synced either
	}
	c.file, c.locked = nil, false
}

// fail reports err, closes the file, and delays the next attempt.
func (c *Claims) fail(err error) {
	c.Close()
	c.pause = min(max(2*c.pause, firstPause), longestPause)
	c.retry = c.Now() + c.pause
	if !errors.Is(err, errors.ErrUnsupported) {
		c.Report(err)
	}
}

// Failing reports whether the last attempt to store a claim has failed.
func (c *Claims) Failing() bool { return c.pause > 0 }

// all returns the claims that were read, and their offsets.
func (c *Claims) all(yield func(at int, old claim) bool) {
	for at := 0; at < len(c.table); at += claimSize {
		if old, ok := readClaim(c.table[at:], c.Boot); ok && !yield(at, old) {
			return
		}
	}
}

// of returns the claim of writer.
func (c *Claims) of(writer uint32) (own claim, ok bool) {
	for _, old := range c.all {
		if old.writer == writer {
			return old, true
		}
	}
	return claim{}, false
}

// endOthers ends the open claims of other writers to a file of size bytes.
func (c *Claims) endOthers(id vfs.ID, size int64) error {
	for at, old := range c.all {
		if old.end == End && old.id == id && old.writer != c.writer {
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
func (c *Claims) store(mine claim) error {
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
func (c *Claims) write(at int, x claim) error {
	putClaim(c.out[:], c.Boot, x)
	_, err := c.file.WriteAt(c.out[:], int64(at))
	return err
}

// Claim claims the file from start to whatever is written, before anything is
// written there; size is its size. If there can be no claim, the spool must not
// write while its stored mark contains the writer, since Resume would trust an
// old claim: Claim then returns false once, and the next mark has no writer.
// The claims stay locked if locking succeeded.
func (c *Claims) Claim(id vfs.ID, start, size int64) bool {
	if c.locked {
		err := c.endOthers(id, size)
		if err == nil {
			err = c.store(claim{epoch: c.epoch, id: id, start: start, end: End})
		}
		if err == nil {
			c.unusable, c.pause = false, 0
			return true
		}
		c.fail(err)
	}
	marked := c.marked
	c.unusable, c.marked = true, false // false only once, as the spool may not store marks
	return !marked
}

// Begin stores an empty claim of an older epoch before there is a mark. Then
// InFlight can determine that no batch was begun.
func (c *Claims) Begin() {
	if c.stored || !c.Lock() {
		return
	}
	defer c.Unlock()
	if _, c.stored = c.of(c.writer); c.stored {
		return
	}
	if err := c.store(claim{epoch: c.epoch - 1}); err != nil {
		c.fail(err)
	}
}

// InFlight returns where lines written after p can be: in the file of a
// position, after that position and between two offsets. It returns false if
// the claims do not determine that; then they can be anywhere after p. The
// claims stay locked if locking succeeded.
func (c *Claims) InFlight(p Position) (in Position, start, end int64, ok bool) {
	c.writer, c.epoch = p.Writer, p.Epoch
	if !c.locked || p.Writer == 0 {
		return p, 0, End, false
	}
	own, ok := c.of(p.Writer)
	if c.stored = ok; !ok {
		return p, 0, End, false
	}
	switch age := int32(own.epoch - p.Epoch); {
	case age < 0:
		return p, 0, 0, true
	case age > 0:
		c.epoch = own.epoch
		return p, 0, End, false
	case own.id != p.ID: // the file of p was rotated before
		return Position{ID: own.id}, own.start, own.end, true
	}
	return p, own.start, own.end, true
}
