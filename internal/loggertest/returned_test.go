// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/usercode"
)

// A failing value returns err from each method that can return one.
type failing struct{ err error }

func (f failing) MarshalJSON() ([]byte, error) { return nil, f.err }

// failingText is failing for MarshalText.
type failingText struct{ err error }

func (f failingText) MarshalText() ([]byte, error) { return nil, f.err }

// badErrors are errors whose own methods misbehave, and the text of each in a
// line.
func badErrors() map[string]struct {
	err  error
	want string
} {
	type bad = struct {
		err  error
		want string
	}
	return map[string]bad{
		"typed nil":          {(*nilError)(nil), "!PANIC: "},
		"panics":             {&trapError{func() { panic("boom") }}, "!PANIC: boom"},
		"panics with itself": {&trapError{func() { panic(&trapError{func() { panic("inner") }}) }}, "!PANIC: *loggertest_test.trapError"},
		"logs":               {&trapError{func() { nib.New(&trap{func() {}}).Info().Msg("inner") }}, "!ERROR: "},
		"wraps a bad one":    {errors.Join(errAny, &trapError{func() { panic("boom") }}), "!PANIC: boom"},
	}
}

// ways are the ways to give a line a value that is encoded by its methods. Each
// adds v to the one line that it logs.
var ways = map[string]func(l *nib.Logger, v any){
	"Any":    func(l *nib.Logger, v any) { l.Info().Any("k", v).Msg("m") },
	"Val":    func(l *nib.Logger, v any) { nib.Val(l.Info(), "k", v).Msg("m") },
	"Val []": func(l *nib.Logger, v any) { nib.Val(l.Info(), "k", []any{1, v}).Msg("m") },
	"Val struct": func(l *nib.Logger, v any) {
		nib.Val(l.Info(), "k", struct{ V any }{v}).Msg("m")
	},
	"Inline":   func(l *nib.Logger, v any) { nib.Inline(l.Info(), struct{ V any }{v}).Msg("m") },
	"Inline *": func(l *nib.Logger, v any) { nib.Inline(l.Info(), &struct{ V any }{v}).Msg("m") },
	"Fields":   func(l *nib.Logger, v any) { l.Info().Fields(map[string]any{"k": v}).Msg("m") },
	"Line":     func(l *nib.Logger, v any) { anyLine.Log(context.Background(), l, &anyColumn{v}) },
	"Array":    func(l *nib.Logger, v any) { l.Info().Array("k", func(a *nib.Array) { a.Any(v) }).Msg("m") },
	"Dict":     func(l *nib.Logger, v any) { l.Info().Dict("d", func(e *nib.Event) { e.Any("k", v) }).Msg("m") },
	"Attrs":    func(l *nib.Logger, v any) { l.Info().Attrs(slog.Any("k", v)).Msg("m") },
	"group":    func(l *nib.Logger, v any) { l.Info().Attrs(slog.Group("g", slog.Any("k", v))).Msg("m") },
	"LogAttrs": func(l *nib.Logger, v any) { l.LogAttrs(context.Background(), nib.LevelInfo, "m", slog.Any("k", v)) },
	"WithAttrs": func(l *nib.Logger, v any) {
		l.WithAttrs(slog.Any("k", v)).Info().Msg("m")
	},
	"With": func(l *nib.Logger, v any) { l.With(func(e *nib.Event) { e.Any("k", v) }).Info().Msg("m") },
	"Func": func(l *nib.Logger, v any) { l.Info().Func(func(e *nib.Event) { e.Any("k", v) }).Msg("m") },
	"EmbedObject": func(l *nib.Logger, v any) {
		l.Info().EmbedObject(marshalFunc(func(e *nib.Event) { e.Any("k", v) })).Msg("m")
	},
	"hook": func(l *nib.Logger, v any) {
		l.WithOptions(nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { e.Any("k", v) }))).Info().Msg("m")
	},
	"context": func(l *nib.Logger, v any) {
		l.WithOptions(nib.WithContextFields(func(_ context.Context, e *nib.Event) { e.Any("k", v) })).
			Info().Ctx(context.Background()).Msg("m")
	},
	"Static": func(l *nib.Logger, v any) {
		l.WithOptions(nib.WithLayout(nib.Layout{Static: func(e *nib.Event) { e.Any("k", v) }})).Info().Msg("m")
	},
}

type anyColumn struct{ V any }

var anyLine = nib.NewTemplate[anyColumn](nib.LevelInfo, "m")

func TestErrorsThatUserCodeReturnsMayPanic(t *testing.T) {
	for what, x := range badErrors() {
		for name, log := range ways {
			for kind, v := range map[string]any{"MarshalJSON": failing{x.err}, "MarshalText": failingText{x.err}} {
				l, c := newCapture(t)
				log(l, v)
				if line := c.one(); !strings.Contains(line.String(), x.want) || line.get("message") == nil {
					t.Errorf("%s of %s, an error that %s\n got %s\nwant %q in it", name, kind, what, line, x.want)
				}
				l.Info().Str("next", "x").Msg("m")
				if line := c.one(); len(line.keys) != 4 {
					t.Errorf("%s of %s, an error that %s: the next line is %s", name, kind, what, line)
				}
			}
		}
	}
}

