// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"math"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink"
)

// BenchmarkCombinators measures the cost of each combinator for a line, in
// alternating rounds in one process. The result is the minimum of the rounds.
func BenchmarkCombinators(b *testing.B) {
	const calls = 1000
	const message = "some message of a usual length"
	r := record(nib.LevelInfo, `{"time":"2026-01-02T15:04:05.000Z","level":"info","key":"value","message":"`+message+`"}`)
	r.PC, r.Message = 1, r.Line[len(r.Line)-len("\"}\n")-len(message):][:len(message)]
	low := *r
	low.Level = nib.LevelDebug
	contestants := []struct {
		name string
		sink nib.Sink
		r    *nib.Record
	}{
		{"direct", newQuiet(), r},
		{"Tee of 2", sink.Tee(newQuiet(), newQuiet()), r},
		{"Route", sink.Route(newQuiet(), sink.AtLeast(nib.LevelWarn, newQuiet())), r},
		{"Limit, passed", sink.Limit(newQuiet(), sink.LimitConfig{PerSite: sink.Rate{PerSecond: 1e9}}), r},
		{"Limit, suppressed", sink.Limit(newQuiet(), sink.LimitConfig{PerSite: sink.Rate{Burst: 1}}), r},
		{"Sample", sink.Sample(newQuiet(), sink.SampleConfig{Keep: sink.Share{First: 100}}), r},
		{"Backtrace, passed", sink.Backtrace(newQuiet(), sink.BacktraceConfig{}), r},
		{"Backtrace, held", sink.Backtrace(newQuiet(), sink.BacktraceConfig{}), &low},
		{"Sites", sink.Sites(newQuiet(), sink.SitesConfig{}), r},
	}
	best := make([]float64, len(contestants))
	for i := range best {
		best[i] = math.Inf(1)
	}
	for range b.N {
		for i, c := range contestants {
			start := time.Now()
			for range calls {
				_ = c.sink.WriteRecord(c.r)
			}
			best[i] = min(best[i], float64(time.Since(start))/calls)
		}
	}
	for i, c := range contestants {
		b.ReportMetric(best[i], metricUnit(c.name))
	}
	b.ReportMetric(0, "ns/op")
}

// metricUnit returns name without white space, as a unit of a metric.
func metricUnit(name string) string {
	unit := []byte("ns:" + name)
	for i, c := range unit {
		if c == ' ' {
			unit[i] = '-'
		}
	}
	return string(unit)
}
