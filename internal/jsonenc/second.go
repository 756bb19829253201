// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"bytes"
	"time"
)

// A SecondCache holds the text of the second that was written last. The zero
// value is empty and ready for use. It depends on the second and the location
// only, which is why one cache serves all formats.
type SecondCache struct {
	loc  *time.Location // nil if the cache is empty
	sec  int64
	head [24]byte // the quote, date and time, and 4 bytes of padding to whole words
	tail [8]byte  // the zone and the quote
	n    uint8    // length of tail
}

const (
	headLen = len(`"2006-01-02T15:04:05`)
	// secondRoom is the number of bytes that a time in the form of RFC 3339 may
	// take: head, fraction, and tail as a word.
	secondRoom = headLen + 10 + 8
)

// The seconds since 1970 that have a year of four digits.
const (
	minCivil = -62167219200 // 0000-01-01T00:00:00
	maxCivil = 253402300799 // 9999-12-31T23:59:59
)

// refill makes c hold the second sec in loc, and reports whether it can.
func (c *SecondCache) refill(sec int64, loc *time.Location) bool {
	_, offset := time.Unix(sec, 0).In(loc).Zone()
	c.loc = nil
	if !c.fill(sec, offset) {
		return false
	}
	c.sec, c.loc = sec, loc
	return true
}

// fill writes the texts of the second sec at offset seconds east of UTC, and
// reports whether they have the usual length.
func (c *SecondCache) fill(sec int64, offset int) bool {
	local := sec + int64(offset)
	const maxOffset = 100 * 3600
	if local < minCivil || local > maxCivil || offset <= -maxOffset || offset >= maxOffset {
		return false
	}
	putSecond(c.head[:], 0, uint64(local-minCivil))
	c.n = putZone(&c.tail, offset)
	return true
}

// append appends the text of the cached second with the fraction nsec.
func (c *SecondCache) append(dst []byte, f TimeFormat, nsec int) []byte {
	j := len(dst)
	if cap(dst)-j < secondRoom {
		dst = grow(dst, secondRoom)
	}
	b := (*[secondRoom]byte)(dst[j : j+secondRoom])
	*(*[24]byte)(b[:]) = c.head
	n := headLen
	switch {
	case f.digits == 3 && !f.trim: // by far the most frequent format
		ms := uint64(nsec) / 1e6
		b[n] = '.'
		b[n+1] = byte('0' + ms/100)
		putPair(b[n+2:], ms%100)
		n += 4
	case f.digits > 0:
		n += putFraction((*[10]byte)(b[n:]), uint64(nsec), int(f.digits), f.trim)
	}
	*(*[8]byte)(b[n:]) = c.tail
	return dst[:j+n+int(c.n)]
}

// putFraction writes a point and the first digits of nsec / 10^9 to the front
// of b and returns their length. With trim it leaves out trailing zeros, and
// the point if nothing is left. It always writes all nine digits: that takes
// less than a division by a power that is not constant.
func putFraction(b *[10]byte, nsec uint64, digits int, trim bool) int {
	first := nsec / 1e8
	nsec -= first * 1e8
	high := nsec / 1e4
	b[0] = '.'
	b[1] = byte('0' + first)
	store32(b[:], 2, fourDigits(high))
	store32(b[:], 6, fourDigits(nsec-high*1e4))
	n := 1 + digits
	if trim {
		for b[n-1] == '0' {
			n--
		}
		if n == 1 {
			n = 0
		}
	}
	return n
}

// putZone writes Z or the offset as ±hh:mm, and the closing quote. Package time
// drops the seconds of an offset, and the sign of an offset below a minute.
func putZone(tail *[8]byte, offset int) uint8 {
	if offset == 0 {
		tail[0], tail[1] = 'Z', '"'
		return 2
	}
	minutes := offset / 60
	tail[0] = '+'
	if minutes < 0 {
		tail[0] = '-'
		minutes = -minutes
	}
	putPair(tail[1:], uint64(minutes/60))
	tail[3] = ':'
	putPair(tail[4:], uint64(minutes%60))
	tail[6] = '"'
	return 7
}

// The days from 1 March 1900 to 28 February 2100, counted from 1 January of the
// year 0: within them each fourth year is a leap year, without exception.
const (
	firstJulian = 694020
	lastJulian  = firstJulian + 200*365 + 49 - 1
)

// putSecond writes the quote, date and time of the second sec, counted from the
// beginning of the year 0, to b from j on, where there is room for headLen
// bytes.
func putSecond(b []byte, j int, sec uint64) {
	days := uint32(sec / 86400)
	var year, month, day uint32
	if n := days - firstJulian; n > lastJulian-firstJulian {
		year, month, day = civil(days)
	} else { // as in civil, without the centuries
		n = 4*n + 3
		year = n / 1461
		m := 2141*((n-year*1461)/4) + 197913
		year, month, day = 1900+year, m>>16, m&0xffff/2141+1
		if month > 12 {
			year, month = year+1, month-12
		}
	}
	ofDay := uint32(sec - uint64(days)*86400)
	minutes, hours := ofDay/60, ofDay/3600
	century := year * 5243 >> 19
	store64(b, j+12,
		pair(hours)|':'<<16|pair(minutes-hours*60)<<24|':'<<40|pair(ofDay-minutes*60)<<48)
	store64(b, j,
		'"'|pair(century)<<8|pair(year-century*100)<<24|'-'<<40|pair(month)<<48)
	store32(b, j+8, '-'|pair(day)<<8|'T'<<24)
}

// civil returns the date of a day counted from 1 January of the year 0 in the
// proleptic Gregorian calendar, for the years 0 to 9999. Years are counted from
// March, so that the leap day is the last day of a year. Quotients and
// remainders of the century, the year and the month result from one
// multiplication each: C. Neri and L. Schneider, "Euclidean affine functions
// and their application to calendar algorithms" (2022).
func civil(days uint32) (year, month, day uint32) {
	const cycle = 146097 // days in 400 years
	// One cycle more keeps January and February of the year 0 positive.
	n := 4*(days+cycle-60) + 3
	century, rest := n/cycle, n%cycle/4
	product := 2939745 * uint64(4*rest+3)
	yearOfCentury, dayOfYear := uint32(product>>32), uint32(product)/2939745/4
	m := 2141*dayOfYear + 197913
	year, month, day = 100*century+yearOfCentury-400, m>>16, m&0xffff/2141+1
	if dayOfYear >= 306 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

// PutFraction overwrites the first digits bytes of b with the fraction of a
// second, nsec nanoseconds cut to that many digits: 0, 3, 6 or 9.
func PutFraction(b []byte, nsec uint32, digits int) {
	if digits == 0 {
		return
	}
	put3(b, nsec/1e6)
	if digits > 3 {
		put3(b[3:], nsec/1e3%1e3)
	}
	if digits > 6 {
		put3(b[6:], nsec%1e3)
	}
}

func put3(b []byte, v uint32) {
	hundreds := v / 100
	v -= hundreds * 100
	tens := v / 10
	_ = b[2]
	b[0] = byte('0' + hundreds)
	b[1] = byte('0' + tens)
	b[2] = byte('0' + v - tens*10)
}

// FractionTail returns the number of bytes after the fraction in text, which
// ends in a time with a fraction: nothing in a number, otherwise the zone and a
// quote.
func FractionTail(text []byte) int {
	n := len(text)
	switch {
	case text[n-1] != '"':
		return 0
	case text[n-2] == 'Z':
		return len(`Z"`)
	}
	// Usually seven bytes.
	return n - max(bytes.LastIndexByte(text, '+'), bytes.LastIndexByte(text, '-'))
}
