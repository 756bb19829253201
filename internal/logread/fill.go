// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"

	"github.com/nib-log/nib/internal/jsonenc"
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
		value, ok := property(l, string(name))
		if !ok {
			value = hole
		}
		out = appendWithin(out, value)
	}
	l.filled = append(out, template...)
	return l.filled
}

// property returns the value of a hole: a field, or one of the object
// Properties.
func property(l *Line, name string) (value []byte, ok bool) {
	if value, ok = l.Lookup(name); ok {
		return value, true
	}
	object, _ := l.Lookup("Properties")
	return jsonread.Lookup(object, name)
}

// appendWithin appends a raw value to a raw text, without its own quotes.
func appendWithin(dst, raw []byte) []byte {
	if n := len(raw); n > 1 && raw[0] == '"' && raw[n-1] == '"' {
		return append(dst, raw[1:n-1]...)
	}
	n := len(dst)
	dst = jsonenc.AppendBytes(dst, raw)
	return append(dst[:n], dst[n+1:len(dst)-1]...)
}
