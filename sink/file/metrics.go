// SPDX-License-Identifier: Apache-2.0

package file

import (
	"iter"

	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Sink)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_file_; the
// label path is the path passed to Open.
func (s *Sink) Metrics() iter.Seq[metrics.Metric] {
	s.mu.Lock()
	st, written, dropped, size := s.counts(), s.written, s.dropped, s.size
	s.mu.Unlock()
	var l metrics.Samples
	path := metrics.Label{Name: "path", Value: s.path}
	written.Metrics(&l, "nib_file", "written", path)
	loss.Metrics(&l, "nib_file", reasons[:], dropped[:causes], path)
	l.Gauge("nib_file_buffered_lines", "Lines in the buffer.", float64(st.Pending), path)
	l.Gauge("nib_file_size_bytes", "Size of the file that is being written.", float64(size), path)
	l.Counter("nib_file_notices_total", "Lines of the sink's own that report dropped lines.", float64(st.Notices), path)
	l.Counter("nib_file_rotations_total", "Files ended by this process.", float64(st.Rotations), path)
	l.Counter("nib_file_followed_total", "Times that another program renamed or removed the file.", float64(st.Followed), path)
	l.Counter("nib_file_truncations_total", "Times that another program truncated the file.", float64(st.Truncations), path)
	l.Counter("nib_file_errors_total", "Errors, those of operations that were repeated successfully included.", float64(st.Errors), path)
	return l.Metrics()
}
