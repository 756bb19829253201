// SPDX-License-Identifier: Apache-2.0

package sampling

import (
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// A goroutine that has read the clock, and was then suspended for some periods,
// must not begin its period again after another goroutine has begun a later
// one.
func TestBurstDoesNotGoBackToAnEarlierPeriod(t *testing.T) {
	for _, later := range []uint64{1, 2, 100} {
		s := Burst(2, time.Hour, nil).(*burst)
		for range 2 {
			s.Sample(nib.LevelInfo)
		}
		now := s.state.Load() + later<<32
		s.state.Store(now)
		if s.Sample(nib.LevelInfo) || s.state.Load() != now {
			t.Errorf("%d periods: an event was kept: got state %#x, want %#x", later, s.state.Load(), now)
		}
	}
}
