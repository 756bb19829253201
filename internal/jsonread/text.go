// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
)

// text reads the string literal at i, which is a quote, and returns the offset
// after it.
func (c *compactor) text(i int) (int, error) {
	src := c.src
	i++
	for {
		if c.rewrite {
			i += jsonenc.CleanLen(src[i:])
		} else {
			i += plainLen(src[i:])
		}
		if i >= len(src) {
			return i, ErrSyntax
		}
		switch b := src[i]; {
		case b == '"':
			return i + 1, nil
		case b == '\\':
			n := escapeLen(src[i:])
			if n == 0 {
				return i, ErrSyntax
			}
			if n == 6 && c.rewrite {
				i = c.unicode(i)
				continue
			}
			i += n
		case b < 0x20:
			return i, ErrSyntax
		default:
			c.flush(i, i)
			var n int
			c.dst, n = jsonenc.AppendRewritten(c.dst, src[i:])
			i += n
			c.from = i
		}
	}
}

// unicode skips the valid \uXXXX at i, or both of a surrogate pair. Half of a
// pair is not a character, and strict readers reject it: it becomes U+FFFD.
func (c *compactor) unicode(i int) int {
	r := hex4(c.src[i:])
	if !utf16.IsSurrogate(r) {
		return i + 6
	}
	if utf16.DecodeRune(r, hex4(c.src[i+6:])) != utf8.RuneError {
		return i + 12
	}
	c.flush(i, i+6)
	c.dst = utf8.AppendRune(c.dst, utf8.RuneError)
	return i + 6
}

// plainLen returns the number of bytes at the front of b before the first
// quote, backslash or control byte.
func plainLen(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		// w^2 moves the quote to 0x20, just above the control bytes; bytes that are
		// not ASCII are left out. Borrows propagate upwards, so the lowest bit is
		// correct.
		w := binary.LittleEndian.Uint64(b[i:])
		if m := (((w ^ 2*all01) - 0x21*all01) | ((w ^ backslashes) - all01)) &^ w & all80; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if b[i] < 0x20 || b[i] == '"' || b[i] == '\\' {
			break
		}
	}
	return i
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
