// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"sync/atomic"
	"time"
)

// epoch is the time of a zero Clock.
var epoch = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

// A Clock stands still until Advance moves it, so that the time of each line is
// predictable:
//
//	var clock nibtest.Clock
//	log := nib.New(w, nib.WithClock(clock.Now))
//
// The time of the zero Clock is 2026-01-02 15:04:05 UTC. It is safe for
// concurrent use and must not be copied.
type Clock struct {
	advanced atomic.Int64 // nanoseconds since epoch
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return epoch.Add(time.Duration(c.advanced.Load())) }

// Advance moves the clock by d, backwards if d is negative. To a time t it is
// moved by t.Sub(c.Now()). It cannot be moved to times more than 292 years from
// 2026.
func (c *Clock) Advance(d time.Duration) { c.advanced.Add(int64(d)) }
