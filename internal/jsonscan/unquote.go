// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
)

// AppendUnquoted appends the text of quoted, one JSON string literal with its
// quotes and nothing around it, as UTF-8: surrogate pairs are combined, lone
// surrogates and bytes that are not UTF-8 become U+FFFD. If quoted is not a
// string literal, it returns dst as it was and false. It allocates only to grow
// dst.
func AppendUnquoted(dst, quoted []byte) ([]byte, bool) {
	n := len(quoted)
	if n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return dst, false
	}
	out, body := dst, quoted[1:n-1]
	for {
		n := jsonenc.CleanLen(body)
		out = append(out, body[:n]...)
		if body = body[n:]; len(body) == 0 {
			return out, true
		}
		r, n := nextRune(body)
		if n == 0 {
			return dst, false
		}
		out = utf8.AppendRune(out, r)
		body = body[n:]
	}
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
