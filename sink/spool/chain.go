// SPDX-License-Identifier: Apache-2.0

package spool

import (
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
// The lock is taken when a segment is full, and a few times per batch by each
// delivering goroutine. Lock order: chain, then the locks of peers, then a lock
// of package store or segment, then the lock of the reporter. OnError and
// destinations are called without any.
type chain struct {
	active  atomic.Pointer[segment.Segment] // shared by writers, without a lock
	idle    atomic.Bool                     // a delivering goroutine is asleep and must be woken
	resting atomic.Bool                     // the copier is asleep and must be woken

	environment
	deliver.Chain
	space
	counts
	uncopied  []*segment.Segment // segments that the copier has not taken over yet
	unpatched []*segment.Segment // segments that are no longer read and have patches to write
}

// An environment is the part of a chain that does not change once the spool is
// open.
type environment struct {
	c             *Config
	dir           *store.Dir // nil if the spool is in memory
	stream        uint64     // of the records of this process
	opened        uint64     // number of the first record of this process
	noDestination bool       // records are kept for another process
	copier        *copier    // nil if lines are not synced, and segments not copied
	peers         peers
	reports       *reporter
	more          chan struct{} // signals the maker that there may be a segment to make
}

// space counts the segments, and holds the next one.
type space struct {
	next          *segment.Segment // created in advance
	making        bool             // next is being made
	makeErr       error            // why that failed
	number        uint64           // number of the last segment created
	segments      int              // segments that exist: linked, next, or being deleted
	dropRequested bool             // a call waits for the oldest segment to be dropped
	dropping      bool             // a segment is being dropped for such a call
	undeleted     []*deliver.Link  // left the chain, files kept; see freeUndeleted
	headers       []*deliver.Link  // left the chain, headers kept; see keepHeader
	bytes         int64            // bytes of the segments that exist
	limit         int64            // maximum of bytes: Config.Size, less what peers use
	peerDrops     int              // segments that peers have dropped for a call that waits
}

// counts are of dropped lines, except lines that only one destination has lost.
// Of dropped + inherited, a notice has reported some. The header of the active
// segment has the rest, in one of two sections: carried in the reported
// section, where a notice of a dead process was planned, and published in the
// unreported one. So published = dropped + inherited - reported - carried.
type counts struct {
	dropped   segment.Tally // dropped by this process before they reached a destination
	inherited segment.Tally // dropped by earlier processes and never reported
	reported  segment.Tally
	carried   segment.Tally
	published segment.Tally
	unmapped  bool // active may be unmapped
	unbegun   bool // active could not be taken into use: a start ignores its header
	notices   *loss.Notices
	stats     Stats // counts that are not of a destination; Logged counts dropped lines only
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
		if ch.IsRead(l) {
			soon = near + 1
		}
		soon--
		g := l.Live
		if soon >= 0 || i >= len(ch.Links)-2 || g == nil || !g.IsMapped() {
			continue // the last one is active, and the one before is being copied
		}
		full := ch.dir.Sweeper.Count() == store.MostSpent
		switch {
		case !g.Evict():
		case full: // one at once, or a fast writer would leave the sweeper behind
			segment.DiscardPages(g.Bytes())
			g.Release()
			return // the next call evicts the rest
		default:
			ch.dir.Sweeper.Add(&store.Spent{Pages: g.Bytes(), Unmap: g.Release})
		}
	}
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
	for _, d := range ch.Deliveries {
		d.Wake()
	}
}

// urge wakes the delivering goroutines, whether asleep or between attempts.
func (ch *chain) urge() {
	for _, d := range ch.Deliveries {
		d.Urge()
	}
}
