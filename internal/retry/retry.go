// SPDX-License-Identifier: Apache-2.0

// Package retry has the pause between attempts.
package retry

import (
	"math/rand/v2"
	"time"
)

// A Pause is the time between two attempts, without its random part. It is 0
// before the first failure, and after a success it is set to 0.
type Pause time.Duration

// Next makes the pause twice as long, at least first and at most longest, and
// returns it less a random part of up to half, so that many processes do not
// try again at once.
func (p *Pause) Next(first, longest time.Duration) time.Duration {
	d := min(max(2*time.Duration(*p), first), longest)
	*p = Pause(d)
	return d/2 + rand.N(d/2+1)
}
