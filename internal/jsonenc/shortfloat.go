// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "math"

// AppendShortFloat64 is AppendFloat64, and faster where v is an integer or has no
// more than three digits behind the point, as the measurements in log lines do.
//
// It tries with 10^3 what decimal64 tries with the largest power that is
// possible: when m / 10^3 gives v, then m / 10^3, less its trailing zeros, is the
// shortest decimal of v, for the reasons given there.
func AppendShortFloat64(dst []byte, v float64) []byte {
	abs := math.Abs(v)
	if !(abs >= 1e-3 && abs < 1e12) { // also 0, whose sign would be lost
		return AppendFloat64(dst, v)
	}
	m := uint64(abs*1e3 + 0.5)
	if float64(m)/1e3 != abs {
		return AppendFloat64(dst, v)
	}
	if math.Signbit(v) {
		dst = append(dst, '-')
	}
	whole := m / 1e3
	dst = AppendUint(dst, whole)
	m -= whole * 1e3
	if m == 0 {
		return dst
	}
	j := len(dst)
	if cap(dst)-j < 4 {
		dst = grow(dst, 4)
	}
	b := dst[:j+4]
	first := m / 100
	rest := twoDigits(m - first*100)
	store32(b, j, '.'|('0'+first)<<8|rest<<16)
	n := 4
	if rest>>8 == '0' {
		n = 3
		if rest == '0'|'0'<<8 {
			n = 2
		}
	}
	return b[:j+n]
}
