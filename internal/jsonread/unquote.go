// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
)

// AppendUnquoted appends the text of quoted, one JSON string literal with its
// quotes and nothing around it, as UTF-8: surrogate pairs are combined, lone
// surrogates and bytes that are not UTF-8 become U+FFFD. If quoted is not a
// string literal, it returns dst unchanged and false. It allocates only to grow
// dst.
func AppendUnquoted(dst, quoted []byte) ([]byte, bool) {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return dst, false
	}
	return AppendText(dst, quoted[1:n-1])
}

// AppendText is AppendUnquoted for the text between the quotes.
func AppendText(dst, body []byte) ([]byte, bool) {
	out := dst
	for {
		n := jsonenc.CleanLen(body)
		out = append(out, body[:n]...)
		if body = body[n:]; len(body) == 0 {
			return out, true
		}
		r, n := DecodeRune(body)
		if n == 0 {
			return dst, false
		}
		out = utf8.AppendRune(out, r)
		body = body[n:]
	}
}

// DecodeRune decodes the character at the front of b, which is a part of a
// string literal and not empty, and returns its length in b, or 0 if b is not
// valid there.
func DecodeRune(b []byte) (rune, int) {
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
		return unicodeEscape(b)
	}
	return rune(b[1]), n
}
