// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
)

// tagWidth is the width of the column of levels.
const tagWidth = 5

// A levelName is one way to write a level.
type levelName struct {
	name  string // as it stands in a line, escaped
	tag   string // what is shown, tagWidth columns at most
	level nib.Level
}

// knownNames are the names of nib and slog, of zap, of syslog (RFC 5424) and of
// cloud services. Case does not matter.
var knownNames = []levelName{
	{"trace", "TRACE", nib.LevelTrace},
	{"debug", "DEBUG", nib.LevelDebug},
	{"info", "INFO", nib.LevelInfo},
	{"notice", "NOTE", nib.LevelInfo + 2},
	{"warn", "WARN", nib.LevelWarn},
	{"warning", "WARN", nib.LevelWarn},
	{"error", "ERROR", nib.LevelError},
	{"err", "ERROR", nib.LevelError},
	{"critical", "CRIT", nib.LevelError + 2},
	{"crit", "CRIT", nib.LevelError + 2},
	{"panic", "PANIC", nib.LevelPanic},
	{"dpanic", "PANIC", nib.LevelPanic},
	{"alert", "ALERT", nib.LevelPanic},
	{"fatal", "FATAL", nib.LevelFatal},
	{"emergency", "EMERG", nib.LevelFatal},
	{"emerg", "EMERG", nib.LevelFatal},
}

// compileLevels lists the names that a layout gives to nib's levels.
func compileLevels(name func(nib.Level) string) []levelName {
	var list []levelName
	for l := nib.LevelTrace; l <= nib.LevelFatal; l += nib.LevelDebug - nib.LevelTrace {
		text := name(l)
		escaped := string(jsonenc.AppendString(nil, text))
		n := levelName{name: escaped[1 : len(escaped)-1], level: l}
		if known := findKnown([]byte(text)); known != nil {
			n.tag = known.tag
		} else {
			n.tag = string(fitTag(appendPlain(nil, []byte(strings.ToUpper(text)))))
		}
		list = append(list, n)
	}
	return list
}

func findKnown(name []byte) *levelName {
	for i := range knownNames {
		if n := &knownNames[i]; len(n.name) == len(name) && bytes.EqualFold(name, []byte(n.name)) {
			return n
		}
	}
	return nil
}

// tagOf gives the tag of a level as it stands in a line, in memory that is used
// again by the next call. fallback is the level of unknown names.
func (p *painter) tagOf(raw []byte, fallback nib.Level) (tag []byte, level nib.Level) {
	body := raw
	if raw[0] == '"' {
		body = raw[1 : len(raw)-1]
	}
	p.tag = p.tag[:0]
	for i := range p.levels {
		if n := &p.levels[i]; string(body) == n.name {
			p.tag = append(p.tag, n.tag...)
			return p.tag, n.level
		}
	}
	if n := findKnown(body); n != nil {
		p.tag = append(p.tag, n.tag...)
		return p.tag, n.level
	}
	if n, offset, by := splitOffset(body); n != nil {
		keep := min(len(n.tag), tagWidth-len(offset))
		p.tag = append(append(p.tag, n.tag[:keep]...), offset...)
		return p.tag, n.level + nib.Level(by)
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

// splitOffset takes "info+2" apart.
func splitOffset(name []byte) (base *levelName, offset []byte, by int) {
	i := bytes.LastIndexAny(name, "+-")
	if i < 1 || len(name) < i+2 || len(name) >= i+tagWidth {
		return nil, nil, 0
	}
	by = digits(name[i+1:])
	if base = findKnown(name[:i]); base == nil || by < 0 {
		return nil, nil, 0
	}
	if name[i] == '-' {
		by = -by
	}
	return base, name[i:], by
}

// fitTag cuts text, in place, to what the column of levels holds.
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
