// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"runtime"
	"slices"
	"time"
)

// OpenLoops calls each contestant rate times a second in each of several rounds
// of length d, in which they take turns, and measures how long after it was due
// each call returned. A call that begins late because the one before took long
// counts as slow too: callers in a service do not wait for each other. Leaving
// that out is called coordinated omission. Percentiles are the medians of the
// rounds, since a second in which the machine did something else affects all
// percentiles; Max is that of all rounds.
//
// The loop does not sleep: the time to wake a thread would be counted. It
// occupies a processor.
func OpenLoops(contestants []Contestant, rate int, d time.Duration, rounds int) []Latency {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	gap := time.Second / time.Duration(rate)
	samples := make([]time.Duration, int(d/gap))
	for i := range samples {
		samples[i] = 1 // touches the page
	}
	all := make([][]Latency, len(contestants))
	runtime.GC()
	for r := range rounds {
		for k := range contestants {
			i := (k + r) % len(contestants)
			all[i] = append(all[i], openLoop(contestants[i].Do, gap, samples))
		}
	}
	latencies := make([]Latency, len(contestants))
	for i, l := range all {
		latencies[i] = medians(l)
	}
	return latencies
}

func openLoop(do func(n int), gap time.Duration, samples []time.Duration) Latency {
	due := time.Now()
	for i := range samples {
		due = due.Add(gap)
		for time.Until(due) > 0 {
		}
		do(1)
		samples[i] = time.Since(due)
	}
	return spread(samples)
}

// medians returns the median of each percentile, and the largest Max.
func medians(rounds []Latency) (l Latency) {
	middle := func(of func(*Latency) float64) float64 {
		var v []float64
		for i := range rounds {
			v = append(v, of(&rounds[i]))
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	l.P50 = middle(func(l *Latency) float64 { return l.P50 })
	l.P99 = middle(func(l *Latency) float64 { return l.P99 })
	l.P999 = middle(func(l *Latency) float64 { return l.P999 })
	l.P9999 = middle(func(l *Latency) float64 { return l.P9999 })
	for i := range rounds {
		l.N += rounds[i].N
		l.Max = max(l.Max, rounds[i].Max)
	}
	return l
}
