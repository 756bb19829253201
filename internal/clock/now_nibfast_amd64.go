// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && linux

package clock

import "time"

// counted is the clock by the cycle counter; usable reports whether the
// processor has one that runs at a constant rate, and does not change after
// init.
var (
	counted tickClock
	usable  = hasInvariantTicks()
)

func init() { counted.start(readTicks, systemBoth, sharedNow) }

// Now returns the wall time in nanoseconds since 1970 in UTC, as
// [time.Time.UnixNano] does. It may be called concurrently and does not
// allocate. In this build it does not follow the time of a testing/synctest
// bubble.
func Now() int64 {
	if !usable {
		return sharedNow()
	}
	return counted.reading(readTicks())
}

func sharedNow() int64 { return shared.reading(systemMono()) }

// systemBoth reads both clocks of the system at the same moment.
func systemBoth() (wall, mono int64) {
	now := time.Now()
	return now.UnixNano(), int64(now.Sub(base))
}

// readTicks reads the cycle counter of the processor.
//
//go:noescape
func readTicks() uint64

// hasInvariantTicks reports whether the counter of the processor runs at a
// constant rate.
//
//go:noescape
func hasInvariantTicks() bool
