// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
)

// TestNowLiesInItsBracket reads the clock of the system from two goroutines for
// 200 ms. Preemption widens the bracket and cannot make it fail.
func TestNowLiesInItsBracket(t *testing.T) {
	await.Goroutines(2, func(int) {
		readings, start := 0, time.Now()
		for time.Since(start) < 200*time.Millisecond {
			before := time.Now()
			got := Now()
			after := time.Now()
			readings++
			off := max(before.UnixNano()-got, got-after.UnixNano())
			if off > bound && !wallWasSet(start) {
				t.Errorf("reading %d, after %v: got %v outside of its bracket of %v, want at most %v", readings,
					after.Sub(start), time.Duration(off), after.Sub(before), time.Duration(bound))
				return
			}
		}
		if readings == 0 {
			t.Error("got no readings")
		}
	})
}

// wallWasSet reports whether the wall clock of the system has moved against its
// monotonic clock since a time that has both.
func wallWasSet(since time.Time) bool {
	now := time.Now()
	return math.Abs(float64(now.UnixNano()-since.UnixNano()-int64(now.Sub(since)))) > float64(bound)/2
}

func TestNowDoesNotAllocate(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const runs = 100_000 // long enough for some renewals
	lowest := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			sink += Now()
		}
		runtime.ReadMemStats(&after)
		lowest = min(lowest, after.Mallocs-before.Mallocs)
	}
	if lowest != 0 {
		t.Errorf("got %d allocations in %d calls, want 0", lowest, runs)
	}
}
