// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/linevalue"
)

// A role is the meaning of a field for the line.
type role uint8

const (
	roleTime role = iota
	roleLevel
	roleMessage
	roles
)

// Key returns the key of the time, level or message of the line, "" if it has
// none. name is "time", "level" or "message".
func (l *Line) Key(name string) string {
	switch name {
	case "time":
		if _, ok := l.Time(); ok && l.format != FormatText {
			return l.keys[roleTime]
		}
	case "level":
		if _, ok := l.Level(); ok && l.format != FormatText {
			return l.keys[roleLevel]
		}
	case "message":
		if l.Message() != nil && l.format != FormatText {
			return l.keys[roleMessage]
		}
	}
	return ""
}

// RawOf returns the raw value of the field that has the time, level or message
// of a line, or nil. name is "time", "level" or "message". A time that is an
// object, a level that is a number, and those outside of a field are given as
// text, which is valid until the next call.
func RawOf(l *Line, name string) []byte {
	switch name {
	case "time":
		at, ok := l.Time()
		if raw := l.raws[roleTime]; !ok || raw != nil && raw[0] != '{' {
			return raw
		}
		l.scratch = at.AppendFormat(l.scratch[:0], time.RFC3339Nano)
		return l.scratch
	case "level":
		level, ok := l.Level()
		if raw := l.raws[roleLevel]; !ok || raw != nil && !isNumber(raw) {
			return raw
		}
		l.scratch = append(l.scratch[:0], level.String()...)
		return l.scratch
	case "message":
		return l.Message()
	}
	return nil
}

// isNumber reports whether a level is a number, as of pino and the journal.
func isNumber(raw []byte) bool {
	raw = bytes.Trim(raw, `"`)
	return len(raw) > 0 && raw[0]-'0' <= 9
}

// IsDerived reports whether the time or the level is not as in the field of its
// key: it has no such field, as behind a template or in an envelope, or a value
// that only this package reads.
func (l *Line) IsDerived() bool {
	l.Time()
	l.Level()
	return l.derived&l.found != 0
}

// IsForeign reports whether the line is text without a time and a level, which
// programs print that do not log.
func (l *Line) IsForeign() bool {
	if l.format != FormatText || len(l.text) == 0 {
		return false
	}
	_, hasTime := l.Time()
	_, hasLevel := l.Level()
	return !hasTime && !hasLevel
}

// The functions below know the keys of nib's layouts, of the loggers that they
// follow, of common loggers of other languages, and of journalctl -o json. They
// return constants, so that the result outlives the line. A path is of a field
// in an object.

func timeKey(key []byte) string {
	switch string(key) {
	case "time":
		return "time"
	case "ts":
		return "ts"
	case "timestamp":
		return "timestamp"
	case "@timestamp":
		return "@timestamp"
	case "Timestamp":
		return "Timestamp"
	case "t":
		return "t"
	case "datetime":
		return "datetime"
	case "@t":
		return "@t"
	case "timeUnixNano":
		return "timeUnixNano"
	case "observedTimeUnixNano":
		return "observedTimeUnixNano"
	case "timeMillis":
		return "timeMillis"
	case "instant":
		return "instant"
	case "asctime":
		return "asctime"
	case "__REALTIME_TIMESTAMP":
		return "__REALTIME_TIMESTAMP"
	}
	return ""
}

func levelKey(key []byte) string {
	switch string(key) {
	case "level":
		return "level"
	case "lvl":
		return "lvl"
	case "log.level":
		return "log.level"
	case "severity":
		return "severity"
	case "SeverityText":
		return "SeverityText"
	case "severity_text":
		return "severity_text"
	case "status":
		return "status"
	case "loglevel":
		return "loglevel"
	case "@level":
		return "@level"
	case "@l":
		return "@l"
	case "severityText":
		return "severityText"
	case "severityNumber":
		return "severityNumber"
	case "Level":
		return "Level"
	case "LogLevel":
		return "LogLevel"
	case "levelname":
		return "levelname"
	case "level_name":
		return "level_name"
	case "log":
		return "log.level"
	case "PRIORITY":
		return "PRIORITY"
	}
	return ""
}

