// SPDX-License-Identifier: Apache-2.0

package sink

import "github.com/nib-log/nib"

// Filter makes a sink that hands on the records that keep says true for. keep
// runs on the goroutine that logs and must be safe for concurrent use; it must
// not change or keep the record. One that panics or ends the goroutine lets the
// record through: a faulty filter shows too much, never too little. Since keep
// may log, NeverLogs is false. Nil arguments panic. 0
// allocs per record but for those of keep.
func Filter(s nib.Sink, keep func(*nib.Record) bool) nib.Sink {
	if keep == nil {
		panic("nib/sink: Filter with a nil function")
	}
	f := &filter{branches: newBranches("Filter", []nib.Sink{s}), sink: s, keep: keep}
	f.neverLogs = false
	return f
}

type filter struct {
	branches
	sink nib.Sink
	keep func(*nib.Record) bool
}

var _ nib.Sink = (*filter)(nil)

// WriteRecord hands r on if it is to be kept.
func (f *filter) WriteRecord(r *nib.Record) (err error) {
	decided := false
	defer func() {
		if !decided {
			_ = recover() // nil when keep ends the goroutine
			err = f.sink.WriteRecord(r)
		}
	}()
	keep := f.keep(r)
	decided = true
	if !keep {
		return nil
	}
	return f.sink.WriteRecord(r)
}
