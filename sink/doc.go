// SPDX-License-Identifier: Apache-2.0

// Package sink combines sinks: [Tee] hands a record to several, [Route] to one
// of several by its level, [Filter] to one or to none, [Discard] to none.
//
// A combinator is a [nib.Sink] and keeps its contract: any number of goroutines
// may call it at the same time, a record and its bytes are passed on as they
// are, borrowed for the call, and WriteRecord does not allocate. It adds no lock
// and no goroutine of its own; Flush uses one goroutine per branch while it
// runs. Nothing is closed: whoever opened a sink closes it.
//
// An io.Writer takes part through [nib.WriterSink]:
//
//	log := nib.NewSink(sink.Tee(nib.WriterSink(os.Stderr), file))
//
// NeverLogs of a Tee or a Route is true if it is for all their branches.
package sink
