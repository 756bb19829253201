// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"iter"

	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Sink)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_journald_.
func (s *Sink) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	c := &s.counters
	written := c.traffic()
	dropped := c.lost()
	written.Metrics(&l, "nib_journald", "written to the journal")
	loss.Metrics(&l, "nib_journald", reasons[:], dropped[:len(reasons)])
	l.Counter("nib_journald_large_lines_total",
		"Lines too large for a datagram, which were sent in a file.", float64(c.large.Load()))
	l.Counter("nib_journald_reconnects_total", "Times that the socket was connected again.",
		float64(c.reconnects.Load()))
	return l.Metrics()
}
