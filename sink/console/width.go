// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// width returns the approximate number of columns of text in a terminal: joined
// emoji and flags count as their parts. The colours written by the package have
// no width; no other text has an escape character.
func width(text []byte) int {
	n := 0
	for i := 0; i < len(text); {
		if text[i] == 0x1b {
			i += bytes.IndexByte(text[i:], 'm') + 1
			continue
		}
		if text[i] < utf8.RuneSelf {
			n++
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		n += runeWidth(r)
		i += size
	}
	return n
}

// wide lists the blocks of characters with a width of two columns, according to
// UAX #11 (East Asian Width W and F), with neighbouring blocks joined.
var wide = [...]struct{ from, to rune }{
	{0x1100, 0x115f},   // Hangul leading consonants
	{0x2e80, 0x303e},   // CJK radicals and punctuation
	{0x3041, 0xa4cf},   // Kana, CJK, Yi
	{0xa960, 0xa97f},   // Hangul extended
	{0xac00, 0xd7a3},   // Hangul syllables
	{0xf900, 0xfaff},   // CJK compatibility
	{0xfe30, 0xfe6f},   // vertical and small forms
	{0xff00, 0xff60},   // full-width forms
	{0xffe0, 0xffe6},   // full-width signs
	{0x1f300, 0x1f64f}, // pictographs, emoji
	{0x1f680, 0x1f6ff}, // transport
	{0x1f900, 0x1f9ff}, // more pictographs
	{0x20000, 0x3fffd}, // rare CJK
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	for _, w := range wide {
		if r < w.from {
			break
		}
		if r <= w.to {
			return 2
		}
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	return 1
}
