// SPDX-License-Identifier: Apache-2.0

package clock

import "time"

// base is the origin of the monotonic time of this package.
var base = time.Now()

// shared is the clock of the system that all callers read.
var shared wallClock

func init() { shared.start(systemWall, systemMono) }

func systemWall() int64 { return time.Now().UnixNano() }

// systemMono is cheaper than time.Now because it does not read the wall clock.
// In a testing/synctest bubble it follows the bubble's time, with the same
// offset.
func systemMono() int64 { return int64(time.Since(base)) }

// Now returns the wall time in nanoseconds since 1970 in UTC, as
// [time.Time.UnixNano] does. It may be called concurrently and does not
// allocate.
func Now() int64 { return shared.reading(systemMono()) }
