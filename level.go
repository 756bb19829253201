// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"log/slog"
	"sync/atomic"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/level"
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

// Level makes a Level usable as a [slog.Leveler].
func (l Level) Level() slog.Level { return slog.Level(l) }

// String returns the name in lower case: "info", "info+2", "trace-1".
func (l Level) String() string { return level.String(int(l)) }

// MarshalText returns the text of String.
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
	l, err := level.Parse(s)
	return Level(l), err
}

// A LevelVar is a Level that may be changed while loggers use it. The zero
// value is LevelInfo. It is safe for concurrent use, must not be copied, and
// reads and writes as text, so it can be set by a flag, a configuration file or
// an environment variable.
type LevelVar struct{ v atomic.Int64 }

// Set changes the level for every logger made with v.
func (v *LevelVar) Set(l Level) { v.v.Store(int64(l)) }

// Level makes a LevelVar usable as a [slog.Leveler].
func (v *LevelVar) Level() slog.Level { return slog.Level(v.v.Load()) }

// String returns the name of the current level.
func (v *LevelVar) String() string { return Level(v.v.Load()).String() }

// MarshalText returns the text of the current level.
func (v *LevelVar) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText sets the level to what [ParseLevel] reads.
func (v *LevelVar) UnmarshalText(text []byte) error {
	l, err := ParseLevel(string(text))
	if err == nil {
		v.Set(l)
	}
	return err
}

// Rules give levels to loggers by their names, and may be changed while the
// loggers are in use. Make them with [ParseRules]. They are safe for concurrent
// use and must not be copied.
type Rules struct{ table level.Table }

// ParseRules reads rules such as "warn,db=debug,http.*=error": levels by
// [Logger.Named] name. A level alone applies to all names, "db" to db and the
// names below it (db.pool), "http.*" only to those below it. Of the rules that
// match a name the longest wins; the default is LevelInfo. The error joins one
// for each mistake.
func ParseRules(s string) (*Rules, error) {
	r := new(Rules)
	if err := r.Set(s); err != nil {
		return nil, err
	}
	return r, nil
}

// Set replaces the rules for all lines that are started afterwards. On an error
// nothing changes.
func (r *Rules) Set(s string) error { return r.table.Set(s) }

// String returns the current rules in the syntax of ParseRules.
func (r *Rules) String() string { return r.table.String() }

func (f *format) encodeLevel(l Level, aborted *atomic.Uint64) string {
	if f.levelKey == "" {
		return ""
	}
	return string(jsonenc.AppendString([]byte(f.levelKey), f.levelName(l, aborted)))
}

// levelName names a level, by Level.String if the layout's function panics.
func (f *format) levelName(l Level, aborted *atomic.Uint64) (name string) {
	if done, _ := callUser("Layout.LevelName", aborted, func() { name = f.LevelName(l) }); !done {
		name = l.String()
	}
	return name
}

// level returns the encoded level field. Unnamed levels are encoded once and
// cached, except those far out, of which a program may make any number.
func (f *format) level(l Level, aborted *atomic.Uint64) string {
	if i, ok := level.Index(int(l)); ok {
		return f.levels[i]
	}
	const far = 1 << 10
	if l < -far || l > far {
		return f.encodeLevel(l, aborted)
	}
	id := uintptr(l + 2*far) // never 0, which marks a free place
	s := f.otherLevels.Get(id)
	if s == nil {
		s = f.otherLevels.Put(id, f.encodeLevel(l, aborted))
	}
	return *s
}
