// SPDX-License-Identifier: Apache-2.0

// Package linevalue reads times, levels and numbers from log lines, as nib and
// other loggers write them. The functions allocate nothing.
package linevalue

import (
	"bytes"

	"github.com/nib-log/nib"
)

// TagWidth is the length of the longest LevelName.Tag.
const TagWidth = 5

// A LevelName is one way to write a level.
type LevelName struct {
	Name  string // the name as written in a line, escaped
	Tag   string // the name shown to people, at most TagWidth columns
	Level nib.Level
}

// knownNames are the names of nib and slog, of zap, of syslog (RFC 5424) and of
// cloud services. Case does not matter. A name that a layout or a severity of
// nib has for a level is read as that level.
var knownNames = []LevelName{
	{"trace", "TRACE", nib.LevelTrace},
	{"debug", "DEBUG", nib.LevelDebug},
	{"info", "INFO", nib.LevelInfo},
	{"notice", "NOTE", nib.LevelInfo + 2},
	{"warn", "WARN", nib.LevelWarn},
	{"warning", "WARN", nib.LevelWarn},
	{"error", "ERROR", nib.LevelError},
	{"err", "ERROR", nib.LevelError},
	{"critical", "CRIT", nib.LevelPanic},
	{"crit", "CRIT", nib.LevelPanic},
	{"panic", "PANIC", nib.LevelPanic},
	{"dpanic", "PANIC", nib.LevelPanic},
	{"alert", "ALERT", nib.LevelFatal},
	{"fatal", "FATAL", nib.LevelFatal},
	{"emergency", "EMERG", nib.LevelFatal},
	{"emerg", "EMERG", nib.LevelFatal},
}

// FindLevel returns the level whose name is name in any case, or nil.
func FindLevel(name []byte) *LevelName {
	for i := range knownNames {
		if n := &knownNames[i]; len(n.Name) == len(name) && bytes.EqualFold(name, []byte(n.Name)) {
			return n
		}
	}
	return nil
}

// LevelNamed reads a level as a person writes it, also as a number of pino.
func LevelNamed(text string) (nib.Level, error) {
	if n := FindLevel([]byte(text)); n != nil {
		return n.Level, nil
	}
	if level, ok := FindNumbered([]byte(text)); ok {
		return level, nil
	}
	if level, ok := LevelNumbered([]byte(text)); ok {
		return level, nil
	}
	return nib.ParseLevel(text)
}

var pinoLevels = [...]nib.Level{
	nib.LevelTrace, nib.LevelDebug, nib.LevelInfo, nib.LevelWarn, nib.LevelError, nib.LevelFatal,
}

// LevelNumbered reads a level of pino and bunyan: 10, 20, to 60.
func LevelNumbered(digits []byte) (level nib.Level, ok bool) {
	if len(digits) != 2 || digits[1] != '0' || digits[0] < '1' || digits[0] > '6' {
		return 0, false
	}
	return pinoLevels[digits[0]-'1'], true
}

// SplitOffset parses "info+2" into a name, "+2" and 2. Without such an offset
// it returns nil.
func SplitOffset(name []byte) (base *LevelName, offset []byte, by int) {
	i := bytes.LastIndexAny(name, "+-")
	if i < 1 || len(name) < i+2 || len(name) >= i+TagWidth {
		return nil, nil, 0
	}
	by = digits(name[i+1:])
	if base = FindLevel(name[:i]); base == nil || by < 0 {
		return nil, nil, 0
	}
	if name[i] == '-' {
		by = -by
	}
	return base, name[i:], by
}

// SplitNumber parses "INFO3" of OpenTelemetry into a name, "3" and 2: each name
// has four levels, and the first has no number. Without such a number it
// returns nil.
func SplitNumber(name []byte) (base *LevelName, number []byte, by int) {
	last := len(name) - 1
	if last < 1 || name[last]-'2' > '4'-'2' {
		return nil, nil, 0
	}
	if base = FindLevel(name[:last]); base == nil {
		return nil, nil, 0
	}
	return base, name[last:], int(name[last] - '1')
}

// FindNumbered returns the level of a name with a number, as SplitNumber parses
// it, at most LevelFatal.
func FindNumbered(name []byte) (level nib.Level, ok bool) {
	n, _, by := SplitNumber(name)
	if n == nil {
		return 0, false
	}
	return min(n.Level+nib.Level(by), nib.LevelFatal), true
}
