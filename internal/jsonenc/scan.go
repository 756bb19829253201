// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "math/bits"

// CleanLen returns the length of the longest beginning of b that the encoder
// copies unescaped: it ends before a quote, a backslash, a control or
// bidirectional control character and before anything that is not UTF-8. It
// allocates nothing.
func CleanLen(b []byte) int {
	s := View(b)
	i := 0
	for i+8 <= len(s) {
		m := mark(load64(s, i)) & all80
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		if load8(s, i) < 0x80 {
			return i
		}
		k := cleanRunes(s, i)
		if k == 0 {
			break
		}
		i += k
	}
	for i < len(s) {
		w := loadFront(s[i:])
		k := runeLen(w)
		if k == 0 {
			if mark(w)&0x80 != 0 {
				break
			}
			k = 1
		}
		i += k
	}
	return i
}

// cleanRunes skips characters that are copied unchanged, from s[i:] on.
func cleanRunes(s string, i int) int {
	start := i
	for i+8 <= len(s) {
		w := load64(s, i)
		if twoPlain3(w) {
			i += 6
			continue
		}
		n := runeLen(w)
		if n == 0 {
			break
		}
		i += n
	}
	return i - start
}

// AppendRewritten appends the text that the encoder writes for the character at
// the front of b, one at which CleanLen stops, and returns the length of the
// character. b must not be empty.
func AppendRewritten(dst, b []byte) ([]byte, int) {
	w := loadFront(View(b))
	text, width := escapes[w&0x7f], 1
	if w&0x80 != 0 {
		text, width = rewrite(w)
	}
	for n := text >> 56; n > 0; n-- {
		dst = append(dst, byte(text))
		text >>= 8
	}
	return dst, width
}

// loadFront returns the first 8 bytes of s as a word, which ends in zeros if s
// is shorter.
func loadFront(s string) uint64 {
	if len(s) >= 8 {
		return load64(s, 0)
	}
	return loadTail(s, len(s))
}
