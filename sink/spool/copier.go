// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A copier is the goroutine that makes lines survive a power failure. A mapping
// that is being written to must not be synced: while the system writes a page
// to disk, a store to it waits. So the copier reads the committed records from
// the mapping, which no longer change, writes them to the same place of a
// second file, and syncs that file once for all lines of the last few
// milliseconds. It skips lines that are settled within half of
// [Config.SyncDelay]: most of them, while the destination is up.
//
// Data whose sync failed may be lost even if a later sync succeeds. So a file
// that fails is abandoned, and another one is written from memory, after a
// pause.
type copier struct {
	ch    *chain
	list  []*copied // copies not yet removed, oldest first
	due   uint64    // a round copies the records below it; most others are settled before the next
	pause time.Duration
	timer *time.Timer

	failing atomic.Bool   // the last round did not succeed
	synced  atomic.Uint64 // number of the first record that is not safe

	wakeup  chan struct{} // signals that there are lines
	urged   chan struct{} // signals that a call waits for them
	removed chan struct{} // signals that a segment with a copy was removed
	stop    chan struct{} // closed when all deliveries have ended
	done    chan struct{}
}

// A copied is a segment of this process and its copy.
type copied struct {
	g        *segment.Segment
	file     vfs.File // nil if there is no file
	at       int      // everything before this offset of g is in file and synced, or settled
	next     uint64   // number of the record at that offset
	safe     uint64   // highest value that next had
	retained bool     // g is retained: its bytes are in memory

	gone  bool // a page of g could not be read
	again time.Time
	pause time.Duration // pause before the page is read again
}

func newCopier(ch *chain) *copier {
	return &copier{
		ch: ch, wakeup: make(chan struct{}, 1), urged: make(chan struct{}, 1),
		removed: make(chan struct{}, 1),
		stop:    make(chan struct{}), done: make(chan struct{}),
	}
}

// run is the goroutine of the copier. It ends when all deliveries have ended.
func (c *copier) run() {
	defer close(c.done)
	c.timer = time.NewTimer(0)
	for !c.stopped() {
		worked, err := c.round()
		switch {
		case err != nil:
			c.ch.reports.Fault("sync lines", err)
			c.pause = min(max(2*c.pause, c.ch.c.tick), deliver.LongestPause)
			c.wait(c.pause, nil)
		case worked:
			c.pause = 0
			c.wait(c.ch.c.SyncDelay/2, c.urged)
		default:
			c.rest()
		}
	}
	c.due = math.MaxUint64
	if _, err := c.round(); err != nil {
		c.ch.reports.Fault("sync lines", err)
	}
	for _, x := range c.list {
		c.close(x)
		x.release()
	}
}

func (c *copier) stopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// wait lets lines collect for d, or until urged is signaled. The lines that
// exist when it begins are due when it ends. It discards the copies of segments
// that are removed until then.
func (c *copier) wait(d time.Duration, urged <-chan struct{}) {
	_, c.due, _ = c.ch.active.Load().Claimed()
	if c.failing.Load() {
		d = min(d, deliver.LongestPause)
	}
	c.timer.Reset(d)
	for {
		select {
		case <-c.timer.C:
		case <-urged:
			c.due = math.MaxUint64
		case <-c.removed:
			c.take()
			continue
		case <-c.stop:
		}
		return
	}
}

// rest sleeps until there are lines, and then lets more of them collect.
func (c *copier) rest() {
	if !c.hasUnsynced() {
		c.ch.resting.Store(true)
		if !c.hasUnsynced() { // again: a record precedes this check, or its writer sees resting
			select {
			case <-c.wakeup:
			case <-c.urged:
				store.Signal(c.urged) // wait returns at once
			case <-c.removed:
				store.Signal(c.removed)
			case <-c.stop:
			}
		}
		c.ch.resting.Store(false)
	}
	c.wait(c.ch.c.SyncDelay/2, c.urged)
}

// hasUnsynced reports whether there are records that are not safe.
func (c *copier) hasUnsynced() bool {
	_, next, _ := c.ch.active.Load().Claimed()
	return c.synced.Load() < next && c.ch.Position() < next
}

// wake wakes the copier if it is resting.
func (c *copier) wake() {
	if c.ch.resting.CompareAndSwap(true, false) {
		store.Signal(c.wakeup)
	}
}

// round syncs the committed records and publishes the progress.
func (c *copier) round() (worked bool, err error) {
	c.take()
	gone := false
	for _, x := range c.list {
		did, e := c.copy(x)
		if worked = worked || did; e != nil {
			err = e
		}
		gone = gone || x.gone
	}
	failing := err != nil || gone
	c.failing.Store(failing)
	if worked || failing {
		c.publish()
	}
	return worked, err
}

