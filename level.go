// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
)

// A Level is the severity of a line. The scale is slog's (steps of four, Info
// is zero, so the zero Level is the usual one), with names at both ends that
// slog leaves out. Any other value is a level too and is named after the next
// lower one: LevelInfo+2 prints as "info+2".
type Level int

// The named levels.
const (
	LevelTrace Level = -8
	LevelDebug Level = -4
	LevelInfo  Level = 0
	LevelWarn  Level = 4
	LevelError Level = 8
	LevelPanic Level = 12
	LevelFatal Level = 16
)

// levelNames is indexed by Level.index.
var levelNames = [...]string{"trace", "debug", "info", "warn", "error", "panic", "fatal"}

// index is the position of a named level in tables kept per level, and whether
// l is a named one.
func (l Level) index() (int, bool) {
	n := uint(l - LevelTrace)
	return int(n >> 2), n&3 == 0 && n <= uint(LevelFatal-LevelTrace)
}

// Level makes a Level usable as a [slog.Leveler].
func (l Level) Level() slog.Level { return slog.Level(l) }

// String gives the name in lower case: "info", "info+2", "trace-1".
func (l Level) String() string {
	if i, ok := l.index(); ok {
		return levelNames[i]
	}
	base := LevelTrace
	if l > LevelTrace {
		base = min(LevelFatal, l&^3)
	}
	i, _ := base.index()
	return fmt.Sprintf("%s%+d", levelNames[i], int(l-base))
}

// MarshalText gives the text of String.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what [ParseLevel] reads.
func (l *Level) UnmarshalText(text []byte) error {
	v, err := ParseLevel(string(text))
	if err == nil {
		*l = v
	}
	return err
}

// ParseLevel reads a level as nib or slog write it, in any case: a name
// ("warn", "WARN", "warning"), a name with an offset ("info+2", "ERROR-1") or a
// plain number on slog's scale ("-4"). Anything else is an error that quotes s.
func ParseLevel(s string) (Level, error) {
	name, offset := s, 0
	if i := strings.IndexAny(s, "+-"); i >= 0 {
		n, err := strconv.Atoi(s[i:])
		if err != nil {
			return 0, fmt.Errorf("nib: level %q: %w", s, err)
		}
		if i == 0 {
			return Level(n), nil
		}
		name, offset = s[:i], n
	}
	if n, err := strconv.Atoi(name); err == nil && name == s {
		return Level(n), nil
	}
	if strings.EqualFold(name, "warning") {
		name = "warn"
	}
	for i, known := range levelNames {
		if strings.EqualFold(name, known) {
			base := LevelTrace + Level(4*i)
			if l := base + Level(offset); (l >= base) == (offset >= 0) { // else it has run over
				return l, nil
			}
			break
		}
	}
	return 0, fmt.Errorf("nib: unknown level %q (want trace, debug, info, warn, error, panic or fatal, as in \"info+2\")", s)
}

// A LevelVar is a Level that may be changed while loggers use it. The zero
// value is LevelInfo. It is safe for concurrent use, must not be copied, and
// reads and writes as text, so it can stand behind a flag, in a configuration
// file or in the environment.
type LevelVar struct{ v atomic.Int64 }

// Set changes the level for every logger made with v.
func (v *LevelVar) Set(l Level) { v.v.Store(int64(l)) }

// Level makes a LevelVar usable as a [slog.Leveler].
func (v *LevelVar) Level() slog.Level { return slog.Level(v.v.Load()) }

// String gives the name of the present level.
func (v *LevelVar) String() string { return Level(v.v.Load()).String() }

// MarshalText gives the text of the present level.
func (v *LevelVar) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText sets the level to what [ParseLevel] reads.
func (v *LevelVar) UnmarshalText(text []byte) error {
	l, err := ParseLevel(string(text))
	if err == nil {
		v.Set(l)
	}
	return err
}
