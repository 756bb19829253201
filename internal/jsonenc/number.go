// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "math/bits"

// maxIntLen is the length of the longest 64-bit integer, "-9223372036854775808"
// and "18446744073709551615" alike.
const maxIntLen = 20

// digitPairs holds the texts 00 to 99.
const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// pow10 holds the powers of ten that a uint64 can hold.
var pow10 = [maxIntLen]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// AppendInt appends v in decimal.
func AppendInt(dst []byte, v int64) []byte {
	if v >= 0 {
		return AppendUint(dst, uint64(v))
	}
	return AppendUint(append(dst, '-'), -uint64(v))
}

// AppendUint appends v in decimal.
func AppendUint(dst []byte, v uint64) []byte {
	j := len(dst)
	if cap(dst)-j < maxIntLen {
		dst = grow(dst, maxIntLen)
	}
	b := dst[:j+decimalLen(v)]
	if v >= 1e8 {
		return putLarge(b, v)
	}
	i := len(b)
	for v >= 100 {
		q := v / 100
		i -= 2
		store16(b, i, twoDigits(v-q*100))
		v = q
	}
	if v >= 10 {
		store16(b, i-2, twoDigits(v))
	} else {
		store8(b, i-1, '0'+v)
	}
	return b
}

// AppendKeyInt appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyInt(dst []byte, key string, v int64) []byte {
	minus := uint64(v) >> 63
	return appendKeyNumber(dst, key, minus, (uint64(v)^-minus)+minus)
}

// AppendKeyUint appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyUint(dst []byte, key string, v uint64) []byte {
	return appendKeyNumber(dst, key, 0, v)
}

// appendKeyNumber appends key and v, with a minus sign if minus is 1. It
// repeats the short lengths of AppendKey, as AppendKeyString does: that saves a
// third of the time.
func appendKeyNumber(dst []byte, key string, minus, v uint64) []byte {
	j, n := len(dst), len(key)
	if cap(dst)-j < n+4+maxIntLen {
		return appendKeyNumber(grow(dst, n+4+maxIntLen), key, minus, v)
	}
	b := dst[:cap(dst)]
	store16(b, j, ','|'"'<<8)
	j += 2
	bad := uint64(all80)
	if uint(n-4) < 4 {
		w := load4to7(key)
		store4to7(b, j, n, w)
		bad = mark(w)
	} else if uint(n-8) <= 8 {
		w, v := load64(key, 0), load64(key, n-8)
		store64(b, j, w)
		store64(b, j+n-8, v)
		bad = mark(w) | mark(v)
	} else if uint(n-1) < 3 {
		w := load1to3(key)
		store1to3(b, j, n, w)
		bad = mark(w)
	}
	if bad&all80 != 0 {
		return appendRareKeyNumber(dst, key, minus, v)
	}
	j += n
	store32(b, j, '"'|':'<<8|'-'<<16)
	j += 2 + int(minus)
	b = b[:j+decimalLen(v)]
	if v >= 1e8 {
		return putLarge(b, v)
	}
	i := len(b)
	for v >= 100 {
		q := v / 100
		i -= 2
		store16(b, i, twoDigits(v-q*100))
		v = q
	}
	if v >= 10 {
		store16(b, i-2, twoDigits(v))
	} else {
		store8(b, i-1, '0'+v)
	}
	return b
}

// appendRareKeyNumber is appendKeyNumber for keys that are empty, long or need
// escaping.
//
//go:noinline
func appendRareKeyNumber(dst []byte, key string, minus, v uint64) []byte {
	dst = appendRareKey(dst, key)
	return AppendUint(append(dst, "-"[:minus]...), v)
}

// decimalLen returns the number of decimal digits of v.
func decimalLen(v uint64) int {
	// 1233/4096 is close enough to log10(2) for all 64 bit lengths; the
	// estimate is the number of digits or one less.
	v |= 1 // 0 has one digit; no other length changes
	n := bits.Len64(v) * 1233 >> 12
	if v >= pow10[n] {
		n++
	}
	return n
}

// putLarge writes v to the end of b, which has room for its digits, and returns
// b. It cuts v into groups of eight digits, whose divisions do not wait for
// each other; for small numbers the loop in the callers is faster.
//
//go:noinline
func putLarge(b []byte, v uint64) []byte {
	i := len(b)
	for v >= 1e8 {
		q := v / 1e8
		i -= 8
		group := v - q*1e8
		high := group / 1e4
		store32(b, i, fourDigits(high))
		store32(b, i+4, fourDigits(group-high*1e4))
		v = q
	}
	for v >= 100 {
		q := v / 100
		i -= 2
		store16(b, i, twoDigits(v-q*100))
		v = q
	}
	if v >= 10 {
		store16(b, i-2, twoDigits(v))
	} else {
		store8(b, i-1, '0'+v)
	}
	return b
}

// twoDigits returns the two digits of v < 100, the first one lowest.
func twoDigits(v uint64) uint64 { return load16(digitPairs, int(2*v)) }

// fourDigits returns the four digits of v < 10000, the first one lowest.
func fourDigits(v uint64) uint64 {
	q := v / 100
	return twoDigits(q) | twoDigits(v-q*100)<<16
}

// putDigits fills b with the last len(b) decimal digits of v, with leading
// zeros where v has fewer.
func putDigits(b []byte, v uint64) {
	for len(b) >= 2 {
		q := v / 100
		putPair(b[len(b)-2:], v-q*100)
		b = b[:len(b)-2]
		v = q
	}
	if len(b) == 1 {
		b[0] = byte('0' + v%10)
	}
}

// putPair writes the two digits of v, which is below 100, to the front of b.
func putPair(b []byte, v uint64) {
	_ = b[1]
	store16(b, 0, twoDigits(v))
}

// AppendBool appends true or false.
func AppendBool(dst []byte, v bool) []byte {
	j := len(dst)
	if cap(dst)-j < 8 {
		dst = grow(dst, 8)
	}
	b := dst[:cap(dst)]
	if v {
		store32(b, j, 't'|'r'<<8|'u'<<16|'e'<<24)
		return b[:j+4]
	}
	store64(b, j, 'f'|'a'<<8|'l'<<16|'s'<<24|'e'<<32)
	return b[:j+5]
}
