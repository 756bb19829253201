// SPDX-License-Identifier: Apache-2.0

package alloctest

import (
	"fmt"
	"testing"
)

// runs is the number of calls in a window of Zero.
const runs = 1000

// Zero fails tb, without ending the test, if f allocates on the heap in the
// steady state, and reports where. It counts as [Count] does, over 1000 calls.
// When only some of the windows have allocations, f is called 6000 times more
// to see whether f causes them, which also finds those that happen once in some
// thousand calls.
//
// The stacks come from the memory profile of further calls. They are cut off at
// 32 frames, and objects of less than 16 bytes without pointers, which share a
// block of memory, are not all seen; the counts are still exact.
//
// In an instrumented build (see [Enabled]) it calls f a few times, logs that it
// has not counted, and returns.
func Zero(tb testing.TB, f func()) {
	tb.Helper()
	if !Enabled {
		repeat(f, 10)
		tb.Logf(
			"alloctest: allocations were not counted: this build (-race, -msan, -asan or -tags " +
				"invariants) adds its own; nothing is proved")
		return
	}
	got := count(f, runs)
	if got.sum.mallocs == 0 {
		return
	}
	found := profile(f, windows*runs)
	switch {
	case got.lowest.mallocs > 0:
		tb.Errorf("alloctest: got %s, want none\n%s", perCall(got.lowest, runs), found)
	case found.own > 0:
		tb.Errorf("alloctest: got %s occasionally, want none\n%s", perCall(got.sum, got.calls),
			found)
	}
}

// perCall formats the average of some calls.
func perCall(t total, calls int) string {
	return fmt.Sprintf("%v mallocs and %v bytes per call (%d in %d calls)",
		float64(t.mallocs)/float64(calls), float64(t.bytes)/float64(calls), t.mallocs, calls)
}