func TestErrorsThatUserCodeReturnsMayEndTheGoroutine(t *testing.T) {
	for name, log := range ways {
		for kind, v := range map[string]any{
			"MarshalJSON": failing{&trapError{runtime.Goexit}}, "MarshalText": failingText{&trapError{runtime.Goexit}},
			"panic": &trapJSON{func() { panic(&trapError{runtime.Goexit}) }},
		} {
			l, c := newCapture(t)
			ended := true
			apart(t, func() { log(l, v); ended = false })
			if got := len(c.take()); got != 0 || !ended || name != "Static" && l.Stats().Aborted != 1 {
				t.Errorf("%s of %s: got %d lines, ended %v, %+v\nwant none, and 1 aborted", name, kind, got, ended, l.Stats())
			}
			l.Info().Msg("next")
			c.one()
		}
	}
}

func TestFatalAndPanicActWhateverUserCodeReturns(t *testing.T) {
	for what, x := range badErrors() {
		exits := 0
		l, c := newCapture(t, nib.WithExit(func(code int) { exits += code }))
		l.Fatal().Any("k", failing{x.err}).Msg("m")
		if c.one(); exits != 1 {
			t.Errorf("%s: Fatal exited %d times, want once with 1", what, exits)
		}
		func() {
			defer func() {
				if p := recover(); p != "m" {
					t.Errorf("%s: Panic panicked with %v, want m", what, p)
				}
			}()
			l.Panic().Any("k", failing{x.err}).Msg("m")
		}()
		c.one()
	}
}

// Fatal ends the process even if code that runs during Msg ends the goroutine.
func TestFatalExitsAlthoughUserCodeEndsTheGoroutine(t *testing.T) {
	exit := &trap{runtime.Goexit}
	for name, x := range map[string]struct {
		opts []nib.Option
		end  func(e *nib.Event)
	}{
		"Msgf":    {nil, func(e *nib.Event) { e.Msgf("%v", exit) }},
		"MsgFunc": {nil, func(e *nib.Event) { e.MsgFunc(exit.String) }},
		"hook":    {[]nib.Option{nib.WithHook(nib.HookFunc(func(*nib.Event, nib.Level, string) { runtime.Goexit() }))}, func(e *nib.Event) { e.Msg("m") }},
		"sink":    {nil, func(e *nib.Event) { e.Msg("m") }},
	} {
		exits := 0
		opts := append(x.opts, nib.WithExit(func(code int) { exits += code }))
		l := nib.New(&capture{tb: t}, opts...)
		if name == "sink" {
			l = nib.NewSink(exit, opts...)
		}
		apart(t, func() { x.end(l.Fatal()) })
		if exits != 1 {
			t.Errorf("%s: exited %d times, want once", name, exits)
		}
	}
}

// A Leveler, a clock and names of levels are user code.
func TestSettingsThatAreUserCodeMayFail(t *testing.T) {
	for misdeed, do := range map[string]func(){
		"panics": func() { panic("boom") }, "panics with a bad error": func() { panic(&trapError{func() { panic("inner") }}) },
	} {
		for name, opt := range userSettings(func() { do() }) {
			l, c := newCapture(t, opt)
			log := func() {
				l.Info().Msg("m")
				l.At(nib.LevelInfo + 1).Msg("m")
				l.LogAttrs(context.Background(), nib.LevelInfo+2, "m")
				anyLine.Log(context.Background(), l, &anyColumn{1})
				l.Entry(nib.Entry{Level: nib.LevelInfo + 3, Message: "m"}).Timestamp().Send()
				if !l.Enabled(nib.LevelInfo) {
					t.Errorf("%s %s: the level is off", name, misdeed)
				}
			}
			log()
			lines := c.take()
			if len(lines) != 5 {
				t.Errorf("%s %s: got %d lines, want 5", name, misdeed, len(lines))
			}
			for _, line := range lines {
				if year := line.get("time").text; year < "2026" {
					t.Errorf("%s %s: got the time %s", name, misdeed, year)
				}
			}
			if l.Debug() == nil && name == "leveler" {
				t.Errorf("%s %s: a level is off while its leveler fails", name, misdeed)
			}
			if n := l.Stats().Aborted; n != 0 {
				t.Errorf("%s %s: %d lines count as aborted", name, misdeed, n)
			}
			if errs := c.takeErrors(); len(errs) == 0 {
				t.Errorf("%s %s: it was not reported", name, misdeed)
			}
		}
	}
}

