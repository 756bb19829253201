// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnquoted appends the text of the JSON string literal quoted, which
// includes its quotes.
func AppendUnquoted(dst, quoted []byte) ([]byte, bool) {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return dst, false
	}
	out, body := dst, quoted[1:n-1]
	for len(body) > 0 {
		r, n := nextRune(body)
		if n == 0 {
			return dst, false
		}
		out = utf8.AppendRune(out, r)
		body = body[n:]
	}
	return out, true
}

// nextRune decodes the character at the front of b, which lies within a string
// literal, and returns its length in b, or 0 if b is not valid there.
func nextRune(b []byte) (rune, int) {
	switch c := b[0]; {
	case c == '"' || c < 0x20:
		return 0, 0
	case c != '\\':
		return utf8.DecodeRune(b)
	}
	n := escapeLen(b)
	if n == 0 {
		return 0, 0
	}
	switch b[1] {
	case 'b':
		return '\b', n
	case 'f':
		return '\f', n
	case 'n':
		return '\n', n
	case 'r':
		return '\r', n
	case 't':
		return '\t', n
	case 'u':
		r := hex4(b)
		if !utf16.IsSurrogate(r) {
			return r, n
		}
		if pair := utf16.DecodeRune(r, hex4(b[n:])); pair != utf8.RuneError {
			return pair, 2 * n
		}
		return utf8.RuneError, n
	}
	return rune(b[1]), n
}
