// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/logread"
)

// plain returns a line whose time, level or message only logread reads, as in
// the journal, pino, Serilog and envelopes, or under the program's own keys, as
// an object with texts in their place. It returns nil for other lines. The
// result is valid until the next call.
func (p *painters) plain(l *logread.Line) []byte {
	isOwn := l.Own != (logread.Keys{})
	if l.Format() != logread.FormatText && !isOwn && !l.IsDerived() && !p.hasPath(l) ||
		l.Format() == logread.FormatJSON && !jsonread.Valid(l.Body()) {
		return nil
	}
	p.json = appendPlain(p.json[:0], l)
	return p.json
}

// hasPath reports whether the message of l is not as in the field of its key.
func (p *painters) hasPath(l *logread.Line) bool {
	if p.last != nil && endsWithText(l.Body(), p.last.message) && !isPath(p.last.message) {
		return false // without reading the members between
	}
	return isPath(l.Key("message"))
}

// isPath reports whether messages under a key are read as something else.
func isPath(key string) bool {
	switch key {
	case "@mt", "MESSAGE", "MessageTemplate":
		return true
	}
	return strings.Contains(key, ".")
}

// A member is the time, level or message of a line for appendPlain.
type member struct {
	name, key string
	value     []byte // JSON; nil if the line has none, or it has been written
	isOwn     bool   // key is one of the program's own
}

// appendPlain appends a line as an object in which its time, level and message
// have the key that they have in the line, or else the common one, also instead
// of the program's own key. A field of the line with the common key stands
// before it: of equal keys, the last one counts.
func appendPlain(dst []byte, l *logread.Line) []byte {
	members := membersOf(l)
	dst = append(dst, '{')
	add := func(key, value []byte) { dst = append(appendKey(dst, key), value...) }
	for i := range members {
		m := &members[i]
		isPath := strings.Contains(m.key, ".") && !has(l, m.key)
		if m.isOwn && m.isField(l) {
			continue
		}
		if m.value != nil && (m.key == "" || m.isOwn || isPath) {
			add([]byte(m.name), m.value)
			m.value = nil
		}
	}
	var scratch []byte
	for key, value := range l.Fields() {
		replaces := func(m member) bool { return m.isOwn && m.key == string(key) }
		if slices.ContainsFunc(members[:], replaces) {
			continue
		}
		scratch = appendValue(scratch[:0], l, value)
		value = scratch
		for _, m := range members {
			if m.value != nil && string(key) == m.key {
				value = m.value
			}
		}
		add(key, value)
	}
	for _, m := range members {
		if m.isOwn && m.value != nil {
			add([]byte(m.name), m.value)
		}
	}
	if host := l.Host(); host != nil {
		add([]byte("host"), jsonenc.AppendBytes(nil, host))
	}
	return append(dst, '}')
}

// isField reports whether a line has a field with the common name of m.
func (m *member) isField(l *logread.Line) bool {
	_, ok := l.Lookup(m.name)
	return ok && m.key != m.name
}

// has reports whether a line of JSON has a key, which is no path.
func has(l *logread.Line, key string) bool {
	_, ok := jsonread.Lookup(l.Body(), key)
	return ok
}

// membersOf returns the time, level and message of a line.
func membersOf(l *logread.Line) [3]member {
	m := [3]member{{name: "time"}, {name: "level"}, {name: "message"}}
	own := l.Own
	for i, key := range []string{own.Time, own.Level, own.Message} {
		m[i].key = l.Key(m[i].name)
		m[i].isOwn = key != "" && m[i].key == key
	}
	if at, ok := l.Time(); ok {
		m[0].value = at.AppendFormat(nil, `"`+time.RFC3339Nano+`"`)
	}
	if level, ok := l.Level(); ok {
		m[1].value = jsonenc.AppendString(nil, level.String())
	}
	switch message := l.Message(); {
	case message == nil:
	case l.Format() == logread.FormatText:
		m[2].value = jsonenc.AppendBytes(nil, message)
	default:
		m[2].value = appendValue(nil, l, message)
	}
	return m
}
