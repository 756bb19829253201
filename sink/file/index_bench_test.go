// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// BenchmarkIndex compares a sink that writes an index with one that does not,
// in turns: the minimum of the rounds per line, and the ratio.
func BenchmarkIndex(b *testing.B) {
	for name, buffer := range map[string]int{"unbuffered": 0, "buffered": 64 << 10} {
		b.Run(name, func(b *testing.B) {
			const lines = 5000
			var logs [2]*nib.Logger
			var sinks [2]*Sink
			least := [2]float64{math.Inf(1), math.Inf(1)}
			for i := range logs {
				sinks[i] = open(b, filepath.Join(b.TempDir(), "app.log"), Config{Index: i == 1, Buffer: buffer, MaxBackups: 1})
				logs[i] = nib.NewSink(sinks[i])
			}
			for n := range 2 * b.N {
				log, sink := logs[n%2], sinks[n%2]
				start := time.Now()
				for i := range lines {
					log.Info().Str("method", "GET").Str("path", "/api/v1/orders/4711").Str("tenant", "acme").Int("status", 200).
						Int64("bytes", 5120).Bool("cached", true).Str("user", "u-1234567").Float64("ratio", 0.25).
						Dur("took", 1234567).Int("n", i).Msg("request served")
				}
				if err := sink.Flush(context.Background()); err != nil {
					b.Fatal(err)
				}
				least[n%2] = min(least[n%2], float64(time.Since(start).Nanoseconds())/lines)
				if n%20 < 2 { // the file does not grow without bound
					if err := sink.Rotate(); err != nil {
						b.Fatal(err)
					}
					tidied(sink)
				}
			}
			b.ReportMetric(least[0], "ns/line")
			b.ReportMetric(least[1], "ns/line-with-index")
			b.ReportMetric(least[1]/least[0], "ratio")
		})
	}
}
