// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"sync"

	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// position returns the number of the first record that some destination has not
// settled.
func (s *Sink) position() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lowest()
}

// settledIn returns the number of the first record that some destination has
// not settled, and the offset and the number of a record in a segment of this
// process, before which every record is settled by all, or 0.
func (s *Sink) settledIn(segment uint64) (settled uint64, at int, seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settled = s.lowest()
	for _, d := range s.deliveries {
		if d.Settled == settled {
			at, seq = d.SettledIn(segment)
			break
		}
	}
	return settled, at, seq
}

// lowest is position under mu.
func (s *Sink) lowest() uint64 {
	lowest := s.deliveries[0].Settled
	for _, d := range s.deliveries {
		lowest = min(lowest, d.Settled)
	}
	return lowest
}

// isClosed reports whether Close was called.
func (s *Sink) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// settledAll reports whether all destinations have settled the records before
// number end. mu is held.
func (s *Sink) settledAll(end uint64) bool {
	for _, d := range s.deliveries {
		if d.Settled < end {
			return false
		}
	}
	return true
}

// A maker holds the channels of the goroutine that makes segments.
type maker struct {
	more   chan struct{} // signals that there may be a segment to make
	spare  chan []byte   // in memory: the mapping of a segment that was delivered
	made   chan struct{} // the goroutine has ended
	finish func() error  // completes the first segment; nil if nothing is left to do
	safe   chan struct{} // closed when finish is done: then its records may be delivered
}

// state is shared by calls, deliveries, the copier and the goroutine that makes
// segments. mu protects it, and the links and the progress of the deliveries.
// It is taken when a segment is full, and once per batch by each delivering
// goroutine.
//
// Lock order: mu, then the locks of peers, then a lock of package store or
// segment, then the lock of the reporter. OnError and destinations are called
// without any.
type state struct {
	mu sync.Mutex
	waiters
	space
	counts
	chain     []*deliver.Link // all segments that are in use or were, oldest first
	closed    bool
	running   int                // delivering goroutines
	uncopied  []*segment.Segment // segments that the copier has not taken over yet
	unpatched []*segment.Segment // segments that are no longer read and have patches to write
	stats     Stats              // counts that are not of a destination; Logged counts dropped lines only
	kept      keptLine
	reports   *reporter
}

// waiters are the calls that wait for a change.
type waiters struct {
	changed chan struct{} // closed and replaced when a waiting call should look again
	awaited bool          // a waiting call holds changed
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
	deleting  int              // number of segments that left the chain and are being deleted
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
}
