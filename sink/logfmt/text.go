// SPDX-License-Identifier: Apache-2.0

package logfmt

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// plain reports which ASCII characters need no escape in a key or in an
// unquoted value.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		t[c] = c != '"' && c != '=' && c != '\\'
	}
	return t
}()

// plainRune is like plain, but for all characters. Spaces of any kind are not
// plain, since some parsers split at them, nor is U+FFFD, which others reject,
// nor are characters that package jsonenc escapes.
func plainRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return plain[r]
	case r == utf8.RuneError, unicode.IsSpace(r):
		return false
	}
	return !jsonenc.Escaped(r)
}

// isPlain reports whether all characters of text are plain.
func isPlain(text []byte) bool {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if !plain[c] {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !plainRune(r) {
			return false
		}
		i += size
	}
	return true
}

// appendString appends a string that is given with its quotes, as written in
// the line. Plain text has no escape sequences, so it needs no decoding.
func appendString(dst, quoted []byte) []byte {
	text := quoted[1 : len(quoted)-1]
	if isPlain(text) && len(text) > 0 && !jsonread.IsScalar(text) {
		return append(dst, text...)
	}
	if out, err := jsonread.AppendCompact(dst, quoted, 0); err == nil {
		return out
	}
	return jsonenc.AppendBytes(dst, text)
}

// appendKey appends a key that is given without its quotes, as written in the
// line.
func (e *encoder) appendKey(dst, key []byte) []byte {
	if len(key) == 0 {
		return append(dst, '\\', '_')
	}
	if isPlain(key) {
		return append(dst, key...)
	}
	if bytes.IndexByte(key, '\\') >= 0 {
		key = e.decode(key)
	}
	for len(key) > 0 {
		r, size := utf8.DecodeRune(key)
		switch {
		case plainRune(r):
			dst = append(dst, key[:size]...)
		case r == '\\':
			dst = append(dst, '\\', '\\')
		default:
			dst = appendEscape(dst, r)
		}
		key = key[size:]
	}
	return dst
}

// decode returns the text of a JSON string given without its quotes, in scratch
// space.
func (e *encoder) decode(body []byte) []byte {
	e.text, _ = jsonread.AppendText(e.text[:0], body) // cannot fail: it was read before
	return e.text
}

const hexDigits = "0123456789abcdef"

// appendEscape appends \uXXXX. All characters that need it have four digits.
func appendEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15],
		hexDigits[r&15])
}

// appendForeign appends text unchanged, except for characters that control a
// terminal, break the line or reorder it.
func appendForeign(dst, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case plainRune(r), r == ' ', r == '"', r == '=', r == '\\', unicode.Is(unicode.Zs, r):
			dst = append(dst, text[:size]...)
		default:
			dst = appendEscape(dst, r)
		}
		text = text[size:]
	}
	return dst
}
