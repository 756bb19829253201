// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"time"

	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/logread"
)

// named returns a line whose time or level is a number that only logread reads,
// as in the journal, pino and bunyan, with texts in their place. It
// returns nil for other lines. The result is valid until the next call.
func (p *painters) named(l *logread.Line) []byte {
	at, level := l.Key("time"), l.Key("level")
	if at != "__REALTIME_TIMESTAMP" && level != "PRIORITY" && !isNumber(l, level) || !jsonread.Valid(l.Body()) {
		return nil
	}
	t, hasTime := l.Time()
	known, hasLevel := l.Level()
	p.json = append(p.json[:0], '{')
	for key, value := range l.Fields() {
		if len(p.json) > 1 {
			p.json = append(p.json, ',')
		}
		p.json = append(append(append(p.json, '"'), key...), `":`...)
		switch {
		case hasTime && string(key) == at:
			p.json = t.AppendFormat(p.json, `"`+time.RFC3339Nano+`"`)
		case hasLevel && string(key) == level:
			p.json = append(append(append(p.json, '"'), known.String()...), '"')
		default:
			p.json = append(p.json, value...)
		}
	}
	return append(p.json, '}')
}

// isNumber reports whether the level of l, under key, is a number.
func isNumber(l *logread.Line, key string) bool {
	if key != "level" {
		return false
	}
	const name = `"level":`
	at := bytes.Index(l.Body(), []byte(name)) // most lines are decided here
	if at < 0 || at+len(name) >= len(l.Body()) || l.Body()[at+len(name)] == '"' {
		return false
	}
	raw, ok := l.Lookup(key)
	return ok && raw[0]-'0' <= 9
}
