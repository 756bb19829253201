// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "bytes"

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
	return n - max(bytes.LastIndexByte(text, '+'), bytes.LastIndexByte(text, '-')) // usually seven bytes
}
