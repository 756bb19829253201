// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/binary"
	"math/bits"
)

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
	end := j + decimalLen(v)
	b := dst[:end]
	putDigits(b[j:], v)
	return b
}

// decimalLen returns the number of decimal digits of v.
func decimalLen(v uint64) int {
	// 1233/4096 is close enough to log10(2) for all 64 bit lengths; the estimate
	// is the number of digits or one less.
	v |= 1 // 0 has one digit; no other length changes
	n := bits.Len64(v) * 1233 >> 12
	if v >= pow10[n] {
		n++
	}
	return n
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
	binary.LittleEndian.PutUint16(b, uint16(digitPairs[2*v])|uint16(digitPairs[2*v+1])<<8)
}

// AppendBool appends true or false.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// AppendKeyInt appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyInt(dst []byte, key string, v int64) []byte {
	return AppendInt(AppendKey(dst, key), v)
}

// AppendKeyUint appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyUint(dst []byte, key string, v uint64) []byte {
	return AppendUint(AppendKey(dst, key), v)
}
