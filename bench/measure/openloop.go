// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"runtime"
	"time"
)

// OpenLoop calls do rate times a second for as long as d, and tells how long
// after the moment at which it was due each call returned. A call that begins
// late because the one before took long counts as slow too: callers in a service
// do not wait for each other. Leaving that out is called coordinated omission.
//
// The loop does not sleep: what the system takes to wake a thread would be
// counted. It occupies a processor.
func OpenLoop(do func(), rate int, d time.Duration) Latency {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	gap := time.Second / time.Duration(rate)
	samples := make([]time.Duration, int(d/gap))
	for i := range samples {
		samples[i] = 1 // touches the page
	}
	runtime.GC()
	due := time.Now()
	for i := range samples {
		due = due.Add(gap)
		for time.Until(due) > 0 {
		}
		do()
		samples[i] = time.Since(due)
	}
	return spread(samples)
}
