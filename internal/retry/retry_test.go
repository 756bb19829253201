// SPDX-License-Identifier: Apache-2.0

package retry

import (
	"testing"
	"time"
)

// TestPause checks the bounds of the pauses after failures in a row, and that
// the random part makes them differ.
func TestPause(t *testing.T) {
	const first, longest = time.Second, 5 * time.Second
	seen := map[time.Duration]bool{}
	for range 10 {
		var p Pause
		for i, want := range []time.Duration{
			first, 2 * first, 4 * first, longest, longest,
		} {
			got := p.Next(first, longest)
			if got < want/2 || got > want || p != Pause(want) {
				t.Errorf("pause %d: got %v of %v, want %v to %v", i, got, p, want/2, want)
			}
			seen[got] = true
		}
	}
	if len(seen) < 25 {
		t.Errorf("got %d different pauses of 50", len(seen))
	}
}
