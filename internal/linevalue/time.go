// SPDX-License-Identifier: Apache-2.0

package linevalue

import (
	"time"

	"github.com/nib-log/nib"
)

// ParseTime reads the time of a line from its raw JSON: a text in the format of
// RFC 3339, also with a space for the T and without a zone (then in zone), or a
// number since 1970 in the unit of format. With another format a number has the
// unit that puts it between 1973 and 5138.
func ParseTime(raw []byte, format string, zone *time.Location) (time.Time, bool) {
	if raw[0] == '"' {
		return ParseText(raw[1:len(raw)-1], zone)
	}
	whole, nanos, ok := ParseNumber(raw)
	if !ok {
		return time.Time{}, false
	}
	switch unitOf(format, whole) {
	case nib.TimeUnixMilli:
		return time.UnixMilli(whole), true
	case nib.TimeUnixMicro:
		return time.UnixMicro(whole), true
	case nib.TimeUnixNano:
		return time.Unix(0, whole), true
	}
	return time.Unix(whole, nanos), true
}

func unitOf(format string, n int64) string {
	switch format {
	case nib.TimeUnix, nib.TimeUnixMilli, nib.TimeUnixMicro, nib.TimeUnixNano:
		return format
	}
	switch {
	case n < 1e11:
		return nib.TimeUnix
	case n < 1e14:
		return nib.TimeUnixMilli
	case n < 1e17:
		return nib.TimeUnixMicro
	}
	return nib.TimeUnixNano
}

// ParseNumber reads a decimal number; nanos are its decimals in units of 1e-9.
func ParseNumber(b []byte) (whole, nanos int64, ok bool) {
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	if n == 0 || n > 19 {
		return 0, 0, false
	}
	var sum uint64 // can hold all numbers of 19 digits
	for _, c := range b[:n] {
		sum = sum*10 + uint64(c-'0')
	}
	if whole = int64(sum); whole < 0 {
		return 0, 0, false
	}
	if nanos, b = parseFraction(b[n:]); len(b) > 0 {
		return 0, 0, false
	}
	if negative {
		whole, nanos = -whole, -nanos
	}
	return whole, nanos, true
}

// parseFraction reads a point and decimals, if there are any, as nanoseconds.
func parseFraction(b []byte) (nanos int64, rest []byte) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' || b[1]-'0' > 9 {
		return 0, b
	}
	unit := int64(1e8)
	for b = b[1:]; len(b) > 0 && b[0]-'0' <= 9; b = b[1:] {
		nanos += int64(b[0]-'0') * unit
		unit /= 10
	}
	return nanos, b
}

// ParseText reads 2006-01-02T15:04:05.000Z07:00, also with a space for the T
// and without a zone.
func ParseText(b []byte, zone *time.Location) (time.Time, bool) {
	const pattern = "0000-00-00T00:00:00"
	if len(b) < len(pattern) {
		return time.Time{}, false
	}
	for i := range len(pattern) {
		switch p := pattern[i]; {
		case p == '0' && b[i]-'0' <= 9, p == b[i], p == 'T' && b[i] == ' ':
		default:
			return time.Time{}, false
		}
	}
	month, day := digits(b[5:7]), digits(b[8:10])
	hour, minute, sec := digits(b[11:13]), digits(b[14:16]), digits(b[17:19])
	if month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || sec > 60 {
		return time.Time{}, false
	}
	nanos, rest := parseFraction(b[len(pattern):])
	offset := 0
	if len(rest) > 0 {
		var ok bool
		if offset, ok = parseZone(rest); !ok {
			return time.Time{}, false
		}
		zone = time.UTC
	}
	return time.Date(digits(b[:4]), time.Month(month), day, hour, minute, sec-offset, int(nanos), zone), true
}

// parseZone reads Z, +07:00 or +0700 as seconds east of UTC.
func parseZone(b []byte) (offset int, ok bool) {
	if len(b) == 1 && b[0] == 'Z' {
		return 0, true
	}
	if len(b) == 6 && b[3] == ':' {
		return zoneOffset(b[0], b[1:3], b[4:6])
	}
	if len(b) == 5 {
		return zoneOffset(b[0], b[1:3], b[3:5])
	}
	return 0, false
}

func zoneOffset(sign byte, hours, minutes []byte) (offset int, ok bool) {
	h, m := digits(hours), digits(minutes)
	if sign != '+' && sign != '-' || h < 0 || h > 24 || m < 0 || m > 59 {
		return 0, false
	}
	offset = h*3600 + m*60
	if sign == '-' {
		offset = -offset
	}
	return offset, true
}

// digits returns the number in b, or a negative one if b is not all digits.
func digits(b []byte) int {
	n := 0
	for _, c := range b {
		if c-'0' > 9 {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
