// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"strings"
	"time"
)

// The layouts that mean a number instead of text.
const (
	TimeUnix      = "UNIX"      // seconds since 1970
	TimeUnixMilli = "UNIXMS"    // milliseconds since 1970
	TimeUnixMicro = "UNIXMICRO" // microseconds since 1970
	TimeUnixNano  = "UNIXNANO"  // nanoseconds since 1970
)

// A TimeFormat writes times in one layout. CompileTime makes one; it is a plain
// value, never changes and may be used by any number of goroutines.
type TimeFormat struct {
	layout string
	kind   timeKind
	digits uint8 // digits of the fraction, of kindRFC3339 and kindUnix
	trim   bool  // the fraction ends before its trailing zeros
}

type timeKind uint8

const (
	kindLayout timeKind = iota // formatted by package time
	kindRFC3339
	kindUnix // seconds and the digits of their fraction, without a point
)

// CompileTime prepares layout: one of the Unix constants, or a layout of
// package time. The layouts of RFC 3339 with Z07:00, without a fraction or with
// one of 1 to 9 digits, .000 as well as .999, are written by this package; all
// others cost as much as time.Time.AppendFormat.
func CompileTime(layout string) TimeFormat {
	f := TimeFormat{layout: layout}
	switch layout {
	case TimeUnix:
		f.kind = kindUnix
	case TimeUnixMilli:
		f.kind, f.digits = kindUnix, 3
	case TimeUnixMicro:
		f.kind, f.digits = kindUnix, 6
	case TimeUnixNano:
		f.kind, f.digits = kindUnix, 9
	default:
		rest, ok1 := strings.CutPrefix(layout, "2006-01-02T15:04:05")
		fraction, ok2 := strings.CutSuffix(rest, "Z07:00")
		if ok1 && ok2 {
			f.compileFraction(fraction)
		}
	}
	return f
}

// compileFraction recognises an empty fraction, .0 to .000000000 and .9 to
// .999999999.
func (f *TimeFormat) compileFraction(s string) {
	n := max(len(s)-1, 0)
	switch {
	case s == "":
	case n > 9 || s[0] != '.' || n == 0:
		return
	case s[1:] == "000000000"[:n]:
	case s[1:] == "999999999"[:n]:
		f.trim = true
	default:
		return
	}
	f.kind, f.digits = kindRFC3339, uint8(n)
}

// Varies reports whether different times look different: a layout such as
// "YYYY-MM-DD" has no field of a time and is written unchanged.
func (f TimeFormat) Varies() bool {
	one := time.Date(2001, time.February, 3, 4, 5, 6, 7, time.UTC)
	other := time.Date(2012, time.October, 19, 20, 31, 42, 987654321, time.FixedZone("X", 3600))
	return f.kind != kindLayout || one.Format(f.layout) != other.Format(f.layout)
}

// NineOrFewer is the Fraction of time.RFC3339Nano: nine digits without the
// zeros at their end.
const NineOrFewer = -9

// Fraction returns how many digits the fraction of a second has in every time
// of the format, 0, 3, 6 or 9, or NineOrFewer, or -1 where it varies otherwise
// or is not known.
func (f TimeFormat) Fraction() int {
	switch {
	case f.kind == kindUnix, f.kind == kindRFC3339 && !f.trim && f.digits%3 == 0:
		return int(f.digits)
	case f.kind == kindRFC3339 && f.trim && f.digits == 9:
		return NineOrFewer
	}
	return -1
}

// Append appends t in its own zone: quoted text equal to t.Format(layout),
// escaped, or a number. It allocates nothing in any zone.
func (f TimeFormat) Append(dst []byte, t time.Time) []byte {
	switch f.kind {
	case kindRFC3339:
		_, offset := t.Zone()
		var c SecondCache
		if c.fill(t.Unix(), offset) {
			return c.append(dst, f, t.Nanosecond())
		}
	case kindUnix:
		return appendUnix(dst, t.Unix(), t.Nanosecond(), int(f.digits))
	}
	return f.appendLayout(dst, t)
}

// AppendCached appends the instant sec, nsec as f.Append appends time.Unix(sec,
// int64(nsec)).In(loc); a nil loc means UTC. c keeps the text of the second, so
// writing another instant of the same second costs about as much as copying it.
// c may be used with any formats and locations in turn, but by one goroutine at
// a time.
func (f TimeFormat) AppendCached(
	dst []byte, c *SecondCache, sec int64, nsec int, loc *time.Location,
) []byte {
	if loc == nil {
		loc = time.UTC
	}
	if uint(nsec) >= 1e9 {
		return f.Append(dst, time.Unix(sec, int64(nsec)).In(loc))
	}
	switch f.kind {
	case kindRFC3339:
		if c.sec == sec && c.loc == loc || c.refill(sec, loc) {
			return c.append(dst, f, nsec)
		}
	case kindUnix:
		return appendUnix(dst, sec, nsec, int(f.digits))
	}
	return f.appendLayout(dst, time.Unix(sec, int64(nsec)).In(loc))
}

// appendLayout lets package time write t. A layout, or the name of a zone, may
// hold any text, so the result is escaped: the escaped text is written after
// the plain one and then moved over it, because there is no other place for it
// without an allocation.
func (f TimeFormat) appendLayout(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	start := len(dst)
	dst = t.AppendFormat(dst, f.layout)
	end := len(dst)
	dst = appendEscaped(dst, View(dst[start:]), 0)
	n := copy(dst[start:], dst[end:])
	return dst[:start+n]
}

// appendUnix appends the seconds since 1970 with the first digits of the
// fraction, 0, 3, 6 or 9: the number of seconds, milliseconds, microseconds or
// nanoseconds. It is exact for every sec, also where it does not fit into 64
// bits, and rounded down as time.Time.UnixMilli does. It writes the two parts
// one after the other, so it never needs more than 64 bits.
func appendUnix(dst []byte, sec int64, nsec, digits int) []byte {
	frac := uint64(nsec)
	switch digits {
	case 0:
		frac = 0
	case 3:
		frac /= 1e6
	case 6:
		frac /= 1e3
	}
	whole := uint64(sec)
	if whole < 1<<33 { // 1970 to 2242
		return AppendUint(dst, whole*pow10[digits]+frac)
	}
	if sec < 0 {
		dst = append(dst, '-')
		whole = -whole
		if frac > 0 {
			// -whole + frac = -(whole-1) - (1-frac)
			whole--
			frac = pow10[digits] - frac
		}
	}
	if whole == 0 {
		return AppendUint(dst, frac)
	}
	dst = AppendUint(dst, whole)
	j := len(dst)
	if cap(dst)-j < digits {
		dst = grow(dst, digits)
	}
	dst = dst[:j+digits]
	putDigits(dst[j:], frac)
	return dst
}
