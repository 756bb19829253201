// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// appendText appends the text of a JSON string, which is given as written in
// the line, without its quotes. Line breaks and tabs are written as such; other
// characters that control a terminal or reorder text stay, or become, \uXXXX.
func appendText(dst, body []byte) []byte {
	for i := 0; i < len(body); {
		from := i
		for i < len(body) && body[i] != '\\' && body[i] < del {
			i++
		}
		dst = append(dst, body[from:i]...)
		if i == len(body) {
			break
		}
		r, size := utf8.DecodeRune(body[i:])
		if r == '\\' {
			if r, size = jsonread.DecodeRune(body[i:]); size == 0 {
				r, size = utf8.RuneError, 1 // body is not from a JSON string
			}
		}
		dst = appendRune(dst, r)
		i += size
	}
	return dst
}

// del is the only ASCII character that a string in JSON may have, but that must
// not be printed.
const del = 0x7f

const hexDigits = "0123456789abcdef"

// appendRune appends a character, escaped if package nib escapes it and it is
// neither a line break nor a tab.
func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '\n', r == '\t':
	case jsonenc.Escaped(r):
		return append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15],
			hexDigits[r&15])
	}
	return utf8.AppendRune(dst, r)
}
