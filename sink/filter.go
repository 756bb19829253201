// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"iter"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/metrics"
)

// Filter returns a sink that writes the records for which keep returns true to
// s. keep runs on the goroutine that logs and must be safe for concurrent use;
// it must not change or retain the record. If keep panics or ends the
// goroutine, the record is written: a faulty filter must not lose lines. The
// sink counts passed lines, dropped lines, and faults of keep. Filter panics if
// an argument is nil. The sink does not allocate; keep may.
func Filter(s nib.Sink, keep func(*nib.Record) bool) nib.Sink {
	if keep == nil {
		panic("nib/sink: Filter with a nil function")
	}
	f := &filter{branches: newBranches("Filter", s), sink: s, keep: keep}
	f.mayLog()
	return f
}

type filter struct {
	branches
	sink nib.Sink
	keep func(*nib.Record) bool

	passed, dropped, faults atomic.Uint64
}

var (
	_ nib.Sink       = (*filter)(nil)
	_ metrics.Source = (*filter)(nil)
)

// WriteRecord forwards r if keep returns true.
func (f *filter) WriteRecord(r *nib.Record) (err error) {
	decided := false
	defer func() {
		if !decided {
			_ = recover() // nil when keep ends the goroutine
			f.faults.Add(1)
			f.passed.Add(1)
			err = f.sink.WriteRecord(r)
		}
	}()
	keep := f.keep(r)
	decided = true
	if !keep {
		f.dropped.Add(1)
		return nil
	}
	f.passed.Add(1)
	return f.sink.WriteRecord(r)
}

// Metrics implements [metrics.Source].
func (f *filter) Metrics() iter.Seq[metrics.Metric] { return metricsOf(f) }

func (f *filter) own(l *metrics.Samples) {
	l.Counter("nib_filter_passed_lines_total", "Lines that a Filter passed.",
		float64(f.passed.Load()))
	l.Counter("nib_filter_dropped_lines_total", "Lines that a Filter dropped.",
		float64(f.dropped.Load()))
	l.Counter("nib_filter_faults_total", "Lines passed because the function of a Filter panicked.",
		float64(f.faults.Load()))
}
