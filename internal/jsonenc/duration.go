// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "time"

// AppendMicros appends d in microseconds as an exact decimal number without
// trailing zeros.
func AppendMicros(dst []byte, d time.Duration) []byte {
	return appendScaled(dst, d, 3)
}

// AppendMillis appends d in milliseconds as an exact decimal number without
// trailing zeros.
func AppendMillis(dst []byte, d time.Duration) []byte {
	if uint64(d) < 1e8*1e6 && cap(dst)-len(dst) >= maxFloatLen {
		whole := uint64(d) / 1e6
		b := dst[:cap(dst)]
		return b[:putSix(b, len(dst), uint32(whole), uint32(uint64(d)-whole*1e6))]
	}
	return appendScaled(dst, d, 6)
}

// AppendSeconds appends d in seconds as an exact decimal number without
// trailing zeros.
func AppendSeconds(dst []byte, d time.Duration) []byte {
	return appendScaled(dst, d, 9)
}

// appendScaled appends d nanoseconds divided by 10^decimals.
func appendScaled(dst []byte, d time.Duration, decimals int) []byte {
	v := uint64(d)
	if d < 0 {
		v = -v
	}
	for decimals > 0 && v%10 == 0 {
		v /= 10
		decimals--
	}
	return appendDecimal(dst, d < 0, v, decimals)
}

// appendFraction appends a point and the digits of v / 10^decimals without
// trailing zeros, or nothing if v is 0. decimals is at most 9, and dst ends in
// an integer of up to three digits that AppendUint has made room for, so that
// there is room for more than these.
func appendFraction(dst []byte, v uint64, decimals int) []byte {
	if v == 0 {
		return dst
	}
	for v%10 == 0 {
		v /= 10
		decimals--
	}
	j := len(dst)
	dst = dst[:j+1+decimals]
	dst[j] = '.'
	putDigits(dst[j+1:], v)
	return dst
}

// AppendDurationString appends the text of d.String, quoted.
func AppendDurationString(dst []byte, d time.Duration) []byte {
	dst = append(dst, '"')
	v := uint64(d)
	if d < 0 {
		dst = append(dst, '-')
		v = -v
	}
	switch {
	case v == 0:
		dst = append(dst, "0s"...)
	case v < 1e3:
		dst = append(AppendUint(dst, v), "ns"...)
	case v < 1e6:
		dst = append(appendFraction(AppendUint(dst, v/1e3), v%1e3, 3), "µs"...)
	case v < 1e9:
		dst = append(appendFraction(AppendUint(dst, v/1e6), v%1e6, 6), "ms"...)
	default:
		dst = appendClock(dst, v/1e9, v%1e9)
	}
	return append(dst, '"')
}

// appendClock appends hours, minutes and seconds; larger units that are zero
// are left out.
func appendClock(dst []byte, sec, nsec uint64) []byte {
	if sec >= 3600 {
		dst = append(AppendUint(dst, sec/3600), 'h')
	}
	if sec >= 60 {
		dst = append(AppendUint(dst, sec/60%60), 'm')
	}
	dst = appendFraction(AppendUint(dst, sec%60), nsec, 9)
	return append(dst, 's')
}
