// SPDX-License-Identifier: Apache-2.0

// Package sink combines sinks. Some combinators choose the destination of a
// record:
//
//	Tee        to several, and none can keep the others from it
//	Route      to one of several, by its level
//	Filter     to one or to none, by a function
//	Discard    to none
//
// some limit which records are written, and report how many they have
// suppressed:
//
//	Limit      at most so many per second, by call site and by level
//	Sample     the first ones of those with the same message, and then each nth
//	Backtrace  those below a level only once something has gone wrong
//
// and one only observes:
//
//	Named      gives a sink a name, for errors and counters
//
// A combinator is a [nib.Sink] and keeps its contract: it is safe for
// concurrent use, it forwards a record and its bytes unchanged, borrowed for
// the call, and WriteRecord does not allocate. No lock is held while a sink is
// called, except where documented. Combinators start no goroutines, except that
// Flush uses one per branch while it runs, and a Tee one for each line that a
// branch holds up. Memory is bounded, and the bound can be configured. A
// combinator does not close its sinks.
//
// [NewWriter] makes an io.Writer of a sink, for other loggers, and
// [nib.WriterSink] makes a sink of an io.Writer:
//
//	func newLogger(file nib.Sink) *nib.Logger {
//		stderr := nib.WriterSink(os.Stderr)
//		errors := sink.Filter(stderr, func(r *nib.Record) bool {
//			return r.Level >= nib.LevelError
//		})
//		return nib.NewSink(sink.Tee(
//			sink.Named("stderr", errors),
//			sink.Named("file", file),
//		))
//	}
//
// All combinators implement [metrics.Source], with their own counters and the
// metrics of the sinks behind them. The label branch is the path of names or
// indices from a [Tee] or [Route] to the sink. Once the call for a line has
// returned, the line is in exactly one of the counters, so they add up.
//
// The order of combinators matters. In
//
//	limit := sink.Limit(file, sink.LimitConfig{PerSite: sink.Rate{PerSecond: 100}})
//	trace := sink.Backtrace(limit, sink.BacktraceConfig{})
//
// the lines of a backtrace are limited like all others. Call sites are known if
// the logger has [nib.WithCaller].
package sink
