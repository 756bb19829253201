// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math"
	"testing"
	"time"
)

// sink keeps the compiler from dropping the calls.
var sink int64

// BenchmarkNow times Now against time.Now: alternating rounds in one process,
// the fastest round of each counts, and their ratio is the claim.
func BenchmarkNow(b *testing.B) {
	const calls = 1000
	own, system := math.Inf(1), math.Inf(1)
	for range b.N {
		start := time.Now()
		for range calls {
			sink += Now()
		}
		own = min(own, float64(time.Since(start))/calls)
		start = time.Now()
		for range calls {
			sink += time.Now().UnixNano()
		}
		system = min(system, float64(time.Since(start))/calls)
	}
	b.ReportMetric(own, "Now-ns")
	b.ReportMetric(system, "time.Now-ns")
	b.ReportMetric(own/system, "ratio")
	b.ReportMetric(0, "ns/op")
}
