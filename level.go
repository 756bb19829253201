// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"log/slog"
	"math"
	"sync/atomic"

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

// UnmarshalText parses text like [ParseLevel].
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

// UnmarshalText sets the level that [ParseLevel] returns.
func (v *LevelVar) UnmarshalText(text []byte) error {
	l, err := ParseLevel(string(text))
	if err == nil {
		v.Set(l)
	}
	return err
}

// Rules assign levels to loggers by name, and may be changed while the loggers
// are in use. Make them with [ParseRules]. They are safe for concurrent use and
// must not be copied.
type Rules struct{ table level.Table }

// ParseRules reads rules such as "warn,db=debug,http.*=error": levels by
// [Logger.Named] name. A level alone applies to all names, "db" to db and the
// names below it (db.pool), "http.*" only to those below it. Of the rules that
// match a name the longest wins; the default is LevelInfo. The logger that
// Named("*") returns has the lowest level of any name, for front ends that
// compare a level before they know the name. A name in a rule has no white
// space, semicolon or empty part, so that typing errors such as "info;db=debug"
// are found; a logger whose name has one takes the level of the names above it.
// The error joins one error per mistake.
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

// Level returns the lowest level that is written now. It is above all others
// for a Logger that discards.
func (l *Logger) Level() Level {
	switch {
	case l.discards():
		return math.MaxInt
	case l.leveler != nil:
		return Level(l.leveler.Level())
	}
	return l.min
}

// Enabled reports whether a line of this level would be written, sampling
// aside.
func (l *Logger) Enabled(level Level) bool { return !l.discards() && level >= l.Level() }

// Every way to log decides in two steps whether there is a line. belowMin is
// one comparison, which is inlined into the level methods and with them into
// the program.
func (l *Logger) belowMin(level Level) bool { return l == nil || l.min > level }

// passes is the second step: a Leveler's level, and sampling. It does not look
// at min again.
func (l *Logger) passes(level Level) bool { return l.direct || l.passesSlowly(level) }

func (l *Logger) passesSlowly(level Level) bool {
	return !l.discards() && (l.leveler == nil || level >= l.Level()) && l.isSampled(level)
}

// isSampled reports whether the sampler, if any, lets a line pass.
func (l *Logger) isSampled(level Level) bool {
	c := l.core
	switch {
	case c.sampler == nil:
		return true
	case !c.guardsSampler:
		return c.sampler.Sample(level)
	}
	return l.sample(c.sampler, level)
}
