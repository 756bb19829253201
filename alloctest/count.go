// SPDX-License-Identifier: Apache-2.0

package alloctest

import (
	"runtime"
	"runtime/debug"
)

const (
	// windows is the least number of times that the same number of calls is
	// counted. Allocations of the runtime itself seldom hit five in a row.
	windows = 5

	// maxWindows is the number of windows while the lowest count is no whole
	// number a call. The runtime caches type assertions at random, about one in
	// a thousand, so that a function with many of them has an allocation in each
	// window at first.
	maxWindows = 30

	// headroom is the number of bytes by which the heap may grow while the
	// collector is stopped, so that a function that allocates does not exhaust
	// memory.
	headroom = 64 << 20
)

// Count returns how often a call of f allocates on the heap, and how many
// bytes, on average over runs calls: exactly, so a function that allocates in
// every second call has 0.5 mallocs. f is called six times runs: once to warm
// up, then in five windows. The window with the fewest allocations counts.
// Allocations that happen less than once in runs calls may therefore be missed.
// While that window has a fraction of an allocation a call, as it has when the
// caches of the runtime still fill, there are up to 25 more.
//
// It sets GOMAXPROCS to 1 and stops the garbage collector during the call, so
// it must not run in parallel with other tests. The collector does run when the
// heap has grown by 64 MiB; pools are empty after that. It panics if runs is
// not positive. See [Enabled] for builds in which the result is meaningless.
func Count(f func(), runs int) (mallocs, bytes float64) {
	lowest := count(f, runs).lowest
	return float64(lowest.mallocs) / float64(runs), float64(lowest.bytes) / float64(runs)
}

// A total counts the allocations of some calls.
type total struct{ mallocs, bytes uint64 }

// totals counts the allocations of all windows, and of the one with the fewest.
type totals struct {
	lowest, sum total
	calls       int // of all windows
}

// count counts windows of runs calls.
func count(f func(), runs int) totals {
	if runs <= 0 {
		panic("alloctest: the number of runs must be positive")
	}
	defer quiet()()
	repeat(f, runs)
	t := totals{lowest: total{^uint64(0), ^uint64(0)}}
	for n := 0; n < windows || n < maxWindows && t.lowest.mallocs%uint64(runs) != 0; n++ {
		w := window(f, runs)
		if w.mallocs < t.lowest.mallocs ||
			w.mallocs == t.lowest.mallocs && w.bytes < t.lowest.bytes {
			t.lowest = w
		}
		t.sum.mallocs += w.mallocs
		t.sum.bytes += w.bytes
		t.calls += runs
	}
	return t
}

// quiet reduces allocations of the rest of the process during a count: one
// processor, no collector. It returns a function that undoes that.
func quiet() (restore func()) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	procs := runtime.GOMAXPROCS(1)
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, int64(m.Sys)+headroom))
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	}
}

// window counts the allocations of runs calls of f.
func window(f func(), runs int) total {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	repeat(f, runs)
	runtime.ReadMemStats(&after)
	return total{after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc}
}

func repeat(f func(), runs int) {
	for range runs {
		f()
	}
}
