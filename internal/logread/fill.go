// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonread"
)

// fill returns a message template of Serilog, a raw text, with the values of
// the line in its holes: "user {Id} in {Elapsed:0.0} ms".
func (l *Line) fill(template []byte) []byte {
	if template[0] != '"' || bytes.IndexByte(template, '{') < 0 {
		return template
	}
	out := l.filled[:0]
	for {
		open := bytes.IndexAny(template, "{}")
		if open < 0 {
			break
		}
		out = append(out, template[:open]...)
		rest := template[open:]
		if rest[0] == '}' {
			out = append(out, '}')
			template = bytes.TrimPrefix(rest[1:], []byte{'}'})
			continue
		}
		end := bytes.IndexByte(rest, '}')
		switch {
		case len(rest) > 1 && rest[1] == '{':
			out = append(out, '{')
			template = rest[2:]
			continue
		case end < 0:
			template = rest[1:]
			out = append(out, '{')
			continue
		}
		hole := rest[:end+1]
		template = rest[end+1:]
		name := bytes.TrimLeft(hole[1:end], "@$")
		if cut := bytes.IndexAny(name, ":,"); cut >= 0 {
			name = name[:cut]
		}
		value := property(l, name)
		if value == nil {
			value = hole
		}
		out = appendWithin(out, value)
	}
	l.filled = append(out, template...)
	return l.filled
}

// property returns the value of a hole: a field, or one of the object
// Properties.
func property(l *Line, name []byte) (value []byte) {
	var object []byte
	for key, v := range l.each {
		switch {
		case bytes.Equal(key, name):
			value = v
		case string(key) == "Properties" && v[0] == '{':
			object = v
		}
	}
	if value != nil {
		return value
	}
	for key, v := range jsonread.Fields(object) {
		if bytes.Equal(key, name) {
			value = v
		}
	}
	return value
}

// appendWithin appends a raw value to a raw text, without its own quotes.
func appendWithin(dst, raw []byte) []byte {
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' {
		return append(dst, raw[1:n-1]...)
	}
	if bytes.IndexByte(raw, '"') < 0 {
		return append(dst, raw...)
	}
	return appendEscaped(dst, raw)
}

// appendEscaped appends a text as it is between the quotes of JSON.
func appendEscaped(dst, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', '0'+byte(r>>4), "0123456789abcdef"[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
		text = text[n:]
	}
	return dst
}