// take takes over the segments that were activated since it was called before,
// and ends the copies of those that were removed.
func (c *copier) take() {
	c.ch.Lock()
	for _, g := range c.ch.uncopied {
		c.list = append(c.list, &copied{
			g: g, at: segment.HeaderSize, next: g.First, safe: g.First, retained: true,
		})
	}
	c.ch.uncopied = nil
	c.ch.Unlock()
	c.list = slices.DeleteFunc(c.list, c.discard)
}

// copy copies the new records of a segment that are due, except settled ones.
func (c *copier) copy(x *copied) (worked bool, err error) {
	if !x.retained || time.Now().Before(x.again) {
		return false, nil
	}
	settled := x.skip(c.ch.SettledIn(x.g.Number))
	worked = c.skipVoids(x)
	if _, next, _ := x.g.Claimed(); settled >= c.due && settled < next {
		return worked, nil
	}
	end, next, whole, ok := x.committed(c.due)
	ok = ok || end > x.at // the part before the page can be copied
	if end > x.at {
		worked = true
		err = c.write(x, end)
	}
	if errors.Is(err, syscall.EFAULT) {
		ok, err = false, nil
	}
	switch {
	case !ok:
		c.unreadable(x)
	case err != nil:
		c.close(x)
		x.at, x.next = segment.HeaderSize, x.g.First
	default:
		x.at, x.next, x.safe = end, next, max(x.safe, next)
		x.gone, x.pause = false, 0
		if whole {
			c.close(x)
			x.release()
		}
	}
	return worked, err
}

// skip moves past records that are settled without reading them: their bytes
// are in the cache of the processor that delivers.
func (x *copied) skip(settled uint64, at int, seq uint64) uint64 {
	if end, next, _ := x.g.Claimed(); settled >= next {
		at, seq = end, next
	}
	x.at, x.next = max(x.at, at), max(x.next, seq)
	return settled
}

// skipVoids moves past void claims, and reports whether there were any. The
// copy has zeros there.
func (c *copier) skipVoids(x *copied) (moved bool) {
	for {
		size, void := x.g.VoidAt(x.at)
		if !void {
			return moved
		}
		x.at, x.next, moved = x.at+size, x.next+1, true
	}
}

// unreadable seals a segment that has an unreadable page, so that lines
// continue in a segment that can be copied. The page is read again, with
// growing pauses: it may become readable, and until then its lines are not
// safe.
func (c *copier) unreadable(x *copied) {
	x.g.Seal()
	x.gone, x.pause = true, min(max(2*x.pause, c.ch.c.tick), deliver.LongestPause)
	x.again = time.Now().Add(x.pause)
	if !c.ch.dir.Copies.IsRemoved(x.g.Number) { // the file of a removed segment may be being freed
		c.ch.reports.Fault("sync lines", segment.ErrGone)
	}
}

// committed returns the end of the committed records below due that precede the
// first uncommitted claim, the number of the next record, and whether there
// will be no more. ok is false if it has met a page that cannot be read, or a
// record whose length is damaged.
func (x *copied) committed(due uint64) (end int, next uint64, whole, ok bool) {
	g := x.g
	defer g.EndGuard(debug.SetPanicOnFault(true))
	claimed, _, final := g.Claimed()
	end, next = x.at, x.next
	for end < claimed && next < due && g.Committed(end) {
		behind := g.Behind(end)
		if behind > claimed {
			return end, next, false, false
		}
		end, next = behind, next+1
	}
	return end, next, final && end == claimed, true
}

// write writes the bytes up to end, and syncs them.
func (c *copier) write(x *copied, end int) (err error) {
	if x.file == nil {
		x.file, err = c.ch.dir.Copies.Make(x.g, x.at, end)
		return err
	}
	if _, err = x.file.WriteAt(x.g.Bytes()[x.at:end], int64(x.at)); err == nil {
		err = x.file.SyncData()
	}
	return err
}

// discard ends a copy whose segment was removed, and reports whether it was.
func (c *copier) discard(x *copied) bool {
	if !c.ch.dir.Copies.IsRemoved(x.g.Number) {
		return false
	}
	c.close(x)
	x.release()
	if err := c.ch.dir.Copies.RemoveOwned(x.g.Number); err != nil {
		c.ch.reports.Fault("delete a copy", err) // the next start deletes it
	}
	return true
}

func (c *copier) close(x *copied) {
	if x.file != nil {
		c.ch.dir.Close("a copy", x.file)
		x.file = nil
	}
}

func (x *copied) release() {
	if x.retained {
		x.g.Release()
	}
	x.retained = false
}

// publish stores which lines are safe, and wakes the waiters.
func (c *copier) publish() {
	var safe uint64
	for _, x := range c.list {
		safe = x.safe
		if x.retained {
			break
		}
	}
	c.synced.Store(max(c.synced.Load(), safe))
	c.ch.Lock()
	c.ch.Broadcast()
	c.ch.Unlock()
}
