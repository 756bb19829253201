// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"runtime"
	"slices"
	"time"
)

// A Latency is the distribution of the times of single operations, in
// nanoseconds. They include the two clock readings around each operation (see
// ClockCost).
type Latency struct {
	N                   int
	P50, P99, P999, Max float64
}

// Latencies times each of n operations of each contestant separately. The
// contestants take turns in blocks, so that a slow second of the machine
// affects all of them.
func Latencies(contestants []Run, n int) []Latency {
	const block = 1000
	samples := make([][]time.Duration, len(contestants))
	for i, x := range contestants {
		samples[i] = make([]time.Duration, 0, n+block)
		x.Do(block)
	}
	runtime.GC()
	for r := 0; len(samples[0]) < n; r++ {
		for k := range contestants {
			i := (k + r) % len(contestants)
			samples[i] = each(samples[i], contestants[i].Do, block)
		}
	}
	latencies := make([]Latency, len(contestants))
	for i, s := range samples {
		latencies[i] = spread(s)
	}
	return latencies
}

func each(samples []time.Duration, do func(n int), block int) []time.Duration {
	for range block {
		start := time.Now()
		do(1)
		samples = append(samples, time.Since(start))
	}
	return samples
}

func spread(s []time.Duration) Latency {
	slices.Sort(s)
	at := func(q float64) float64 { return float64(s[min(len(s)-1, int(q*float64(len(s))))]) }
	return Latency{N: len(s), P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: at(1)}
}

// ClockCost returns the time that Latencies adds to each operation: the median
// of an operation that does nothing.
func ClockCost() float64 {
	return spread(each(nil, func(int) {}, 10_000)).P50
}
