// SPDX-License-Identifier: Apache-2.0

package sampling

import (
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// A larger difference is another clock, whose period begins.
func TestBurstOfAnotherClock(t *testing.T) {
	s := Burst(2, time.Hour, nil).(*burst)
	s.state.Store((1+maxLag+1)<<32 | 2) // the first period is 1
	if !s.Sample(nib.LevelInfo) || s.state.Load() != 1<<32|1 {
		t.Errorf("got state %#x, want the first event of period 1", s.state.Load())
	}
}

// A goroutine that has read the clock, and was then suspended for some periods,
// must not begin its period again after another goroutine has begun a later
// one.
func TestBurstDoesNotGoBackToAnEarlierPeriod(t *testing.T) {
	for _, later := range []uint64{1, 2, 100, maxLag} {
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
