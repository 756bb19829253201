// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
)

// In the raw text of a JSON string a double quote is preceded by backslashes:
// one in a literal of the line, three in a literal within it, seven at the next
// depth. Further ones belong to the text before the quote: 4 of 5, 8 of 11. The
// number of trailing ones in the binary form of the number of backslashes is
// the depth.

// quoteWidth returns 1 plus the number of backslashes that escape a double
// quote, after a run of backslashes.
func quoteWidth(run int) int { return 1 << bits.TrailingZeros(^uint(run)) }

// backslashes returns the length of the run of backslashes at i.
func (m *masker) backslashes(i int) int {
	n := 0
	for i+n < m.end && m.src[i+n] == '\\' {
		n++
	}
	return n
}

// backslashesBefore returns the length of the run of backslashes that ends at
// i.
func (m *masker) backslashesBefore(first, i int) int {
	n := 0
	for i-n > first && m.src[i-n-1] == '\\' {
		n++
	}
	return n
}

// escapedSeparator returns the character of a separator that is escaped within
// JSON in the text, as HTML-safe encoders write = and >, and the length of its
// escape sequence at i, which is a backslash. If there is none, c is 0 and n
// the length of the run of backslashes.
func (m *masker) escapedSeparator(i int) (c byte, n int) {
	n = m.backslashes(i)
	switch r := hex4(m.src[i+n-1 : m.end]); r {
	case ':', '=', '>':
		return byte(r), n + len(`u003d`)
	}
	return 0, n
}

// unicodeEscape decodes the \uXXXX or the surrogate pair at the front of b. The
// width is 0 if there is none, and the rune is U+FFFD for a lone surrogate.
func unicodeEscape(b []byte) (r rune, width int) {
	switch r = hex4(b); {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// appendPlain appends the raw text of a string. It unescapes the characters
// that jsonenc would not have escaped.
func appendPlain(dst, text []byte) []byte {
	for {
		n := bytes.IndexByte(text, '\\')
		if n < 0 || n+1 >= len(text) {
			return append(dst, text...)
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
		width := 2
		switch text[1] {
		case '/':
			dst = append(dst, '/')
		case 'u':
			var r rune
			if r, width = unicodeEscape(text); width == 0 {
				return append(dst, text...)
			}
			dst = appendRune(dst, r, text[:width])
		default:
			dst = append(dst, text[:2]...)
		}
		text = text[width:]
	}
}

// appendRune appends r, or escaped if r has to be escaped.
func appendRune(dst []byte, r rune, escaped []byte) []byte {
	n := len(dst)
	dst = utf8.AppendRune(dst, r)
	if r == utf8.RuneError || jsonenc.CleanLen(dst[n:]) < len(dst)-n {
		return append(dst[:n], escaped...)
	}
	return dst
}
