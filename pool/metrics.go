// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"iter"

	"github.com/nib-log/nib/metrics"
)

// Metrics implements [metrics.Source]. The names begin with nib_pool_. A pool
// has no name; add one with [metrics.WithLabels].
func (p *Pool[T]) Metrics() iter.Seq[metrics.Metric] {
	l := p.Stats().metrics()
	return l.Metrics()
}

// Metrics implements [metrics.Source]; see [Pool.Metrics].
func (p *ErasablePool[T]) Metrics() iter.Seq[metrics.Metric] {
	st := p.Stats()
	l := st.metrics()
	l.Counter("nib_pool_erase_failures_total", "Values dropped because they could not be erased.",
		float64(st.Failed))
	return l.Metrics()
}

// Metrics implements [metrics.Source]; see [Pool.Metrics].
func (p *Buffers) Metrics() iter.Seq[metrics.Metric] {
	st := p.Stats()
	l := st.Stats.metrics()
	l.Gauge("nib_pool_idle_bytes", "Memory of idle buffers.", float64(st.Bytes))
	l.Counter("nib_pool_oversize_gets_total",
		"Gets of buffers above the largest size that is kept.", float64(st.Oversize))
	l.Counter("nib_pool_grown_total", "Moves of a buffer to larger memory by its methods.",
		float64(st.Grown))
	l.Counter("nib_pool_outgrown_total", "Buffers that append had moved to other memory.",
		float64(st.Outgrown))
	l.Counter("nib_pool_misused_total", "Calls on buffers that were idle or not of the pool.",
		float64(st.Misused))
	return l.Metrics()
}

func (s Stats) metrics() (l metrics.Samples) {
	l.Counter("nib_pool_gets_total", "Calls of Get.", float64(s.Gets))
	l.Counter("nib_pool_hits_total", "Calls of Get that found an idle value.", float64(s.Hits))
	l.Counter("nib_pool_puts_total", "Calls of Put.", float64(s.Puts))
	l.Counter("nib_pool_dropped_total", "Values that Put did not keep.", float64(s.Dropped))
	l.Counter("nib_pool_trimmed_total", "Idle values dropped by Trim or after garbage collections.",
		float64(s.Trimmed))
	l.Gauge("nib_pool_idle_values", "Idle values.", float64(s.Len))
	return l
}
