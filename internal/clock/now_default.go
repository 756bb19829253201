// SPDX-License-Identifier: Apache-2.0

//go:build !(nibfast && linux && amd64)

package clock

// Now returns the wall time in nanoseconds since 1970 in UTC, as
// [time.Time.UnixNano] does. It may be called concurrently and does not
// allocate.
func Now() int64 { return shared.reading(systemMono()) }
