// SPDX-License-Identifier: Apache-2.0

package jsonenc

// AppendUnix appends sec, the seconds since 1970.
func AppendUnix(dst []byte, sec int64) []byte {
	return AppendInt(dst, sec)
}

// AppendUnixMilli appends the milliseconds since 1970 of the instant sec, nsec,
// where nsec is in [0, 999999999]. The number is exact for every sec, also
// where it does not fit into 64 bits, and rounded down as time.Time.UnixMilli
// does.
func AppendUnixMilli(dst []byte, sec int64, nsec int) []byte {
	return appendUnixFraction(dst, sec, uint64(nsec)/1e6, 3)
}

// AppendUnixMicro is AppendUnixMilli for microseconds.
func AppendUnixMicro(dst []byte, sec int64, nsec int) []byte {
	return appendUnixFraction(dst, sec, uint64(nsec)/1e3, 6)
}

// AppendUnixNano is AppendUnixMilli for nanoseconds.
func AppendUnixNano(dst []byte, sec int64, nsec int) []byte {
	return appendUnixFraction(dst, sec, uint64(nsec), 9)
}

// appendUnixFraction appends sec * 10^digits + frac. It writes the two parts
// one after the other, so it never needs more than 64 bits.
func appendUnixFraction(dst []byte, sec int64, frac uint64, digits int) []byte {
	whole := uint64(sec)
	if whole < 1<<33 { // 1970 to 2242
		return AppendUint(dst, whole*pow10[digits]+frac)
	}
	if sec < 0 {
		dst = append(dst, '-')
		whole = -whole
		if frac > 0 {
			// -whole + frac = -(whole-1) - (1-frac)
			whole--
			frac = pow10[digits] - frac
		}
	}
	if whole == 0 {
		return AppendUint(dst, frac)
	}
	dst = AppendUint(dst, whole)
	j := len(dst)
	if cap(dst)-j < digits {
		dst = grow(dst, digits)
	}
	dst = dst[:j+digits]
	putDigits(dst[j:], frac)
	return dst
}
