// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"time"

	"github.com/nib-log/nib"
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

// The functions below know the keys of nib's layouts, of the loggers that they
// follow, of pino and bunyan, and of journalctl -o json. They return constants,
// so that the result outlives the line.

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
	case "PRIORITY":
		return "PRIORITY"
	}
	return ""
}

func messageKey(key []byte) string {
	switch string(key) {
	case "message":
		return "message"
	case "msg":
		return "msg"
	case "Body":
		return "Body"
	case "body":
		return "body"
	case "MESSAGE":
		return "MESSAGE"
	}
	return ""
}

// parseTime reads the value of a key of timeKey.
func parseTime(key string, raw []byte, zone *time.Location) (time.Time, bool) {
	switch c := raw[0]; {
	case key == "__REALTIME_TIMESTAMP":
		if raw = bytes.Trim(raw, `"`); len(raw) == 0 {
			return time.Time{}, false
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
	// A small number is a duration or a count.
	return t, ok && t.Unix() >= 1e8
}

// parseLevel reads the value of a key of levelKey.
func parseLevel(key string, raw []byte) (nib.Level, bool) {
	name := raw
	if n := len(raw); n >= 2 && raw[0] == '"' {
		name = raw[1 : n-1]
	}
	switch {
	case key == "PRIORITY" && len(name) == 1 && name[0]-'0' <= 7:
		return syslogLevels[name[0]-'0'], true
	case key == "level" && len(name) == 2 && name[1] == '0' && name[0] >= '1' && name[0] <= '6' && name[0] == raw[0]:
		return pinoLevels[name[0]-'1'], true // pino and bunyan
	}
	if n := linevalue.FindLevel(name); n != nil {
		return n.Level, true
	}
	if n, _, by := linevalue.SplitOffset(name); n != nil {
		return n.Level + nib.Level(by), true
	}
	return 0, false
}

var syslogLevels = [...]nib.Level{
	nib.LevelFatal, nib.LevelPanic, nib.LevelError + 2, nib.LevelError,
	nib.LevelWarn, nib.LevelInfo + 2, nib.LevelInfo, nib.LevelDebug,
}

var pinoLevels = [...]nib.Level{
	nib.LevelTrace, nib.LevelDebug, nib.LevelInfo, nib.LevelWarn, nib.LevelError, nib.LevelFatal,
}
