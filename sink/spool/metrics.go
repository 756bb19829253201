// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"iter"
	"slices"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Sink)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_spool_; the label spool is
// the directory, "" in memory, and destination is the name of a destination. It
// includes the metrics of destinations that are Sources.
func (s *Sink) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	st, bytes := s.Stats(), s.diskUse()
	spool := metrics.Label{Name: "spool", Value: s.path()}
	l.Counter("nib_spool_lines_total", "Lines written to the spool.", float64(st.Logged), spool)
	l.Counter("nib_spool_notices_total", "Lines of the spool's own that report dropped lines.", float64(st.Notices), spool)
	l.Counter("nib_spool_errors_total", "Errors of file operations.", float64(st.Errors), spool)
	l.Counter("nib_spool_quarantined_files_total", "Damaged files that were quarantined.", float64(st.Bad), spool)
	l.Counter("nib_spool_retired_segments_total", "Segments whose files failed while in use.", float64(st.Retired), spool)
	l.Counter("nib_spool_unsynced_lines_total", "Lines whose calls did not wait until they were synced.", float64(st.Unsynced), spool)
	l.Gauge("nib_spool_segments", "Segments.", float64(st.Segments), spool)
	l.Gauge("nib_spool_disk_bytes", "Size of all segments, those of other processes in a shared directory included.", float64(bytes), spool)
	for i, d := range s.deliveries {
		d.metrics(&l, &st.Destinations[i], spool)
	}
	return l.Metrics()
}

func (d *deliverer) metrics(l *metrics.Samples, st *DestinationStats, spool metrics.Label) {
	d.s.mu.Lock()
	traffic, pending, age := d.traffic, d.pendingBytes(), d.age(time.Now())
	d.s.mu.Unlock()
	if st.Pending == 0 {
		pending, age = 0, 0
	}
	labels := []metrics.Label{spool, {Name: "destination", Value: d.name}}
	traffic.Metrics(l, "nib_spool_delivered", "delivered", labels...)
	loss.Metrics(l, "nib_spool", reasons[:], levelsOf(st.Dropped), labels...)
	l.Gauge("nib_spool_pending_lines", "Lines in the spool that are not delivered.", float64(st.Pending), labels...)
	l.Gauge("nib_spool_pending_bytes", "Bytes of these lines, an upper bound.", float64(pending), labels...)
	l.Gauge("nib_spool_oldest_line_age_seconds", "Age of the oldest line that is not delivered; 0 if there is none.", age.Seconds(), labels...)
	l.Counter("nib_spool_recovered_lines_total", "Lines of former processes found at the start.", float64(st.Recovered), labels...)
	l.Counter("nib_spool_unfinished_lines_total", "Lines that a former process had not finished writing.", float64(st.Unfinished), labels...)
	l.Counter("nib_spool_delivery_attempts_total", "Batches given to the destination.", float64(st.Attempts), labels...)
	l.Counter("nib_spool_delivery_failures_total", "Batches that the destination did not accept as a whole.", float64(st.Failures), labels...)
	l.Gauge("nib_spool_delivery_busy_seconds", "Duration of the delivery in progress; 0 if there is none.", st.Busy.Seconds(), labels...)
	*l = slices.AppendSeq(*l, metrics.Of(d.dest).Metrics())
}

// levelsOf returns drops as a table.
func levelsOf(drops []delivery.Drop) []loss.Levels {
	table := make([]loss.Levels, causes)
	for _, d := range drops {
		for c, reason := range reasons {
			if d.Reason == reason {
				table[c][level.Row(int(d.Level))] += d.Lines
			}
		}
	}
	return table
}

// diskUse returns the bytes of all segments.
func (s *Sink) diskUse() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes + s.others
}

// path returns the directory that Open was given.
func (s *Sink) path() string {
	switch {
	case s.home != nil:
		return s.home.path
	case s.dir != nil:
		return s.dir.path
	}
	return ""
}
