// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "time"

// The layouts that mean a number instead of text.
const (
	TimeUnix      = "UNIX"      // seconds since 1970
	TimeUnixMilli = "UNIXMS"    // milliseconds since 1970
	TimeUnixMicro = "UNIXMICRO" // microseconds since 1970
	TimeUnixNano  = "UNIXNANO"  // nanoseconds since 1970
)

// A TimeFormat writes times in one layout. Make one with CompileTime.
type TimeFormat struct {
	layout string
}

// CompileTime prepares layout: one of the Unix constants, or a layout of
// package time.
func CompileTime(layout string) TimeFormat {
	return TimeFormat{layout: layout}
}

// A SecondCache holds the text of the second that was written last.
type SecondCache struct {
	loc *time.Location
}

// Append appends t in its own zone.
func (f TimeFormat) Append(dst []byte, t time.Time) []byte {
	switch f.layout {
	case TimeUnix:
		return AppendUnix(dst, t.Unix())
	case TimeUnixMilli:
		return AppendUnixMilli(dst, t.Unix(), t.Nanosecond())
	case TimeUnixMicro:
		return AppendUnixMicro(dst, t.Unix(), t.Nanosecond())
	case TimeUnixNano:
		return AppendUnixNano(dst, t.Unix(), t.Nanosecond())
	}
	return AppendString(dst, t.Format(f.layout))
}

// AppendCached appends the instant sec, nsec in loc.
func (f TimeFormat) AppendCached(dst []byte, c *SecondCache, sec int64, nsec int, loc *time.Location) []byte {
	return f.Append(dst, time.Unix(sec, int64(nsec)).In(loc))
}
