// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/jsonread"
)

// WithLevel sets the lowest level that is written, LevelInfo by default. A
// [LevelVar] or [slog.LevelVar] can be changed while the logger is in use; a
// plain [Level] makes a disabled call one comparison.
func WithLevel(level slog.Leveler) Option {
	if level == nil || level == slog.Leveler((*LevelVar)(nil)) ||
		level == slog.Leveler((*slog.LevelVar)(nil)) {
		panic("nib: WithLevel(nil)")
	}
	return Option{func(l *Logger) {
		l.core.rules = nil
		switch v := level.(type) {
		case Level:
			l.min, l.leveler = v, nil
		case slog.Level:
			l.min, l.leveler = Level(v), nil
		default:
			l.min, l.leveler = minLevel, level
		}
	}}
}

// WithRules takes the level of each logger from r, by its name, in place of
// WithLevel.
func WithRules(r *Rules) Option {
	if r == nil {
		panic("nib: WithRules(nil)")
	}
	return Option{func(l *Logger) { l.core.rules = r }}
}

// WithLayout sets the shape of the lines. Fields that were bound earlier keep
// their shape, but those whose keys the layout reserves are renamed. WithLayout
// panics with the error of [Layout.Validate], if there is one.
func WithLayout(layout Layout) Option {
	if err := layout.Validate(); err != nil {
		panic(err.Error())
	}
	return Option{func(l *Logger) {
		layout := layout // the Option may be used again
		if l.core.out.textDurations {
			layout.Duration = DurationString
		}
		f := newFormat(layout, l.core)
		l.core.format, l.nameField = f, f.encodeName(l.name)
		l.bound = f.reserved.rename(l.bound, l.groups.closing)
		l.groups.rename(&f.reserved)
		l.boundFlags = f.boundFlags(l)
	}}
}

// boundFlags returns what Logger.boundFlags of l is with the keys of errors of
// f. A bound field or pending group has such a key if rename would change it.
func (f *format) boundFlags(l *Logger) (has flags) {
	if f.errorKeys.rename(l.bound, l.groups.closing) != l.bound {
		has = l.boundFlags&hasError | hasErrorKey
	}
	g := l.groups
	if g.rename(&f.errorKeys); g.pending != l.groups.pending {
		has |= hasErrorKey
	}
	return has
}

// WithClock replaces the clock. now must be safe for concurrent use.
func WithClock(now func() time.Time) Option { return Option{func(l *Logger) { l.core.now = now }} }

// WithCaller adds the call site to every line.
func WithCaller() Option { return Option{func(l *Logger) { l.core.caller = true }} }

// WithStack adds the stack of the calling goroutine to lines of level from and
// above.
func WithStack(from Level) Option { return Option{func(l *Logger) { l.core.stackFrom = from }} }

// A Hook sees every event that is about to be written, on the goroutine that
// logs. It may add fields, Discard the event, and read its fields with Lookup;
// it must not finish or keep the event. A panic in a hook is shown in the line.
type Hook interface {
	Run(e *Event, level Level, msg string)
}

// A HookFunc is a function that serves as a Hook.
type HookFunc func(e *Event, level Level, msg string)

// Run calls f.
func (f HookFunc) Run(e *Event, level Level, msg string) { f(e, level, msg) }

// WithSink replaces the sink, for a Logger of one request or test. The new
// Logger shares everything else, including the layout and the counts of Stats.
func WithSink(s Sink) Option {
	if s == nil {
		panic("nib: WithSink(nil)")
	}
	return Option{func(l *Logger) { l.core.out = sinkOutput(s) }}
}

// WithHook adds a hook after the existing ones.
func WithHook(h Hook) Option {
	return Option{func(l *Logger) {
		l.core.hooks = append(l.core.hooks[:len(l.core.hooks):len(l.core.hooks)], h)
	}}
}

// A Sampler decides which events are created at all, before any field is
// encoded. It runs on the goroutine that logs and must be safe for concurrent
// use. Panic and Fatal act even when their line is sampled out. Package
// sampling provides samplers.
type Sampler interface {
	Sample(level Level) bool
}

