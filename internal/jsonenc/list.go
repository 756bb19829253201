// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "math/bits"

// AppendStrings appends list as an array of strings.
func AppendStrings(dst []byte, list []string) []byte {
	if len(list) == 0 {
		return append(dst, "[]"...)
	}
	start := len(dst)
	for _, s := range list {
		j, n := len(dst), len(s)
		if cap(dst)-j < n+4 {
			dst = grow(dst, n+4)
		}
		b := dst[:cap(dst)]
		store16(b, j, ','|'"'<<8)
		var bad uint64
		if uint(n-4) < 4 {
			w := load4to7(s)
			store4to7(b, j+2, n, w)
			bad = mark(w)
		} else if uint(n-8) <= 8 {
			w, v := load64(s, 0), load64(s, n-8)
			store64(b, j+2, w)
			store64(b, j+n-6, v)
			bad = mark(w) | mark(v)
		} else if uint(n-1) < 3 {
			w := load1to3(s)
			store1to3(b, j+2, n, w)
			bad = mark(w)
		} else {
			dst = AppendString(b[:j+1], s)
			continue
		}
		if bad&all80 != 0 {
			dst = appendEscaped(b[:j+2], s, 0)
			continue
		}
		store8(b, j+2+n, '"')
		dst = b[:j+n+3]
	}
	dst[start] = '['
	return append(dst, ']')
}

// AppendInts appends the elements of an array, each after a comma. Elements of
// up to four digits are written as in appendTextNumber; room for a part of them
// is reserved at once.
func AppendInts[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](
	dst []byte, list []T,
) []byte {
	for len(list) > 0 {
		part := list[:min(len(list), 1024)]
		list = list[len(part):]
		room := len(",-1234") * len(part)
		b := dst[:cap(dst)]
		j := len(dst)
		if len(b)-j < room {
			b = grow(dst, room)
			b = b[:cap(b)]
		}
		for _, v := range part {
			store16(b, j, ','|'-'<<8)
			j++
			n := uint64(v)
			if n >= 1e4 { // or v is negative
				if v < 0 {
					n = -n
					j++
				}
				if n >= 1e4 {
					b = AppendUint(b[:j], n)
					if cap(b)-len(b) < room { // the rest needs less, but a subtraction more
						b = grow(b, room)
					}
					j, b = len(b), b[:cap(b)]
					continue
				}
			}
			high := uint32(n) * 5243 >> 19 // n / 100
			digits := pair(high) | pair(uint32(n)-high*100)<<16
			zeros := bits.TrailingZeros32(uint32(digits&0x0f0f0f0f)|1<<24) &^ 7
			store32(b, j, digits>>(zeros&31))
			j += 4 - zeros>>3
		}
		dst = b[:j]
	}
	return dst
}
