// SPDX-License-Identifier: Apache-2.0

package console

import (
	"strings"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/linevalue"
)

// tagWidth is the width of the column of levels.
const tagWidth = linevalue.TagWidth

// compileLevels returns the names of nib's levels in a layout.
func compileLevels(name func(nib.Level) string) []linevalue.LevelName {
	var list []linevalue.LevelName
	for l := nib.LevelTrace; l <= nib.LevelFatal; l += nib.LevelDebug - nib.LevelTrace {
		text := nameOf(l, name)
		escaped := string(jsonenc.AppendString(nil, text))
		n := linevalue.LevelName{Name: escaped[1 : len(escaped)-1], Level: l}
		tag, _, known := appendTag(nil, []byte(text))
		if !known {
			tag = fitTag(appendPlain(nil, []byte(strings.ToUpper(text))))
		}
		n.Tag = string(tag)
		list = append(list, n)
	}
	return list
}

// nameOf returns the name of a level in a layout, or nib's if the function of
// the layout panics, as a Logger does.
func nameOf(l nib.Level, name func(nib.Level) string) (text string) {
	defer func() {
		if recover() != nil {
			text = l.String()
		}
	}()
	return name(l)
}

// tagOf returns the tag for a level as written in a line, in memory that the
// next call reuses. fallback is the level of unknown names.
func (p *painter) tagOf(raw []byte, fallback nib.Level) (tag []byte, level nib.Level) {
	body := raw
	if raw[0] == '"' {
		body = raw[1 : len(raw)-1]
	}
	p.tag = p.tag[:0]
	for i := range p.levels {
		if n := &p.levels[i]; string(body) == n.Name {
			p.tag = append(p.tag, n.Tag...)
			return p.tag, n.Level
		}
	}
	if tag, level, known := appendTag(p.tag, body); known {
		p.tag = tag
		return tag, level
	}
	if raw[0] == '"' {
		body = p.decode(body)
	}
	p.tag = fitTag(appendPlain(p.tag, body))
	for i, c := range p.tag {
		if c >= 'a' && c <= 'z' {
			p.tag[i] = c - 'a' + 'A'
		}
	}
	return p.tag, fallback
}

// appendTag appends the tag of a level that is known by its name, also with an
// offset, such as "DEBUG-4", or a number, such as "INFO3".
func appendTag(dst, name []byte) (tag []byte, level nib.Level, known bool) {
	if n := linevalue.FindLevel(name); n != nil {
		return append(dst, n.Tag...), n.Level, true
	}
	n, offset, by := linevalue.SplitOffset(name)
	if n == nil {
		n, offset, by = linevalue.SplitNumber(name)
	}
	if n == nil {
		return dst, 0, false
	}
	keep := min(len(n.Tag), tagWidth-len(offset))
	return append(append(dst, n.Tag[:keep]...), offset...), n.Level + nib.Level(by), true
}

// fitTag cuts text, in place, to the width of the column of levels.
func fitTag(text []byte) []byte {
	if width(text) <= tagWidth {
		return text
	}
	columns := 0
	for i := 0; ; {
		r, size := utf8.DecodeRune(text[i:])
		if columns += runeWidth(r); columns >= tagWidth {
			return append(text[:i], "…"...)
		}
		i += size
	}
}