// WithSampler sets the sampler; there is none by default, and nil removes it.
func WithSampler(s Sampler) Option {
	guarded := contract.TraitsOf(s)&contract.NeverLogs == 0
	return Option{func(l *Logger) { l.core.sampler, l.core.guardsSampler = s, guarded }}
}

// WithErrorHandler sets the function that is called when a line could not be
// written or an event was misused. It runs on the goroutine that logs, may run
// concurrently, and may log: errors during such a call are only counted. The
// default writes to standard error and waits for it for 100 ms at most.
func WithErrorHandler(h func(error)) Option {
	return Option{func(l *Logger) { l.core.onError = h }}
}

// WithExit replaces os.Exit as the last act of Fatal.
func WithExit(exit func(code int)) Option { return Option{func(l *Logger) { l.core.exit = exit }} }

// WithContextFields sets the fields that Event.Ctx and LogAttrs take from a
// context besides the bound fields of the logger that it carries, such as trace
// ids. f only adds fields.
func WithContextFields(f func(ctx context.Context, e *Event)) Option {
	return Option{func(l *Logger) { l.core.contextFields = f }}
}

// DuplicateKeys is the policy for fields with the same key, at the top level or
// in a group of [Logger.WithGroup]. JSON has no rule for them, and readers take
// the first, the last, or neither.
type DuplicateKeys uint8

// The policies for equal keys. They apply once, when the line is finished; an
// object that is a value, as of Dict and slog.Group, keeps all its fields. All
// but DuplicatesKeep read the line again, at about a nanosecond a byte.
const (
	DuplicatesKeep      DuplicateKeys = iota // write them all, the default
	DuplicatesLastWins                       // only the last, where it stands
	DuplicatesFirstWins                      // only the first
	DuplicatesRename                         // "key", "key#2", "key#3"
)

// WithDuplicateKeys sets the policy for fields with the same key.
func WithDuplicateKeys(p DuplicateKeys) Option {
	return Option{func(l *Logger) {
		x := &l.core.edits
		if x.duplicates = nil; p != DuplicatesKeep {
			x.groups = (*edits).editGroups
			x.duplicates = func(e *Event, dst, line []byte) []byte {
				return jsonread.Duplicates(dst, line, jsonread.Policy(p), editSpace(e))
			}
		}
	}}
}

// WithRedact writes *** in place of the value of every field with one of these
// keys, ASCII letters in any case, anywhere in the line: bound, within objects,
// structs, maps and RawJSON. It also looks through texts for passwords in URLs
// and for values after such a key as a whole word: "token=…", `"token":"…"`,
// "Token: Bearer …", and key:value as printed by %+v. A value that is not
// quoted ends at a space or comma. A value on the line after "token:", and a
// key in coloured or percent-encoded text, are not found. Redaction happens
// before any byte leaves the event, and reads the line again. The value with
// which Panic panics, and Record.Logger, are not redacted. Keys accumulate. Use
// [Secret] for what must never be seen.
func WithRedact(keys ...string) Option {
	return Option{func(l *Logger) {
		x := &l.core.edits
		x.keys = slices.Concat(x.keys, keys)
		all := jsonread.NewKeys(x.keys)
		x.masks = (*edits).masksFront
		x.redact = func(_ *Event, dst, line []byte) []byte {
			return jsonread.Redact(dst, line, all)
		}
	}}
}

// WithMaxLine cuts lines longer than n bytes, newline included: the longest
// texts first, at a rune, then whole fields, but never time, level, logger and
// caller. Such a line stays valid JSON and ends in "truncated": the number of
// bytes left out. Container runtimes cut lines at 16 KiB without regard to
// JSON. Values are not encoded beyond n bytes and 1 MiB. 0, the default, is no
// limit, except that values are not encoded beyond 64 MiB of a line: a value in
// which much is shared may be small in memory and without end as text.
func WithMaxLine(n int) Option { return Option{func(l *Logger) { l.core.edits.max = n }} }
