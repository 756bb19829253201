// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"slices"
	"sync/atomic"

	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A chain is the segments of a spool, the space that they use, and the lock
// that protects them. The last segment is active: lines are written to it. Each
// delivery reads the chain from its oldest segment on.
//
// The lock is taken when a segment is full, and once per batch by each
// delivering goroutine. Lock order: chain, then the locks of peers, then a lock
// of package store or segment, then the lock of the reporter. OnError and
// destinations are called without any.
type chain struct {
	active  atomic.Pointer[segment.Segment] // shared by writers, without a lock
	idle    atomic.Bool                     // a delivering goroutine is asleep and must be woken
	resting atomic.Bool                     // the copier is asleep and must be woken

	origin
	deliver.Chain
	space
	counts
	uncopied  []*segment.Segment // segments that the copier has not taken over yet
	unpatched []*segment.Segment // segments that are no longer read and have patches to write
}

// An origin is what does not change once a spool is open.
type origin struct {
	c          *Config
	dir        *store.Dir          // nil if the spool is in memory
	stream     uint64              // of the records of this process
	opened     uint64              // number of the first record of this process
	keep       bool                // no destination: records are kept
	copies     bool                // segments are copied
	deliveries []*deliver.Delivery // one without a destination if there is none
	peers      peers
	reports    *reporter
	more       chan struct{} // signals the maker that there may be a segment to make
}

// space counts the segments, and holds the one that is ready.
type space struct {
	next      *segment.Segment // created in advance
	making    bool             // next is being made
	makeErr   error            // why that failed
	number    uint64           // number of the last segment created
	segments  int              // number of segments that exist: those in chain, next, and those that are being deleted
	dropAsked bool             // a call waits for the oldest segment to be dropped
	dropping  bool             // for a call that waits, a segment is being dropped, and then one made
	settled   []*deliver.Link  // segments that left the chain and still have their files; see freeSettled
	bytes     int64            // bytes of the settled segments
	limit     int64            // maximum of bytes: Config.Size, less what peers use
}

// counts are of dropped lines, except those that one destination has lost.
type counts struct {
	dropped   segment.Tally // records dropped before they reached a destination
	reported  segment.Tally // of dropped and inherited: those that a notice has reported
	inherited segment.Tally // dropped by earlier processes and never reported
	carried   segment.Tally // of inherited: in the reported section of active, but in no notice
	published segment.Tally // the counts in the header of active
	unmapped  bool          // active may be unmapped
	notices   *loss.Notices
	stats     Stats // counts that are not of a destination; Logged counts dropped lines only
}

// link makes a segment of this process the last of the chain. The lock is held.
func (ch *chain) link(g *segment.Segment) {
	old := *g.Old()
	old.Copied = ch.copies
	ch.Links = append(ch.Links, &deliver.Link{Old: old, Live: g, Waiting: len(ch.deliveries)})
}

// unload frees the memory of twins that are not being read: they are read from
// their files later, like those of other processes. The lock is held.
func (ch *chain) unload() {
	for _, l := range ch.Links[:len(ch.Links)-1] {
		g := l.Live
		if g == nil || !g.IsWritten() || slices.ContainsFunc(ch.deliveries, func(d *deliver.Delivery) bool { return d.IsAt(l) }) {
			continue
		}
		if next, whole := g.Whole(); whole {
			l.Live, l.End, l.Sure, l.Whole, l.Reported = nil, next, next, true, g.Reported
			g.Release()
		}
	}
}

// near is the number of segments after the one being read that keep their
// pages.
const near = 1

// evict evicts the pages of mapped segments that will not be read soon, but
// keeps the mappings. The lines are then in the page cache, where the system
// can reclaim them, and do not count as memory of the process. A goroutine that
// accesses such a page faults it in; a reader prefetches the whole segment when
// it begins. The lock is held.
func (ch *chain) evict() {
	soon := 0 // the next segments are read or near
	for i, l := range ch.Links {
		if slices.ContainsFunc(ch.deliveries, func(d *deliver.Delivery) bool { return d.IsAt(l) }) {
			soon = near + 1
		}
		soon--
		g := l.Live
		if soon >= 0 || i >= len(ch.Links)-2 || g == nil || !g.IsMapped() {
			continue // the last one is active, and the one before is being copied
		}
		if ch.dir.Sweeper.Count() == store.MostSpent {
			return // the next call evicts the rest
		}
		if g.Evict() {
			ch.dir.Sweeper.Add(&store.Spent{Pages: g.Bytes(), Unmap: g.Release})
		}
	}
}

// position returns the number of the first record that some destination has not
// settled.
func (ch *chain) position() uint64 {
	ch.Lock()
	defer ch.Unlock()
	return ch.lowest()
}

// settledIn returns the number of the first record that some destination has
// not settled, and the offset and the number of a record in a segment of this
// process, before which every record is settled by all, or 0.
func (ch *chain) settledIn(segment uint64) (settled uint64, at int, seq uint64) {
	ch.Lock()
	defer ch.Unlock()
	settled = ch.lowest()
	for _, d := range ch.deliveries {
		if d.Settled == settled {
			at, seq = d.SettledIn(segment)
			break
		}
	}
	return settled, at, seq
}

// lowest is position under the lock.
func (ch *chain) lowest() uint64 {
	lowest := ch.deliveries[0].Settled
	for _, d := range ch.deliveries {
		lowest = min(lowest, d.Settled)
	}
	return lowest
}

// settledAll reports whether all destinations have settled the records before
// number end. The lock is held.
func (ch *chain) settledAll(end uint64) bool {
	for _, d := range ch.deliveries {
		if d.Settled < end {
			return false
		}
	}
	return true
}

// wake wakes the delivering goroutines that are asleep. They checked for
// records after setting idle, and have either seen this one or are woken here.
func (ch *chain) wake() {
	if ch.idle.CompareAndSwap(true, false) {
		ch.poke()
	}
}

// poke wakes the delivering goroutines that are asleep, all of them: idle does
// not say which ones are.
func (ch *chain) poke() {
	for _, d := range ch.deliveries {
		d.Wake()
	}
}

// urge wakes the delivering goroutines, whether asleep or between attempts.
func (ch *chain) urge() {
	for _, d := range ch.deliveries {
		d.Urge()
	}
}
