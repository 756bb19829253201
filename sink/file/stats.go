// SPDX-License-Identifier: Apache-2.0

package file

import (
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/loss"
)

// Stats counts the lines of a Sink. For lines whose calls have returned, logged
// = Lines + Pending + the sum of Dropped, which is [Stats.Lost]. Lines that
// Deliver did not settle still belong to the caller, and are not counted.
type Stats struct {
	Lines   uint64          // written, or delivered
	Bytes   uint64          // bytes of these lines
	Pending uint64          // lines in the buffer
	Notices uint64          // lines written by the sink itself, each of which reports a loss
	Dropped []delivery.Drop // counts by reason and level, zero counts omitted

	Rotations   uint64 // files that this sink has ended
	Followed    uint64 // times that another program had renamed or removed the file
	Truncations uint64 // times that another program had truncated the file
	Errors      uint64 // all errors, including those after which a retry succeeded
}

// Lost returns the number of lines dropped, for all reasons.
func (s Stats) Lost() uint64 { return loss.Sum(s.Dropped) }

// Stats returns the current counts. It may be called at any time, and waits for
// a write(2) that is in progress. It allocates if lines were dropped.
func (s *Sink) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.counts()
	st.Lines, st.Bytes = s.written.Total()
	st.Dropped = s.dropped.Drops(reasons[:])
	return st
}

// counts returns the counts except for Lines, Bytes and Dropped. The lock is
// held.
func (s *Sink) counts() Stats {
	st := s.stats
	st.Pending, st.Errors = s.pending(), s.errors.count.Load()
	return st
}

// A cause is a delivery.Reason as an index.
type cause int

const (
	full cause = iota
	failed
	closed
	causes
)

var reasons = [causes]delivery.Reason{delivery.ReasonFull, delivery.ReasonFailed, delivery.ReasonClosed}
