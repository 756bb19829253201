// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"fmt"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/stdio"
)

var (
	errStalled = stdio.ErrStalled
	errClosed  = fmt.Errorf("nib/stdout: %w", delivery.ErrClosed)
)

// Stats counts the lines of a Sink. For lines whose calls have returned, logged
// = Lines + Pending + the sum of Dropped, which is [Stats.Lost].
type Stats struct {
	Lines   uint64          // written
	Bytes   uint64          // bytes of these lines
	Pending uint64          // lines in the buffer
	Notices uint64          // lines written by the sink itself to report dropped lines
	Dropped []delivery.Drop // counts by reason and level, zero counts omitted
}

// Lost returns the number of lines dropped, for all reasons.
func (s Stats) Lost() uint64 { return loss.Sum(s.Dropped) }

// Stats returns the current counts. It may be called at any time, and waits for
// a write(2) that is in progress. It allocates if lines were dropped.
func (s *Sink) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats()
}

// stats is Stats under mu.
func (s *Sink) stats() Stats {
	st := Stats{Notices: s.head.written, Pending: uint64(s.buffer.lines())}
	st.Lines, st.Bytes = s.written.Total()
	st.Dropped = s.head.dropped.Drops(reasons[:])
	return st
}

// A cause is a delivery.Reason as an index.
type cause int

const (
	stalled cause = iota
	gone
	closed
	failed
	causes
)

var reasons = [causes]delivery.Reason{delivery.ReasonStalled, delivery.ReasonGone,
	delivery.ReasonClosed, delivery.ReasonFailed}

// causeOf returns the cause of an error of a write.
func causeOf(err error) cause {
	if err == stdio.ErrGone {
		return gone
	}
	return failed
}