func TestSettingsThatLogEnd(t *testing.T) {
	var l *nib.Logger
	var c *capture
	for name, opt := range userSettings(func() { l.At(nib.LevelInfo + 1).Msg("inner") }) {
		l, _ = newCapture(t) // the option may log already
		l, c = newCapture(t, opt)
		watch(t, func() { l.At(nib.LevelInfo + 1).Msg("outer") })
		lines := c.take()
		if n := len(lines); n < 2 || n > 100 || lines[n-1].get("message").text != "outer" {
			t.Errorf("%s: got %d lines, the last one %s", name, n, lines[max(n-1, 0)])
		}
		for _, line := range lines {
			if year := line.get("time").text; year < "2026" {
				t.Errorf("%s: got the time %s", name, year)
			}
		}
		if n := l.Stats().Aborted; n != 0 {
			t.Errorf("%s: %d lines count as aborted", name, n)
		}
	}
}

func TestSettingsThatEndTheGoroutine(t *testing.T) {
	for name, opt := range userSettings(func() { runtime.Goexit() }) {
		l, c := newCapture(t, opt)
		for range 10 {
			apart(t, func() { l.At(nib.LevelInfo + 1).Msg("lost") })
		}
		if got := len(c.take()); got != 0 || l.Stats().Aborted != 10 {
			t.Errorf("%s: got %d lines, %+v, want 10 aborted", name, got, l.Stats())
		}
	}
}

// userSettings are the options with a function that nib calls while a line is
// made and that adds nothing to it. Each calls do.
func userSettings(do func()) map[string]nib.Option {
	return map[string]nib.Option{
		"clock":   nib.WithClock(func() time.Time { do(); return testTime }),
		"leveler": nib.WithLevel(leveler(func() slog.Level { do(); return slog.LevelInfo })),
		"LevelName": nib.WithLayout(nib.Layout{LevelName: func(l nib.Level) string {
			if l > nib.LevelInfo && l < nib.LevelWarn { // New asks for the others
				do()
			}
			return "x"
		}}),
	}
}

type leveler func() slog.Level

func (f leveler) Level() slog.Level { return f() }

func TestErrorsOfSinksMayFail(t *testing.T) {
	for what, err := range map[string]error{
		"Is panics": isError{func() { panic("boom") }}, "typed nil": (*nilError)(nil),
		"Error panics": &trapError{func() { panic("boom") }}, "cannot be compared": isError{nil},
	} {
		handled := 0
		l := nib.NewSink(sinkFunc(func(*nib.Record) error { return err }), nib.WithErrorHandler(func(error) { handled++ }))
		l.Info().Msg("m")
		if s := l.Stats(); s.Failed != 1 || handled != 1 {
			t.Errorf("%s: got %+v, %d handled, want 1 failed and handled", what, s, handled)
		}
	}
}

// isError has a method Is, and cannot be compared.
type isError struct{ do func() }

func (isError) Error() string   { return "is" }
func (e isError) Is(error) bool { e.do(); return false }

func TestLevelOfNilPanicsAtOnce(t *testing.T) {
	for _, level := range []slog.Leveler{nil, (*nib.LevelVar)(nil), (*slog.LevelVar)(nil)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("WithLevel(%T(nil)) did not panic", level)
				}
			}()
			nib.WithLevel(level)
		}()
	}
}

func TestLineOfNilHasZeroColumns(t *testing.T) {
	l, c := newCapture(t)
	accessLine.Log(context.Background(), l, nil)
	anyLine.Log(context.Background(), l, nil)
	lines := c.take()
	if len(lines) != 2 || lines[0].get("status").String() != "0" || lines[1].get("V").String() != "null" {
		t.Errorf("got %s", lines)
	}
}

// Each entry into user code is left, whichever way the code ends: entries that
// stay make every later line inspect its stack.
func TestUserCodeIsLeftHoweverItEnds(t *testing.T) {
	l, c := newCapture(t)
	deep := &trap{}
	deep.do = func() { l.Info().Stringer("k", deep).Msg("m") }
	ends := map[string]func(){
		"depth limit":       func() { l.Info().Stringer("k", deep).Msg("m") },
		"error that panics": func() { l.Info().Any("k", failing{(*nilError)(nil)}).Msg("m") },
	}
	for misdeed, do := range map[string]func(){
		"panic": func() { panic("boom") }, "Goexit": runtime.Goexit, "panic, then Goexit": func() { panic(&trapError{runtime.Goexit}) },
		"log": func() { l.Info().Msg("inner") },
	} {
		for _, d := range trapdoors(do) {
			ends[misdeed+" in "+d.name] = func() { e := l.WithOptions(d.opts...).Info(); d.add(e); e.Msg("m") }
		}
		for name, opt := range userSettings(do) {
			ends[misdeed+" in "+name] = func() { l.WithOptions(opt).At(nib.LevelInfo + 1).Msg("m") }
		}
	}
	for name, end := range ends {
		before := usercode.Open()
		for range 10 {
			apart(t, end)
		}
		if after := usercode.Open(); after != before {
			t.Errorf("%s, ten times: %d entries are open, want none", name, after-before)
		}
		c.take()
	}
}
