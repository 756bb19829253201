// SPDX-License-Identifier: Apache-2.0

package file

import (
	"iter"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/metrics"
)

// Stats counts the lines of a Sink. For lines whose calls have returned, logged
// = Lines + Pending + the sum of Dropped, which is [Stats.Lost]. Lines that
// Deliver did not settle still belong to the caller, and are not counted.
type Stats struct {
	Lines   uint64          // written, or delivered
	Bytes   uint64          // bytes of these lines
	Pending uint64          // lines in the buffer
	Notices uint64          // lines written by the sink itself to report losses
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
	st.Lines, st.Bytes = s.w.written.Total()
	st.Dropped = s.w.dropped.Drops(reasons[:])
	return st
}

// counts returns the counts except for Lines, Bytes and Dropped. The lock is
// held.
func (s *Sink) counts() Stats {
	st := s.w.stats
	st.Pending, st.Errors = s.pending(), s.w.errors.count.Load()
	return st
}

// Metrics implements [metrics.Source]. The names begin with nib_file_; the
// label path is the path passed to Open.
func (s *Sink) Metrics() iter.Seq[metrics.Metric] {
	s.mu.Lock()
	st, written, dropped, size := s.counts(), s.w.written, s.w.dropped, s.w.size
	s.mu.Unlock()
	var l metrics.Samples
	path := metrics.Label{Name: "path", Value: s.w.path}
	written.Metrics(&l, "nib_file", "written", path)
	loss.Metrics(&l, "nib_file", reasons[:], dropped[:causes], path)
	l.Gauge("nib_file_buffered_lines", "Lines in the buffer.", float64(st.Pending), path)
	l.Gauge("nib_file_size_bytes", "Size of the file that is being written.", float64(size), path)
	l.Counter("nib_file_notices_total", "Lines of the sink's own that report dropped lines.",
		float64(st.Notices), path)
	l.Counter("nib_file_rotations_total", "Files ended by this process.", float64(st.Rotations),
		path)
	l.Counter("nib_file_followed_total", "Times that another program renamed or removed the file.",
		float64(st.Followed), path)
	l.Counter("nib_file_truncations_total", "Times that another program truncated the file.",
		float64(st.Truncations), path)
	l.Counter("nib_file_errors_total",
		"Errors, also of operations that were repeated successfully.", float64(st.Errors), path)
	return l.Metrics()
}

// A cause is a delivery.Reason as an index.
type cause int

const (
	full cause = iota
	failed
	closed
	causes
)

var reasons = [causes]delivery.Reason{delivery.ReasonFull, delivery.ReasonFailed,
	delivery.ReasonClosed}
