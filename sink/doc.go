// SPDX-License-Identifier: Apache-2.0

// Package sink combines sinks. Some choose where a record goes:
//
//	Tee        to several, none of which can keep the others from it
//	Route      to one of several, by its level
//	Filter     to one or to none, by a function
//	Discard    to none
//
// some which records are worth writing, and say what they have left out:
//
//	Limit      at most so many per second, by call site and by level
//	Sample     the first ones of those with the same message, and then each nth
//	Backtrace  those below a level only once something has gone wrong
//
// and some only look on:
//
//	Sites      counts lines and bytes per call site
//	Named      gives a sink a name, for errors and counters
//
// A combinator is a [nib.Sink] and keeps its contract: any number of goroutines
// may call it at the same time, a record and its bytes are passed on as they
// are, borrowed for the call, and WriteRecord does not allocate. No lock is held
// while a sink is called, except where a doc comment says so, and there is no
// goroutine; Flush uses one per branch while it runs, and a Tee one for each line
// that a branch holds up. Memory is bounded, and the bound can be set. Nothing is
// closed: whoever opened a sink closes it.
//
// An io.Writer takes part through [nib.WriterSink]:
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
// All of them are a [metrics.Source] of what they count and of the metrics of the
// sinks behind them. The label branch is the path of names or indices from a [Tee]
// or [Route] to the sink. A line is in one of the counts when its call has returned,
// so they add up.
//
// What stands where decides what they mean. In
//
//	sites := sink.Sites(file, sink.SitesConfig{})
//	limit := sink.Limit(sites, sink.LimitConfig{PerSite: sink.Rate{PerSecond: 100}})
//	trace := sink.Backtrace(limit, sink.BacktraceConfig{})
//
// the lines of a backtrace are limited like all others, and only what passes is
// counted by call site. Call sites are known if the logger has [nib.WithCaller].
package sink
