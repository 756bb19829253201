// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"iter"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

var _ metrics.Source = (*Sink)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_spool_; the
// label spool is the directory, "" in memory, and destination is the name of a
// destination or [Config.Label]. It includes the metrics of destinations that
// are Sources.
func (s *Sink) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	st, bytes := s.Stats(), s.chain.diskUse()
	spool := metrics.Label{Name: "spool", Value: s.path}
	l.Counter("nib_spool_lines_total", "Lines written to the spool.", float64(st.Logged), spool)
	l.Counter("nib_spool_notices_total", "Lines of the spool's own that report dropped lines.",
		float64(st.Notices), spool)
	l.Counter("nib_spool_errors_total", "Errors of file operations.", float64(st.Errors), spool)
	l.Counter("nib_spool_quarantined_files_total", "Damaged files that were quarantined.",
		float64(st.Bad), spool)
	l.Counter("nib_spool_retired_segments_total", "Segments whose files failed while in use.",
		float64(st.Retired), spool)
	l.Counter("nib_spool_unsynced_lines_total",
		"Lines whose calls did not wait until they were synced.", float64(st.Unsynced), spool)
	l.Gauge("nib_spool_segments", "Segments.", float64(st.Segments), spool)
	l.Gauge("nib_spool_disk_bytes",
		"Size of all segments, those of other processes in a shared directory included.",
		float64(bytes), spool)
	for i, d := range s.chain.Deliveries {
		s.metricsOf(d, &l, &st.Destinations[i], spool)
	}
	return l.Metrics()
}

// metricsOf adds the metrics of a destination.
func (s *Sink) metricsOf(
	d *deliver.Delivery, l *metrics.Samples, st *DestinationStats, spool metrics.Label,
) {
	age := st.more.age
	if s.chain.noDestination && st.Pending > 0 {
		age = s.keptAge(d, time.Now())
	}
	labels := []metrics.Label{spool, {Name: "destination", Value: d.Options.Label}}
	st.more.traffic.Metrics(l, "nib_spool_delivered", "delivered", labels...)
	dropped := tallyOf(st.Dropped)
	loss.Metrics(l, "nib_spool", segment.Reasons[:], dropped[:], labels...)
	l.Gauge("nib_spool_pending_lines", "Lines in the spool that are not delivered.",
		float64(st.Pending), labels...)
	l.Gauge("nib_spool_pending_bytes", "Bytes of these lines, an upper bound.",
		float64(st.more.bytes), labels...)
	l.Gauge("nib_spool_oldest_line_age_seconds",
		"Age of the oldest line that is not delivered; 0 if there is none.", age.Seconds(),
		labels...)
	l.Counter("nib_spool_recovered_lines_total", "Lines of former processes found at the start.",
		float64(st.Recovered), labels...)
	l.Counter("nib_spool_unfinished_lines_total",
		"Lines that a former process had not finished writing.", float64(st.Unfinished), labels...)
	l.Counter("nib_spool_delivery_attempts_total", "Batches given to the destination.",
		float64(st.Attempts), labels...)
	l.Counter("nib_spool_delivery_failures_total",
		"Batches that the destination did not accept as a whole.", float64(st.Failures), labels...)
	l.Gauge("nib_spool_delivery_busy_seconds",
		"Duration of the delivery in progress; 0 if there is none.", st.Busy.Seconds(), labels...)
	*l = slices.AppendSeq(*l, metrics.Of(d.Dest).Metrics())
}

// A keptLine is the oldest line of a spool without a destination.
type keptLine struct {
	oldest  int64  // Time of the oldest record; 0: unknown
	segment uint64 // number of the oldest segment when it was read
}

// keptAge returns the age of the oldest line of a spool without a destination,
// 0 if it cannot be read. The first call reads the file that has the line.
func (s *Sink) keptAge(d *deliver.Delivery, now time.Time) time.Duration {
	s.chain.Lock()
	defer s.chain.Unlock()
	if first := s.chain.Links[0].Number; s.kept.oldest == 0 || s.kept.segment != first {
		settled := d.Settled
		s.chain.Unlock()
		t := oldestIn(s.chain.dir, settled)
		s.chain.Lock()
		s.kept.oldest, s.kept.segment = t, first
	}
	return deliver.AgeOf(now, s.kept.oldest)
}

// oldestIn returns the time of the first record in the files of a spool that is
// not settled, 0 if there is none.
func oldestIn(d *store.Dir, settled uint64) int64 {
	v, err := inspect(d.FS, d.Path)
	if err != nil {
		return 0
	}
	for r, gap := range v.Records(settled) {
		if gap.Kind == "" {
			return r.Time
		}
	}
	return 0
}

// diskUse returns the bytes of all segments, and of those that others have.
func (ch *chain) diskUse() int64 {
	ch.Lock()
	defer ch.Unlock()
	return ch.bytes + ch.c.Size - ch.limit
}
