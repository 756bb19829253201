// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "math/bits"

// room is what appendEscaped keeps free behind the text that is still to come:
// as much as its last 7 bytes can grow by, which also takes up the stores of
// whole words that run over, and the quote.
const room = 7*textLen + 1

// appendEscaped appends s[i:], escaped, and the closing quote. It copies clean
// runs a word at a time, whatever else the string holds.
//
//go:noinline
func appendEscaped(dst []byte, s string, i int) []byte {
	j, n := len(dst), len(s)
	if cap(dst)-j < n-i+room {
		dst = grow(dst, n-i+room)
	}
	b := dst[:cap(dst)]
	// At the top of the loop j + n-i + room <= len(b).
	for i+8 <= n {
		w := load64(s, i)
		store64(b, j, w)
		m := mark(w) & all80
		if m == 0 {
			i += 8
			j += 8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		i += k
		j += k
		w >>= 8 * k & 63
		text, width := escapes[w&0x7f], 1
		if w&0x80 != 0 {
			// A letter with an accent in ASCII text is complete in w, mostly.
			if w&0x80c0e0 == 0x80c0 && rune2(w) >= 0xa0 {
				i += 2
				j += 2
				continue
			}
			k := copyRunes(b, j, s, i)
			i += k
			j += k
			if i+8 > n || load8(s, i) < 0x80 {
				continue
			}
			text, width = rewrite(load64(s, i))
		}
		i += width
		if j+textLen+n-i+room > len(b) {
			b = grow(b[:j], textLen+n-i+room)
			b = b[:cap(b)]
		}
		store64(b, j, text)
		j += int(text >> 56)
	}
	if i < n {
		j = putTail(b, j, loadTail(s, n-i), n-i)
	}
	store8(b, j, '"')
	return b[:j+1]
}

// loadTail returns the last n bytes of s, 1 to 7, as a word that ends in zeros.
func loadTail(s string, n int) uint64 {
	if len(s) >= 8 {
		return load64(s, len(s)-8) >> (64 - 8*n&63)
	}
	w := uint64(0)
	for i := len(s) - 1; i >= len(s)-n; i-- {
		w = w<<8 | load8(s, i)
	}
	return w
}

// putTail writes the first n bytes of w, at most 7, escaped, to b[j:], which has
// room for them, and returns the offset behind them.
func putTail(b []byte, j int, w uint64, n int) int {
	for n > 0 {
		store64(b, j, w)
		// Zeros are marked, so k is at most n.
		if k := bits.TrailingZeros64(mark(w)&all80) >> 3; k > 0 {
			w >>= 8 * k
			j += k
			n -= k
			continue
		}
		text, width := escapes[w&0x7f], 1
		if w&0x80 != 0 {
			if k := runeLen(w); k > 0 {
				w >>= 8 * k
				j += k
				n -= k
				continue
			}
			text, width = rewrite(w)
		}
		store64(b, j, text)
		j += int(text >> 56)
		w >>= 8 * width
		n -= width
	}
	return j
}

// appendText appends s, escaped and without quotes.
func appendText(dst []byte, s string) []byte {
	dst = appendEscaped(dst, s, 0)
	return dst[:len(dst)-1]
}
