// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"math/bits"
	"time"
)

// none is a Text of length 0.
var none = MakeText("")

// AppendTextFloat64 appends t and v as AppendFloat64 does.
//
// It tries 10^6, where decimal64 tries the largest possible power: if m / 10^6
// is v, then m / 10^6 without its trailing zeros is the shortest decimal of v,
// for the reasons given there. Most measurements have no more digits.
func AppendTextFloat64(dst []byte, t *Text, v float64) []byte {
	j := len(dst)
	if cap(dst)-j < t.need+maxFloatLen {
		return AppendFloat64(appendTextSlowly(dst, t), v)
	}
	b := dst[:cap(dst)]
	t.put(b, j)
	j += t.len()
	whole, millionths, ok := sixDecimals(math.Abs(v))
	if !ok {
		return AppendFloat64(b[:j], v)
	}
	store8(b, j, '-')
	j += int(math.Float64bits(v) >> 63)
	return b[:putSix(b, j, whole, millionths)]
}

// AppendTextMillis appends t and d as AppendMillis does.
func AppendTextMillis(dst []byte, t *Text, d time.Duration) []byte {
	j := len(dst)
	if cap(dst)-j < t.need+maxFloatLen || uint64(d) >= 1e8*1e6 {
		return AppendMillis(appendTextSlowly(dst, t), d)
	}
	b := dst[:cap(dst)]
	t.put(b, j)
	whole := uint64(d) / 1e6
	return b[:putSix(b, j+t.len(), uint32(whole), uint32(uint64(d)-whole*1e6))]
}

// sixDecimals returns a positive v as whole + millionths / 10^6, if it is a
// decimal of this form and below 10^8, and not 0, which may have a sign.
func sixDecimals(v float64) (whole, millionths uint32, ok bool) {
	if !(v >= 1e-6 && v < 1e8-1) { // false for NaN
		return 0, 0, false
	}
	m := int64(v*1e6 + 0.5)
	if float64(m)/1e6 != v {
		return 0, 0, false
	}
	w := uint64(m) / 1e6
	return uint32(w), uint32(uint64(m) - w*1e6), true
}

// putSix writes whole, below 10^8, and after a point millionths, below 10^6,
// without its trailing zeros, into b from j on, where there is room for
// maxFloatLen bytes. It returns the end.
func putSix(b []byte, j int, whole, millionths uint32) int {
	digits := eightDigits(whole)
	// Trailing zeros of the eight digits, except the last.
	zeros := bits.TrailingZeros64(digits|1<<56) &^ 7
	store64(b, j, (digits|'0'*all01)>>(zeros&63))
	j += 8 - zeros>>3
	if millionths == 0 {
		return j
	}
	digits = eightDigits(millionths * 100)
	store8(b, j, '.')
	store64(b, j+1, digits|'0'*all01)
	return j + 9 - bits.LeadingZeros64(digits)>>3
}
