// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// A place in a line determines which text may be unquoted there.
type place uint8

const (
	inMessage place = 1 << iota
	inKey
	inValue
)

// literalIn maps each ASCII character to the places where it may be unquoted.
var literalIn = func() (t [utf8.RuneSelf]place) {
	for c := byte(' '); c < 0x7f; c++ {
		switch c {
		case '=':
			t[c] = inValue // the first = of a field ends its key
		case ' ', '"', '{', '}', '[', ']':
			t[c] = inMessage
		default:
			t[c] = inMessage | inKey | inValue
		}
	}
	return t
}()

// visible reports whether r is shown unescaped.
func visible(r rune) bool { return !jsonenc.Escaped(r) }

// literal reports whether text may be unquoted in p.
func literal(text []byte, p place) bool {
	n := len(text)
	if n == 0 {
		return false
	}
	for i := 0; i < n; {
		if c := text[i]; c < utf8.RuneSelf {
			if literalIn[c]&p == 0 {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if !visible(r) || r == utf8.RuneError && size == 1 || p != inMessage && unicode.IsSpace(r) {
			return false
		}
		i += size
	}
	switch p {
	case inMessage:
		return text[0] != '"' && text[0] != ' ' && text[n-1] != ' '
	case inValue:
		return !jsonread.IsScalar(text)
	}
	return true
}

// text writes the text of a JSON string, given without its quotes: unquoted if
// place at allows it, and quoted otherwise.
func (p *painter) text(body []byte, at place) {
	if bytes.IndexByte(body, '\\') >= 0 {
		body = p.decode(body)
	}
	p.plain(body, at)
}

// plain is like text, but for decoded text.
func (p *painter) plain(text []byte, at place) {
	if literal(text, at) {
		p.dst = append(p.dst, text...)
	} else {
		p.dst = jsonenc.AppendBytes(p.dst, text)
	}
}

// decode returns the text of a JSON string given without its quotes, in memory
// that the next call reuses.
func (p *painter) decode(body []byte) []byte {
	p.decoded, _ = jsonread.AppendText(p.decoded[:0], body) // cannot fail: it was read before
	return p.decoded
}

const hexDigits = "0123456789abcdef"

// appendPlain appends text without quotes where literal does not apply: in
// blocks and for bytes that are not a line of nib. Leading tabs indent; all
// other characters that are not visible are escaped.
func appendPlain(dst, text []byte) []byte {
	for len(text) > 0 && text[0] == '\t' {
		dst = append(dst, "    "...)
		text = text[1:]
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= 0x20 && c < 0x7f {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case visible(r):
			dst = utf8.AppendRune(dst, r)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15],
				hexDigits[r&15])
		}
	}
	return dst
}
