// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"slices"

	"github.com/nib-log/nib/sink/spool/internal/deliver"
)

// position returns the number of the first record that some destination has not
// settled.
func (s *Sink) position() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lowest()
}

// lowest is position under mu.
func (s *Sink) lowest() uint64 {
	lowest := s.deliveries[0].Settled
	for _, d := range s.deliveries {
		lowest = min(lowest, d.Settled)
	}
	return lowest
}

// fault counts and reports a file operation that went wrong.
func (s *Sink) fault(op string, err error) {
	s.mu.Lock()
	s.stats.Errors++
	s.mu.Unlock()
	s.report(op, err)
}

// faultLocked is fault under mu.
func (s *Sink) faultLocked(op string, err error) {
	s.stats.Errors++
	s.queueReport(opError{op, err, deliver.TextOf(err)})
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

// leftLines reports whether lines in memory were dropped. mu is held.
func (s *Sink) leftLines() bool {
	return slices.ContainsFunc(s.deliveries, func(d *deliver.Delivery) bool { return d.LinesLeft })
}
