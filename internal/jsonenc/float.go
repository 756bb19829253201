// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"strconv"
)

// AppendFloat64 appends the shortest decimal number that reads back as v, in
// the form encoding/json gives it: with an exponent below 1e-6 and from 1e21
// on. NaN and the infinities, for which JSON has no number, become the strings
// "NaN", "+Inf" and "-Inf".
func AppendFloat64(dst []byte, v float64) []byte {
	abs := math.Abs(v)
	if whole, millionths, ok := sixDecimals(abs); ok {
		if cap(dst)-len(dst) < maxFloatLen {
			dst = grow(dst, maxFloatLen)
		}
		j, b := len(dst), dst[:cap(dst)]
		store8(b, j, '-')
		j += int(math.Float64bits(v) >> 63)
		return b[:putSix(b, j, whole, millionths)]
	}
	// The comparison is also false for NaN.
	if !(abs >= 1e-6 && abs < 1e15) {
		return appendRareFloat(dst, v, 64)
	}
	if m, k := decimal64(abs); k >= 0 {
		return appendDecimal(dst, math.Signbit(v), m, k)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

// AppendFloat32 is AppendFloat64 for the shortest number that reads back as the
// float32 v.
func AppendFloat32(dst []byte, v float32) []byte {
	wide := float64(v)
	abs := math.Abs(wide)
	// The form depends on the value rounded to float32, as do the bounds.
	if !(float32(abs) >= 1e-6 && abs < 1<<24) {
		return appendRareFloat(dst, wide, 32)
	}
	if m, k := decimal32(abs); k >= 0 {
		return appendDecimal(dst, math.Signbit(wide), m, k)
	}
	return strconv.AppendFloat(dst, wide, 'f', -1, 32)
}

// tens holds the powers of ten that are exact as a float64.
var tens = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// decimal64 returns m and the smallest k with m / 10^k == v and m < 10^15, or a
// negative k if there are none. v is in [1e-6, 1e15).
//
// m / 10^k is then the shortest decimal of v: m and 10^k are exact as float64s,
// so their quotient is the float64 nearest to the decimal, and the decimal
// reads back as v. A decimal of at most 15 digits survives the conversion to a
// float64 and back, so no other one reads back as v. So it is enough to try the
// largest k and remove the zeros after the point: one division, whatever k is.
func decimal64(v float64) (m uint64, k int) {
	// The exponent of 2 determines the power of ten, or one too few.
	exp := int(math.Float64bits(v)>>52) - 1023
	k = 14 - exp*1233>>12
	x := v * tens[k]
	if x >= 1e15 {
		k--
		x = v * tens[k]
	}
	m = uint64(x + 0.5)
	if float64(m)/tens[k] != v {
		return 0, -1
	}
	if k >= 8 && m%1e8 == 0 {
		m /= 1e8
		k -= 8
	}
	if k >= 4 && m%1e4 == 0 {
		m /= 1e4
		k -= 4
	}
	if k >= 2 && m%1e2 == 0 {
		m /= 1e2
		k -= 2
	}
	for k > 0 && m%10 == 0 {
		m /= 10
		k--
	}
	return m, k
}

// decimal32 is decimal64 for a float32 and m < 10^6, or below 2^24 if k is 0. v
// is the float32 as a float64, in [1e-6, 2^24).
//
// Rounding the quotient first to float64 and then to float32 is right here:
// with k <= 11, m / 10^k is either a point halfway between two float32s or more
// than 2^-51 of its value away from it, so the first rounding does not reach
// it.
func decimal32(v float64) (m uint64, k int) {
	if m := uint64(v); float64(m) == v {
		return m, 0
	}
	for k := 1; k <= 11; k++ {
		x := v * tens[k]
		if x >= 1e6-1 {
			break
		}
		m := uint64(x + 0.5)
		if float32(float64(m)/tens[k]) == float32(v) {
			return m, k
		}
	}
	return 0, -1
}

// appendDecimal appends m / 10^k with k digits after the point. It writes the
// digits of m one place too far and moves back those before the point, which
// are few: that costs less than a division to separate them.
func appendDecimal(dst []byte, negative bool, m uint64, k int) []byte {
	if cap(dst)-len(dst) < maxFloatLen {
		dst = grow(dst, maxFloatLen)
	}
	if negative {
		dst = append(dst, '-')
	}
	if k == 0 {
		return AppendUint(dst, m)
	}
	j, n := len(dst), decimalLen(m)
	var b []byte
	if n > k {
		b = AppendUint(dst[:j+1], m)
	} else { // zeros after the point, and one before it
		n = k + 1
		b = dst[:j+1+n]
		putDigits(b[j+1:], m)
	}
	point := j + n - k
	for ; j < point; j++ {
		b[j] = b[j+1]
	}
	b[point] = '.'
	return b
}

// maxFloatLen is enough for the sign, 19 digits (of a duration; floats have
// 15), the point, and a zero before or up to 6 after it.
const maxFloatLen = 32

// appendRareFloat appends 0, very small and very large numbers, infinities and
// NaN. v is a float32 if size is 32.
func appendRareFloat(dst []byte, v float64, size int) []byte {
	abs := math.Abs(v)
	small := abs < 1e-6
	if size == 32 {
		small = float32(abs) < 1e-6
	}
	switch {
	case v == 0:
		if math.Signbit(v) {
			return append(dst, "-0"...)
		}
		return append(dst, '0')
	case v != v:
		return append(dst, `"NaN"`...)
	case abs > math.MaxFloat64:
		if v < 0 {
			return append(dst, `"-Inf"`...)
		}
		return append(dst, `"+Inf"`...)
	case !small && abs < 1e21:
		return strconv.AppendFloat(dst, v, 'f', -1, size)
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, size)
	// e-09 becomes e-9, as in encoding/json.
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
