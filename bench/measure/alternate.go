// SPDX-License-Identifier: Apache-2.0

// Package measure times contestants against each other in one process, on a
// machine that other programs use too.
//
// Nothing that is measured once can be trusted there: the clock rate changes,
// other programs come and go. So contestants take turns in short rounds, in an
// order that rotates, and the minimum of the rounds of each counts: noise only
// adds time. The documentation states the costs that the minimum leaves out: a
// contestant that allocates has its cheapest round between two collections.
package measure

import (
	"runtime"
	"slices"
	"time"
)

func (r *Run) prepare(n int) {
	if r.Prepare != nil {
		r.Prepare(n)
	}
}

// Config sets how long to measure.
type Config struct {
	Rounds int           // per contestant
	Round  time.Duration // approximate time of one round
	// Ops, if not 0, is the number of operations of a round instead, the same
	// for all: for contestants whose first operations are cheaper, as into an
	// empty pipe.
	Ops int
}

// A Timing is the time of one operation of a contestant.
type Timing struct {
	N      int     // operations per round
	Least  float64 // ns, in the quickest round
	Median float64 // ns, in the middle one: shows how noisy the machine was
}

// Alternate times the contestants, one Timing each.
func Alternate(contestants []Run, c Config) []Timing {
	timings := make([]Timing, len(contestants))
	rounds := make([][]float64, len(contestants))
	for i := range contestants {
		if timings[i].N = c.Ops; c.Ops == 0 {
			timings[i].N = calibrate(&contestants[i], c.Round)
		}
		rounds[i] = make([]float64, 0, c.Rounds)
	}
	runtime.GC()
	for r := range c.Rounds {
		for k := range contestants {
			i := (k + r) % len(contestants)
			n := timings[i].N
			rounds[i] = append(rounds[i], float64(elapsed(&contestants[i], n))/float64(n))
		}
	}
	for i, all := range rounds {
		slices.Sort(all)
		timings[i].Least, timings[i].Median = all[0], all[len(all)/2]
	}
	return timings
}

func elapsed(c *Run, n int) time.Duration {
	c.prepare(n)
	start := time.Now()
	c.Do(n)
	return time.Since(start)
}

// calibrate returns the number of operations that take about round. It doubles
// the number until they take a quarter of round, since a shorter try would be
// mostly noise. Two tries must take that long, because one may be slow only
// because the machine was busy.
func calibrate(c *Run, round time.Duration) int {
	for n := 16; ; n *= 2 {
		took := elapsed(c, n)
		if took >= round/4 {
			took = min(took, elapsed(c, n))
		}
		if took >= round/4 {
			return max(1, int(float64(n)*float64(round)/float64(took)))
		}
	}
}

// Allocs counts mallocs and bytes per operation exactly, as fractions: an
// average rounded down would show 0 for a contestant that allocates every other
// time. The runtime's own mallocs are in the same counters, so the minimum of
// several windows counts.
func (r *Run) Allocs(n, windows int) (mallocs, bytes float64) {
	r.prepare(n)
	r.Do(n) // pools and buffers warm up
	var before, after runtime.MemStats
	for w := range windows {
		r.prepare(n)
		runtime.ReadMemStats(&before)
		r.Do(n)
		runtime.ReadMemStats(&after)
		m := float64(after.Mallocs-before.Mallocs) / float64(n)
		b := float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
		if w == 0 || m < mallocs {
			mallocs = m
		}
		if w == 0 || b < bytes {
			bytes = b
		}
	}
	return mallocs, bytes
}

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
