// SPDX-License-Identifier: Apache-2.0

package nibtest

import (
	"sync"
	"time"
)

// epoch is the time of a zero Clock.
var epoch = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

// A Clock stands still until Advance or Set moves it, so that the time of each
// line is predictable:
//
//	var clock nibtest.Clock
//	log := nib.New(w, nib.WithClock(clock.Now))
//
// The time of the zero Clock is 2026-01-02 15:04:05 UTC. It is safe for
// concurrent use and must not be copied.
type Clock struct {
	mu  sync.Mutex // protects set and t
	set bool
	t   time.Time
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Set moves the clock to t, backwards too.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set, c.t = true, t
}

// Advance moves the clock by d, backwards if d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t, c.set = c.now().Add(d), true
}

func (c *Clock) now() time.Time {
	if !c.set {
		return epoch
	}
	return c.t
}
