// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
)

// text reads the string literal at i, which is a quote, and returns the offset
// behind it.
func (c *compactor) text(i int) (int, error) {
	i++
	for i < len(c.src) {
		switch b := c.src[i]; {
		case b == '"':
			return i + 1, nil
		case b == '\\':
			n := escapeLen(c.src[i:])
			if n == 0 {
				return i, ErrSyntax
			}
			i += n
		case b < 0x20:
			return i, ErrSyntax
		case b < 0x7f:
			i++
		default:
			_, n := utf8.DecodeRune(c.src[i:])
			if c.rewrite {
				c.flush(i, i+n)
				start := len(c.dst)
				c.dst = jsonenc.AppendBytes(c.dst, c.src[i:i+n])
				c.dst = append(c.dst[:start], c.dst[start+1:len(c.dst)-1]...)
			}
			i += n
		}
	}
	return i, ErrSyntax
}

// escapeLen returns the length of the escape sequence at the front of b, which
// is a backslash, or 0.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the code unit of the \uXXXX at the front of b, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
