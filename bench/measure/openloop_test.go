// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"testing"
	"time"
)

// One call that takes long delays those that are due in that time.
func TestAnOpenLoopCountsTheCallsThatWereDue(t *testing.T) {
	const pause = 5 * time.Millisecond
	n := 0
	l := OpenLoops([]Contestant{{Do: func(int) {
		if n++; n == 100 {
			for start := time.Now(); time.Since(start) < pause; {
			}
		}
	}}}, 10_000, 100*time.Millisecond, 1)[0]
	if l.N != 1000 || n != 1000 {
		t.Errorf("%d samples of %d calls, want 1000", l.N, n)
	}
	if l.Max < float64(pause) {
		t.Errorf("the longest took %v ns, want at least %v", l.Max, pause)
	}
	// 50 calls were due in that time; without them p99 would not see it.
	if l.P99 < float64(pause)/2 {
		t.Errorf("p99 is %v ns, want those that waited in it", l.P99)
	}
}

// One bad round does not count, except for the longest call.
func TestAnOpenLoopTakesTheMedianOfItsRounds(t *testing.T) {
	got := medians([]Latency{
		{N: 10, P50: 1, P99: 2, P999: 3, P9999: 4, Max: 5},
		{N: 10, P50: 100, P99: 200, P999: 300, P9999: 400, Max: 500},
		{N: 10, P50: 2, P99: 3, P999: 4, P9999: 5, Max: 6},
	})
	if want := (Latency{N: 30, P50: 2, P99: 3, P999: 4, P9999: 5, Max: 500}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
