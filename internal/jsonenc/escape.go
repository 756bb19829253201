// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "math/bits"

// room is the space that appendEscaped keeps free after the remaining text: the
// excess of the last store of a whole word, and the quote.
const room = 8 + 1

// appendEscaped appends s[i:], escaped, and the closing quote. Whatever else
// the string holds, clean runs are copied a word at a time, Chinese, Japanese
// and Korean two characters at a time, and Cyrillic, Greek and similar scripts
// four. It is one loop, with a load and a store of one word in each turn,
// because calls and special cases for the end cost more than the copying of a
// short text. So runeLen is called for rare characters only. Text that begins
// outside of ASCII goes through appendUnicode first.
//
//go:noinline
func appendEscaped(dst []byte, s string, i int) []byte {
	j, n := len(dst), len(s)
	if cap(dst)-j < n-i+room {
		dst = grow(dst, n-i+room)
	}
	b := dst[:cap(dst)]
	// Loop invariant: j + n-i + room <= len(b).
	for i < n {
		w := uint64(0)
		if i+8 <= n {
			w = load64(s, i)
		} else {
			w = loadTail(s, n-i)
		}
		store64(b, j, w)
		text, width := uint64(0), 1
		switch {
		case w&0x80 == 0:
			m := mark(w) & all80
			if m == 0 {
				i, j = i+8, j+8
				continue
			}
			k := bits.TrailingZeros64(m) >> 3
			i, j = i+k, j+k
			if i >= n { // the only marked bytes are the zeros after the end
				continue
			}
			w >>= 8 * k & 63
			if w&0x80 != 0 {
				// A letter with an accent in ASCII text is usually complete in w.
				if w&0xc0e0 == 0x80c0 && plain2(rune2(w)) {
					i, j = i+2, j+2
				} else if onePlain3(w) {
					i, j = i+3, j+3
				} else if plain4(w) {
					i, j = i+4, j+4
				}
				continue
			}
			text = escapes[w&0x7f]
		case twoPlain3(w):
			i, j = i+6, j+6
			for ; i+14 <= n; i, j = i+12, j+12 {
				w, v := load64(s, i), load64(s, i+6)
				if !twoPlain3(w) || !twoPlain3(v) {
					break
				}
				store64(b, j, w)
				store64(b, j+6, v)
			}
			continue
		case onePlain3(w):
			i, j = i+3, j+3
			continue
		case fourPlain2(w):
			i, j = i+8, j+8
			continue
		case w&0xc0e0 == 0x80c0 && plain2(rune2(w)):
			i, j = i+2, j+2
			continue
		case plain4(w):
			i, j = i+4, j+4
			if plain4(w >> 32) {
				i, j = i+4, j+4
			}
			continue
		default:
			if k := runeLen(w); k > 0 {
				i, j = i+k, j+k
				continue
			}
			text, width = rewrite(w)
		}
		i += width
		if j+textLen+n-i+room > len(b) {
			b = grow(b[:j], textLen+n-i+room)
			b = b[:cap(b)]
		}
		store64(b, j, text)
		j += int(text >> 56)
	}
	store8(b, j, '"')
	return b[:j+1]
}

// loadTail returns the last n bytes of s, 1 to 7, as a word that ends in zeros.
func loadTail(s string, n int) uint64 {
	if len(s) >= 8 {
		return load64(s, len(s)-8) >> (-8 * n & 63)
	}
	w := uint64(0)
	for i := len(s) - 1; i >= len(s)-n; i-- {
		w = w<<8 | load8(s, i)
	}
	return w
}

// appendText appends s, escaped and without quotes.
func appendText(dst []byte, s string) []byte {
	dst = appendEscaped(dst, s, 0)
	return dst[:len(dst)-1]
}

const hexDigits = "0123456789abcdef"

// textLen is the length of the longest text that replaces a character.
const textLen = 6

const uXX = textLen<<56 | '\\' | 'u'<<8

// escapes holds the text of each ASCII character that is escaped, first byte
// lowest, and its length in the top byte: the writer stores the whole word and
// advances by the length.
var escapes = [128]uint64{
	0x00: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '0'<<40,
	0x01: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '1'<<40,
	0x02: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '2'<<40,
	0x03: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '3'<<40,
	0x04: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '4'<<40,
	0x05: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '5'<<40,
	0x06: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '6'<<40,
	0x07: uXX | '0'<<16 | '0'<<24 | '0'<<32 | '7'<<40,
	0x08: 2<<56 | '\\' | 'b'<<8,
	0x09: 2<<56 | '\\' | 't'<<8,
	0x0a: 2<<56 | '\\' | 'n'<<8,
	0x0b: uXX | '0'<<16 | '0'<<24 | '0'<<32 | 'b'<<40,
	0x0c: 2<<56 | '\\' | 'f'<<8,
	0x0d: 2<<56 | '\\' | 'r'<<8,
	0x0e: uXX | '0'<<16 | '0'<<24 | '0'<<32 | 'e'<<40,
	0x0f: uXX | '0'<<16 | '0'<<24 | '0'<<32 | 'f'<<40,
	0x10: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '0'<<40,
	0x11: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '1'<<40,
	0x12: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '2'<<40,
	0x13: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '3'<<40,
	0x14: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '4'<<40,
	0x15: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '5'<<40,
	0x16: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '6'<<40,
	0x17: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '7'<<40,
	0x18: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '8'<<40,
	0x19: uXX | '0'<<16 | '0'<<24 | '1'<<32 | '9'<<40,
	0x1a: uXX | '0'<<16 | '0'<<24 | '1'<<32 | 'a'<<40,
	0x1b: uXX | '0'<<16 | '0'<<24 | '1'<<32 | 'b'<<40,
	0x1c: uXX | '0'<<16 | '0'<<24 | '1'<<32 | 'c'<<40,
	0x1d: uXX | '0'<<16 | '0'<<24 | '1'<<32 | 'd'<<40,
	0x1e: uXX | '0'<<16 | '0'<<24 | '1'<<32 | 'e'<<40,
	0x1f: uXX | '0'<<16 | '0'<<24 | '1'<<32 | 'f'<<40,
	'"':  2<<56 | '\\' | '"'<<8,
	'\\': 2<<56 | '\\' | '\\'<<8,
	0x7f: uXX | '0'<<16 | '0'<<24 | '7'<<32 | 'f'<<40,
}
