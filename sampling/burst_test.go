// SPDX-License-Identifier: Apache-2.0

package sampling

import (
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// A goroutine that has read the clock just before the end of a period must not
// begin that period again after another goroutine has begun the next one.
func TestBurstDoesNotGoBackToThePeriodBefore(t *testing.T) {
	s := Burst(2, time.Hour, nil).(*burst)
	for range 2 {
		s.Sample(nib.LevelInfo)
	}
	next := s.state.Load() + 1<<32
	s.state.Store(next)
	if s.Sample(nib.LevelInfo) || s.state.Load() != next {
		t.Errorf("an event was kept: got state %#x, want %#x", s.state.Load(), next)
	}
}
