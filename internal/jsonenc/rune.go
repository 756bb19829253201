// SPDX-License-Identifier: Apache-2.0

package jsonenc

// plainLeads has a bit for the low half of each first byte 0xe1, 0xe3 to 0xec,
// 0xee and 0xef: after these, any two continuation bytes make a valid
// character that is copied unescaped, except U+FEFF.
const plainLeads = 0xdffa

// nearFEFF holds the first two bytes of the characters U+FEC0 to U+FEFF, as a
// word.
const nearFEFF = 0xbbef

// twoPlain3 reports whether w begins with two characters of three bytes that
// are copied unchanged: Chinese, Japanese, Korean and their punctuation.
func twoPlain3(w uint64) bool {
	return w&0x0000c0c0f0c0c0f0 == 0x00008080e08080e0 &&
		plainLeads>>(w&15)&(plainLeads>>(w>>24&15))&1 != 0 &&
		w&0xffff != nearFEFF && w>>24&0xffff != nearFEFF
}

// twoCommon3 reports whether w begins with two characters from U+3000 to
// U+AFFF: it is twoPlain3 for the first bytes 0xe3 to 0xea, to which the
// addition gives the same upper five bits, 0xe8.
func twoCommon3(w uint64) bool {
	return (w+0x0000000005000005)&0x0000c0c0f8c0c0f8 == 0x00008080e88080e8
}

// onePlain3 reports whether w begins with one character of three bytes that is
// copied unchanged.
func onePlain3(w uint64) bool {
	return w&0xc0c0f0 == 0x8080e0 && plainLeads>>(w&15)&1 != 0 && w&0xffff != nearFEFF
}

// plain4 reports whether w begins with a character of four bytes that are all
// copied unchanged. Its first two bytes show whether it is in the range.
func plain4(w uint64) bool {
	return w&0xc0c0c0f8 == 0x808080f0 && (w&7<<6|w>>8&0x3f)-0x10 < 0x100
}

// emoji reports whether w begins with a character from U+1F000 to U+1FFFF.
func emoji(w uint64) bool { return w&0xc0c0ffff == 0x80809ff0 }

// fourPlain2 reports whether w is four characters of two bytes with first bytes
// from 0xc4 on, none of them U+061C: Cyrillic, Greek, Hebrew, Arabic. The
// addition carries into bit 7 of a first byte if one of its bits 2 to 4 is set.
func fourPlain2(w uint64) bool {
	return w&0xc0e0c0e0c0e0c0e0 == 0x80c080c080c080c0 &&
		(w&0x001c001c001c001c+0x007c007c007c007c)&0x0080008000800080 == 0x0080008000800080 &&
		!hasZero16(w^0x9cd89cd89cd89cd8)
}

// hasZero16 reports whether one of the four 16-bit parts of w is zero.
func hasZero16(w uint64) bool {
	return (w-0x0001000100010001)&^w&0x8000800080008000 != 0
}

// runeLen returns the length of the character at the front of w if it is not
// ASCII, valid and copied unescaped, and 0 otherwise.
func runeLen(w uint64) int {
	switch {
	case w&0xc0c0f0 == 0x8080e0:
		if plain3(rune3(w)) {
			return 3
		}
	case w&0xc0e0 == 0x80c0:
		if plain2(rune2(w)) {
			return 2
		}
	case plain4(w):
		return 4
	}
	return 0
}

// rune2 and rune3 decode two and three bytes whose top bits have been checked.
func rune2(w uint64) uint64 { return w&0x1f<<6 | w>>8&0x3f }
func rune3(w uint64) uint64 { return w&0xf<<12 | w>>8&0x3f<<6 | w>>16&0x3f }

// plain2 reports whether the two-byte character r is copied unescaped.
func plain2(r uint64) bool { return r >= 0xa0 && r != arabicLetterMark }

// arabicLetterMark is the one bidirectional control of two bytes.
const arabicLetterMark = 0x061c

// plain3 reports whether the three-byte character r is valid and copied
// unescaped.
func plain3(r uint64) bool { return r >= 0x800 && r-0xd800 >= 0x800 && !escaped3(r) }

// escaped3 reports whether the three-byte character r is written as \uXXXX.
func escaped3(r uint64) bool {
	return r&^1 == 0x200e || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff
}

// Escaped reports whether r could steer a terminal, break a line or reorder
// text, and is therefore written as an escape.
func Escaped(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || r == arabicLetterMark ||
		r >= 0x2000 && escaped3(uint64(r))
}

// rewrite returns the text that replaces the character at the front of w, for
// which runeLen is 0, and the number of bytes replaced. The text is packed like
// the entries of escapes.
func rewrite(w uint64) (text uint64, width int) {
	switch {
	case w&0xc0c0f0 == 0x8080e0 && escaped3(rune3(w)):
		return unicodeEscape(rune3(w)), 3
	case w&0xc0e0 == 0x80c0 && rune2(w) >= 0x80:
		return unicodeEscape(rune2(w)), 2
	}
	return 3<<56 | 0xbdbfef, 1
}

// unicodeEscape returns \uXXXX for r, packed.
func unicodeEscape(r uint64) uint64 {
	return uXX | uint64(hexDigits[r>>12])<<16 | uint64(hexDigits[r>>8&15])<<24 |
		uint64(hexDigits[r>>4&15])<<32 | uint64(hexDigits[r&15])<<40
}