func messageKey(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	switch key[0] { // most keys of a line are decided here
	case 'm', 'b', 'B', 'M', '@', 'e', 'f', 'R':
	default:
		return ""
	}
	switch string(key) {
	case "message":
		return "message"
	case "msg":
		return "msg"
	case "Body":
		return "Body"
	case "body":
		return "body"
	case "@message":
		return "@message"
	case "@m":
		return "@m"
	case "@mt":
		return "@mt"
	case "event":
		return "event"
	case "fields":
		return "fields.message"
	case "MESSAGE":
		return "MESSAGE"
	case "Message":
		return "Message"
	case "RenderedMessage":
		return "RenderedMessage"
	case "MessageTemplate":
		return "MessageTemplate"
	}
	return ""
}

// isKnownKey reports whether only log lines have a key.
func isKnownKey(key []byte) bool {
	return timeKey(key) != "" || levelKey(key) != "" || messageKey(key) != ""
}

// isWeak reports whether a key of messageKey is a field like others in a line
// with another message.
func isWeak(name string) bool {
	switch name {
	case "body", "event", "fields.message", "@mt", "MessageTemplate":
		return true
	}
	return false
}

// parseTime reads the value of a key of timeKey.
func parseTime(key string, raw []byte, zone *time.Location) (time.Time, bool) {
	switch c := raw[0]; {
	case key == "instant":
		return instant(raw)
	case key == "__REALTIME_TIMESTAMP":
		if raw = bytes.Trim(raw, `"`); len(raw) == 0 {
			return time.Time{}, false
		}
		if len(raw) > 4 && raw[4] == '-' {
			return linevalue.ParseText(raw, zone)
		}
		return linevalue.ParseTime(raw, nib.TimeUnixMicro, zone)
	case c == '"':
		return linevalue.ParseTime(raw, "", zone)
	case c-'0' > 9 && c != '-':
		return time.Time{}, false
	case len(raw) > 4 && raw[4] == '-': // logfmt
		return linevalue.ParseText(raw, zone)
	}
	t, ok := linevalue.ParseTime(raw, "", zone)
	return t, ok && t.Unix() >= leastEpoch
}

// leastEpoch is the least number of seconds that is a time: a smaller number is
// a duration or a count.
const leastEpoch = 1e8

// instant reads the time of log4j.
func instant(raw []byte) (time.Time, bool) {
	second, ok := jsonread.Lookup(raw, "epochSecond")
	if !ok || len(second) > 12 {
		return time.Time{}, false
	}
	s, _, ok := linevalue.ParseNumber(second)
	nano, _ := jsonread.Lookup(raw, "nanoOfSecond")
	var n int64
	if ok && len(nano) > 0 && len(nano) < 10 {
		n, _, ok = linevalue.ParseNumber(nano)
	}
	return time.Unix(s, n), ok
}

// parseLevel reads the value of a key of levelKey.
func parseLevel(key string, raw []byte) (nib.Level, bool) {
	name := raw
	if n := len(raw); n >= 2 && raw[0] == '"' {
		name = raw[1 : n-1]
	}
	if key == "PRIORITY" && len(name) == 1 && name[0]-'0' <= 7 {
		return syslogLevels[name[0]-'0'], true
	}
	if level, ok := linevalue.LevelNumbered(raw); ok && key == "level" {
		return level, true
	}
	if key == "severityNumber" && len(name) > 0 { // OTLP
		n, _, ok := linevalue.ParseNumber(name)
		return min(nib.LevelTrace+nib.Level(n-1), nib.LevelFatal), ok && n > 0 && n <= 24
	}
	if n := linevalue.FindLevel(name); n != nil {
		return n.Level, true
	}
	for _, n := range shortLevels { // Information and Verbose of Serilog
		if n.isWord && key == "status" { // fine or success, of a request
			continue
		}
		if bytes.EqualFold(name, []byte(n.name)) {
			return n.level, true
		}
	}
	if n, _, by := linevalue.SplitOffset(name); n != nil {
		return n.Level + nib.Level(by), true
	}
	return linevalue.FindNumbered(name) // OpenTelemetry
}

var syslogLevels = [...]nib.Level{
	nib.LevelFatal, nib.LevelFatal, nib.LevelPanic, nib.LevelError,
	nib.LevelWarn, nib.LevelInfo + 2, nib.LevelInfo, nib.LevelDebug,
}
