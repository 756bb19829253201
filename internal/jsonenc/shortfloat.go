// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"math/bits"
)

// none is a Text of length 0.
var none = MakeText("")

// AppendShortFloat64 is AppendFloat64, and faster for numbers that have no more
// than three digits behind the point and five before it, as the measurements in
// log lines do.
func AppendShortFloat64(dst []byte, v float64) []byte { return AppendTextFloat64(dst, &none, v) }

// AppendTextFloat64 appends t and v as AppendFloat64 does.
//
// It tries with 10^3 what decimal64 tries with the largest power that is
// possible: when m / 10^3 gives v, then m / 10^3, less its trailing zeros, is the
// shortest decimal of v, for the reasons given there.
func AppendTextFloat64(dst []byte, t *Text, v float64) []byte {
	j := len(dst)
	if cap(dst)-j < int(t.need) {
		return AppendFloat64(appendTextSlowly(dst, t), v)
	}
	b := dst[:cap(dst)]
	store64(b, j, t.head[0])
	store64(b, j+8, t.head[1])
	store64(b, j+16, t.head[2])
	store64(b, j+24, t.head[3])
	j += int(t.n)
	abs := math.Abs(v)
	if !(abs >= 1e-3 && abs < 99999.999) { // 0 as well: its sign would be lost
		return AppendFloat64(b[:j], v)
	}
	m := uint32(int64(abs*1e3 + 0.5))
	if float64(m)/1e3 != abs {
		return AppendFloat64(b[:j], v)
	}
	store8(b, j, '-')
	j += int(math.Float64bits(v) >> 63)
	// The first five digits, less the zeros before the last of them.
	digits := eightDigits(m)
	zeros := bits.TrailingZeros64(digits|1<<32) &^ 7
	store64(b, j, (digits|'0'*all01)>>(zeros&63))
	j += 5 - zeros>>3
	// The last three, less the zeros at their end.
	fraction := uint32(digits >> 40)
	if fraction == 0 {
		return b[:j]
	}
	store32(b, j, uint64('.'|(fraction|'0'<<16|'0'<<8|'0')<<8))
	return b[:j+4-bits.LeadingZeros32(fraction<<8)>>3]
}
