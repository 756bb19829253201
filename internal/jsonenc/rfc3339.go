// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math/bits"
	"slices"
	"time"
)

// AppendRFC3339 appends t as time.Time.MarshalJSON does: quoted, in its own
// zone, with as many digits of the fraction as it takes. It returns dst
// unchanged and false if the year does not have four digits or the zone is a
// day or more away from UTC, for which MarshalJSON returns an error.
func AppendRFC3339(dst []byte, t *time.Time) ([]byte, bool) {
	return AppendTextRFC3339(dst, &none, t)
}

// AppendTextRFC3339 appends text and t as AppendRFC3339 does. If t has no such
// form, it appends nothing and returns false.
func AppendTextRFC3339(dst []byte, text *Text, t *time.Time) ([]byte, bool) {
	offset := 0
	if t.Location() != time.UTC {
		_, offset = t.Zone()
		if offset <= -24*3600 || offset >= 24*3600 {
			return dst, false
		}
	}
	sec := uint64(t.Unix() + int64(offset) - minCivil)
	if sec > maxCivil-minCivil {
		return dst, false
	}
	j := len(dst)
	if cap(dst)-j < text.need+secondRoom {
		return appendTextRFC3339Slowly(dst, text, t)
	}
	b := dst[:cap(dst)]
	text.put(b, j)
	j += text.len()
	putSecond(b, j, sec)
	j += headLen
	if nsec := uint32(t.Nanosecond()); nsec != 0 {
		j = putNanos(b, j, nsec)
	}
	if offset == 0 {
		store16(b, j, 'Z'|'"'<<8)
		return b[:j+2], true
	}
	var tail [8]byte
	n := putZone(&tail, offset)
	copy(b[j:j+len(tail)], tail[:])
	return b[:j+int(n)], true
}

//go:noinline
func appendTextRFC3339Slowly(dst []byte, text *Text, t *time.Time) ([]byte, bool) {
	return AppendRFC3339(slices.Grow(appendTextSlowly(dst, text), 2*secondRoom+textHead), t)
}

// pair is twoDigits for a uint32, whose divisions are cheaper.
func pair(v uint32) uint64 { return load16(digitPairs, int(2*v)) }

// putNanos writes a point and the digits of nsec / 10^9 without trailing zeros
// to b[j:], and returns the index after them. nsec is not 0.
func putNanos(b []byte, j int, nsec uint32) int {
	first := nsec / 1e8
	digits := eightDigits(nsec - first*1e8)
	store16(b, j, '.'|uint64('0'+first)<<8)
	store64(b, j+2, digits|'0'*all01)
	// The last digits are the highest bytes.
	return j + 10 - bits.LeadingZeros64(digits)>>3
}

// eightDigits returns the digits of v < 10^8 as the bytes of a word, the first
// one lowest. It divides all of them at once: first by 10^4, then both halves
// by 100, then all quarters by 10.
func eightDigits(v uint32) uint64 {
	high := v / 1e4
	w := uint64(high) | uint64(v-high*1e4)<<32
	q := w * 10486 >> 20 & 0x0000007f0000007f
	w = q | (w-q*100)<<16
	q = w * 103 >> 10 & 0x000f000f000f000f
	return q | (w-q*10)<<8
}
