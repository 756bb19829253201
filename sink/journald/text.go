// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"unicode/utf16"
	"unicode/utf8"
)

// appendText appends the text of a JSON string, which is given as it stands in
// the line, without its quotes. Line breaks and tabs are written as such; other
// characters that steer a terminal or reorder text stay, or become, \uXXXX.
func appendText(dst, body []byte) []byte {
	for i := 0; i < len(body); {
		c := body[i]
		if c != '\\' && c < utf8.RuneSelf {
			from := i
			for i++; i < len(body) && body[i] != '\\' && body[i] < utf8.RuneSelf; i++ {
			}
			dst = appendASCII(dst, body[from:i])
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if c == '\\' {
			r, size = escaped(body[i:])
		}
		dst = appendRune(dst, r)
		i += size
	}
	return dst
}

// appendASCII appends text that is ASCII. DEL is the only character in it that
// JSON allows but that must not be printed.
func appendASCII(dst, text []byte) []byte {
	from := len(dst)
	dst = append(dst, text...)
	for i, c := range text {
		if c == 0x7f {
			return appendRunes(dst[:from+i], text[i:])
		}
	}
	return dst
}

func appendRunes(dst, text []byte) []byte {
	for _, c := range text {
		dst = appendRune(dst, rune(c))
	}
	return dst
}

// escaped decodes the escape sequence at the front of b, and returns its
// length. b is JSON.
func escaped(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, size = unit(b), min(6, len(b))
		if utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, unit(b[size:])); pair != utf8.RuneError {
				return pair, 12
			}
			r = utf8.RuneError
		}
		return r, size
	}
	return rune(b[1]), 2
}

// unit is the code unit of the \uXXXX at the front of b.
func unit(b []byte) (r rune) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return utf8.RuneError
	}
	for _, c := range b[2:6] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c&15)
	}
	return r
}

const hexDigits = "0123456789abcdef"

// appendRune appends a character, escaped if it is one that package nib escapes
// and neither a line break nor a tab.
func appendRune(dst []byte, r rune) []byte {
	switch {
	case r < 0x20 && r != '\n' && r != '\t', r >= 0x7f && r <= 0x9f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
		return append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	return utf8.AppendRune(dst, r)
}
