// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "math/bits"

// appendUnicode appends s and the closing quote. It is for text that begins
// with a character outside of ASCII, as most of the rest then does, and copies
// all of s unless it finds something to escape, which it leaves to
// appendEscaped together with the rest. So the length of the result does not
// depend on the text, and the processor need not wait for the end of one field
// to begin with the next.
//
// The cases are ordered by frequency, and each advances by a constant:
// a table of lengths would make each load wait for the one before.
//
//go:noinline
func appendUnicode(dst []byte, s string) []byte {
	j, n := len(dst), len(s)
	if cap(dst)-j < n+room {
		return appendEscaped(dst, s, 0)
	}
	b := dst[:cap(dst)]
	for i := 0; i < n; {
		w := uint64(0)
		if i+8 <= n {
			w = load64(s, i)
		} else {
			w = loadTail(s, n-i)
		}
		store64(b, j+i, w)
		k := 0 // number of ASCII bytes in front of the character
		if w&0x80 == 0 {
			m := mark(w) & all80
			if m == 0 {
				i += 8
				continue
			}
			k = bits.TrailingZeros64(m) >> 3
			i += k
			w >>= 8 * k & 63
		}
		switch {
		case twoCommon3(w):
			i += 6
			for ; i+14 <= n; i += 12 {
				w, v := load64(s, i), load64(s, i+6)
				if !twoCommon3(w) || !twoCommon3(v) {
					break
				}
				store64(b, j+i, w)
				store64(b, j+i+6, v)
			}
		case w&0xc0e0 == 0x80c0:
			if fourPlain2(w) {
				i += 8
			} else if plain2(rune2(w)) {
				i += 2
			} else {
				return appendEscaped(b[:j+i], s, i)
			}
		case emoji(w):
			i += 4
			if emoji(w >> 32) {
				i += 4
			}
		case onePlain3(w):
			i += 3
			if onePlain3(w >> 24) {
				i += 3
			}
		case w&0xc0c0f0 == 0x8080e0 && plain3(rune3(w)):
			i += 3
		case plain4(w):
			i += 4
		case k == 0: // otherwise the character may be incomplete in w
			return appendEscaped(b[:j+i], s, i)
		}
	}
	j += n
	store8(b, j, '"')
	return b[:j+1]
}
