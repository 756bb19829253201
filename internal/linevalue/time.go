// SPDX-License-Identifier: Apache-2.0

package linevalue

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/nib-log/nib"
)

// ParseTime reads the time of a line from its raw JSON: a text in the format of
// RFC 3339, also with a space for the T and without a zone (then in zone), or a
// number since 1970 in the unit of format, also as text. With another format a
// number has the unit that puts it between 1973 and 5138.
func ParseTime(raw []byte, format string, zone *time.Location) (time.Time, bool) {
	if raw[0] == '"' {
		if raw = raw[1 : len(raw)-1]; len(raw) > 4 && raw[4] == '-' {
			return ParseText(raw, zone)
		}
		if len(raw) < len("1763802000") { // a small number is no time
			return time.Time{}, false
		}
	}
	whole, nanos, ok := ParseNumber(raw)
	if !ok {
		if whole, nanos, ok = parseExponent(raw); !ok {
			return time.Time{}, false
		}
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

// parseExponent reads a number with an exponent, as encoders that know only
// float64 write large numbers.
func parseExponent(b []byte) (whole, nanos int64, ok bool) {
	if len(b) > 32 || bytes.IndexByte(b, 'e') <= 0 && bytes.IndexByte(b, 'E') <= 0 {
		return 0, 0, false
	}
	for _, c := range b {
		if c-'0' > 9 && c != '.' && c != '+' && c != '-' && c != 'e' && c != 'E' {
			return 0, 0, false
		}
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(f) >= 1<<63 {
		return 0, 0, false
	}
	w, part := math.Modf(f)
	return int64(w), int64(math.Round(part*1e6)) * 1e3, true // float64 has no more digits
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
	month, day := digits(b[5:7]), digits(b[8:10])
	hour, minute, sec := digits(b[11:13]), digits(b[14:16]), digits(b[17:19])
	year := digits(b[:4])
	if b[4] != '-' || b[7] != '-' || b[10] != 'T' && b[10] != ' ' || b[13] != ':' || b[16] != ':' ||
		year|month|day|hour|minute|sec < 0 {
		return time.Time{}, false
	}
	if day < 1 || day > DaysOf(year, month) || minute > 59 || sec > 60 ||
		hour > 24 || hour == 24 && minute+sec > 0 {
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
	return time.Date(year, time.Month(month), day, hour, minute, sec-offset, int(nanos), zone), true
}

// DaysOf returns the number of days of a month, 0 for a month that does not
// exist.
func DaysOf(year, month int) int {
	switch month {
	case 1, 3, 5, 7, 8, 10, 12:
		return 31
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 0
}

// parseZone reads Z, +07:00, +0700 or +07 as seconds east of UTC, also after a
// space.
func parseZone(b []byte) (offset int, ok bool) {
	b = bytes.TrimPrefix(b, []byte{' '})
	if len(b) == 1 && b[0] == 'Z' {
		return 0, true
	}
	if len(b) == 6 && b[3] == ':' {
		return zoneOffset(b[0], b[1:3], b[4:6])
	}
	if len(b) == 5 {
		return zoneOffset(b[0], b[1:3], b[3:5])
	}
	if len(b) == 3 {
		return zoneOffset(b[0], b[1:3], []byte("00"))
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
