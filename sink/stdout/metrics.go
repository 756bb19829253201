// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"iter"

	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Sink)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_stdout_; the
// label stream is the name of Config.File. It waits for a write that is in
// progress.
func (s *Sink) Metrics() iter.Seq[metrics.Metric] {
	s.mu.Lock()
	st, written, dropped := s.stats(), s.written, s.head.dropped
	s.mu.Unlock()
	var l metrics.Samples
	stream := metrics.Label{Name: "stream", Value: s.name}
	written.Metrics(&l, "nib_stdout", "written", stream)
	loss.Metrics(&l, "nib_stdout", reasons[:], dropped[:causes], stream)
	l.Gauge("nib_stdout_buffered_lines", "Lines in the buffer.", float64(st.Pending), stream)
	l.Counter("nib_stdout_notices_total", "Lines of the sink's own that report dropped lines.",
		float64(st.Notices), stream)
	return l.Metrics()
}
