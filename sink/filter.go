// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"sync/atomic"

	"github.com/nib-log/nib"
)

// Filter makes a sink that hands on the records that keep says true for. keep
// runs on the goroutine that logs and must be safe for concurrent use; it must
// not change or keep the record. One that panics or ends the goroutine lets the
// record through: a faulty filter shows too much, never too little. Since keep
// may log, NeverLogs is false. It counts the lines handed on, those that were not,
// and the faults of keep. Nil arguments panic. 0 allocs per record but for those
// of keep.
func Filter(s nib.Sink, keep func(*nib.Record) bool) nib.Sink {
	if keep == nil {
		panic("nib/sink: Filter with a nil function")
	}
	f := &filter{branches: newBranches("Filter", s), sink: s, keep: keep}
	f.neverLogs = false
	return f
}

type filter struct {
	branches
	sink nib.Sink
	keep func(*nib.Record) bool

	passed, dropped, faults atomic.Uint64
}

var (
	_ nib.Sink = (*filter)(nil)
	_ Counter  = (*filter)(nil)
)

// WriteRecord hands r on if it is to be kept.
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

// Counters implements Counter.
func (f *filter) Counters(visit Visit) {
	visit("nib_filter_passed_total", "Lines that a Filter has handed on.", f.passed.Load())
	visit("nib_filter_dropped_total", "Lines that a Filter has dropped.", f.dropped.Load())
	visit("nib_filter_faults_total", "Lines that passed because the function of a Filter panicked.", f.faults.Load())
	f.visit(visit)
}
