// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"io"
	"math"
	"strconv"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/sink"
	"github.com/nib-log/nib/sink/console"
	"github.com/nib-log/nib/sink/logfmt"
)

// behind returns a path of lines of six fields to a sink around another one.
func behind(around func(nib.Sink) nib.Sink, options ...nib.Option) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		return line(nib.NewSink(around(to(w)), options...), six)
	}
}

// to returns the sink of w, which is sink.Discard while time is measured.
func to(w io.Writer) nib.Sink {
	if w == io.Discard {
		return discard
	}
	return nib.WriterSink(w)
}

// base is the line of sinks, and again one more WriteRecord.
var base, again = line(sunk, six), write(discard, short)

// combinators returns the rows of sinks around others.
func combinators() []row {
	const suppressor = "the short line, a hash of its message, a lock, a reading of the clock " +
		"and an atomic count"
	suppressed := parts{base, hashMessage, lock, readClock, count}
	tee := func(n int) func(nib.Sink) nib.Sink {
		return func(s nib.Sink) nib.Sink {
			branches := []nib.Sink{s}
			for len(branches) < n {
				branches = append(branches, discard)
			}
			return sink.Tee(branches...)
		}
	}
	return []row{
		{name: "Tee2", title: "sink.Tee of 2", want: user, path: behind(tee(2)),
			price: "the short line, one more WriteRecord, and two atomic counts",
			parts: parts{base, again, times(2, count)}},
		{name: "Tee4", title: "sink.Tee of 4", want: user, path: behind(tee(4)),
			price: "the short line, three more WriteRecords, and four atomic counts",
			parts: parts{base, times(3, again), times(4, count)}},
		{name: "Route", title: "sink.Route", want: user,
			path: behind(func(s nib.Sink) nib.Sink {
				return sink.Route(s, sink.AtLeast(nib.LevelError, discard))
			}),
			price: "the short line, one more WriteRecord, and an atomic count",
			parts: parts{base, again, count}},
		{name: "SamplePassed", title: "sink.Sample, passed", want: user, price: suppressor,
			path: behind(func(s nib.Sink) nib.Sink {
				return sink.Sample(s, sink.SampleConfig{Keep: sink.Share{First: math.MaxInt}})
			}), parts: suppressed},
		{name: "SampleSuppressed", title: "sink.Sample, suppressed", price: suppressor,
			path: behind(func(nib.Sink) nib.Sink {
				return sink.Sample(discard, sink.SampleConfig{Keep: sink.Share{First: 1}})
			}), parts: suppressed},
		{name: "LimitPassed", title: "sink.Limit, passed", want: user, price: suppressor,
			path: behind(func(s nib.Sink) nib.Sink {
				return sink.Limit(s, sink.LimitConfig{PerSite: sink.Rate{PerSecond: 1e9}})
			}), parts: suppressed},
		{name: "LimitSuppressed", title: "sink.Limit, suppressed", price: suppressor,
			path: behind(func(nib.Sink) nib.Sink {
				return sink.Limit(discard, sink.LimitConfig{PerSite: sink.Rate{Burst: 1}})
			}), parts: suppressed},
	}
}

// views returns the rows of sinks that hold lines back or show them.
func views() []row {
	const view = "the short line, one look and one copy"
	viewed := parts{base, look(short.Line), copies(short.Line)}
	hold := parts{allocateScope, takeFromPool, times(4, copies(short.Line)), times(4, lock),
		times(4, count)}
	config := console.Config{Color: console.ColorNever, Width: -1}
	return []row{
		{name: "Backtrace", title: "sink.Backtrace, held back",
			price: "the short line, a copy, a lock and an atomic count",
			path: func(w io.Writer) func(n int) {
				b := sink.Backtrace(to(w), sink.BacktraceConfig{Level: nib.LevelWarn})
				return line(nib.NewSink(b), six)
			}, parts: parts{base, copies(short.Line), lock, count}},
		{name: "Scope", title: "sink.Scope, 4 records held back and dropped",
			price: "one malloc, a value of a pool, and for each record a copy, a lock and an " +
				"atomic count",
			path: scope((*sink.Scope).Discard), parts: hold},
		{name: "ScopeDump", title: "sink.Scope, 4 records held back and written", want: user,
			price: "the same, and a WriteRecord for each record",
			path:  scope(func(s *sink.Scope) { _ = s.Dump() }),
			parts: append(hold[:len(hold):len(hold)], times(4, again))},
		{name: "Console", title: "console view", want: "user=alice",
			price: view + ", and its time formatted",
			path: func(w io.Writer) func(n int) {
				return line(nib.NewSink(console.New(w, config)), six)
			}, parts: append(viewed[:len(viewed):len(viewed)], formatTime)},
		{name: "Logfmt", title: "logfmt view", want: "user=alice", price: view,
			path: func(w io.Writer) func(n int) {
				return line(nib.NewSink(logfmt.New(w, logfmt.Config{})), six)
			}, parts: viewed},
	}
}

func allocateScope(n int) {
	for range n {
		kept = new(sink.Scope)
	}
	read(kept)
}

// scope returns a path of scopes with four records.
func scope(end func(*sink.Scope)) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		b := sink.Backtrace(to(w), sink.BacktraceConfig{})
		return func(n int) {
			for range n {
				s := b.Scope()
				for range 4 {
					_ = s.WriteRecord(debug)
				}
				end(s)
			}
		}
	}
}

// scrape returns the row of the metrics of a logger with several sinks.
func scrape() row {
	l := nib.NewSink(sink.Tee(sink.Named("all", discard), sink.Limit(discard, sink.LimitConfig{})))
	source := metrics.Of(l)
	return row{name: "Scrape", title: "a scrape of metrics",
		price: "the metrics collected, and their names, helps, labels and values appended to a " +
			"buffer",
		path: func(io.Writer) func(n int) { return serve(nibhttp.MetricsHandler(l)) },
		parts: parts{func(n int) {
			for range n {
				buf = buf[:0]
				for m := range source.Metrics() {
					buf = appendMetric(buf, &m)
				}
			}
		}}}
}

func appendMetric(dst []byte, m *metrics.Metric) []byte {
	dst = append(append(append(dst, m.Name...), m.Help...), '{')
	for _, label := range m.Labels {
		dst = append(append(append(append(dst, label.Name...), '='), label.Value...), ',')
	}
	return strconv.AppendFloat(append(dst, '}', ' '), m.Value, 'g', -1, 64)
}
