// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
)

// textCaller writes a call site of a length that depends on the line; for some
// lines, and for an unknown call site, it writes nothing.
func textCaller(e *nib.Event, key string, f runtime.Frame) {
	if n := f.Line % 4 * 40; n > 0 {
		e.Str(key, strings.Repeat("x", n))
	}
}

// ownCalls add fields of nib's own, from call sites with and without a text.
var ownCalls = []func(e *nib.Event){
	func(e *nib.Event) { e.Timestamp() },
	func(e *nib.Event) { e.Stack() },
	func(e *nib.Event) { e.Caller() },
	func(e *nib.Event) { e.Caller() },
	func(e *nib.Event) { e.Caller() },
	func(e *nib.Event) { e.Caller() },
	func(e *nib.Event) { e.CallerSkipFrame(0) },
	func(e *nib.Event) { e.CallerSkipFrame(0) },
	func(e *nib.Event) { e.CallerSkipFrame(0) },
	func(e *nib.Event) { e.CallerSkipFrame(0) },
	func(e *nib.Event) { e.CallerSkipFrame(1) },
	func(e *nib.Event) { e.CallerSkipFrame(1000) },
}

// loggersWithGroups returns l and loggers made of it: with bound fields, open
// and pending groups.
func loggersWithGroups(l *nib.Logger) map[string]*nib.Logger {
	num := func(key string) func(*nib.Event) { return func(e *nib.Event) { e.Int(key, 1) } }
	return map[string]*nib.Logger{
		"plain":                l,
		"bound":                l.With(num("b")),
		"pending":              l.WithGroup("g"),
		"two pending":          l.WithGroup("g").WithGroup("h"),
		"bound, pending":       l.With(num("b")).WithGroup("g"),
		"open":                 l.WithGroup("g").With(num("b")),
		"open, pending":        l.Named("n").With(num("b")).WithGroup("g").With(num("c")).WithGroup("h"),
		"open, pending, error": l.With(func(e *nib.Event) { e.Err(errAny) }).WithGroup("g").With(num("c")).WithGroup("h"),
	}
}

// TestOwnFieldsAreAtTheTopOfRandomLines writes lines in which the fields of the
// line itself and others alternate, to loggers with groups. It checks that the
// line's own fields are at the top level and the others in the innermost group,
// each once.
func TestOwnFieldsAreAtTheTopOfRandomLines(t *testing.T) {
	rounds := seed.Times(200, 40, 8)
	r := rand.New(rand.NewPCG(seed.Of(t), 8))
	for _, bare := range []string{"", nib.OmitKey} {
		for _, first := range []bool{false, true} {
			for _, caller := range []func(*nib.Event, string, runtime.Frame){nil, textCaller} {
				layout := nib.WithLayout(nib.Layout{TimeKey: bare, LevelKey: bare, MessageFirst: first, Caller: caller})
				hook := nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) {
					ownCalls[r.IntN(len(ownCalls))](e)
					e.Int("hook", 1)
					ownCalls[r.IntN(len(ownCalls))](e)
				}))
				for _, opts := range [][]nib.Option{{layout}, {layout, nib.WithClock(nil)}, {layout, nib.WithCaller()}, {layout, hook}, {layout, nib.WithStack(nib.LevelInfo), nib.WithCaller(), hook}} {
					l, c := newCapture(t, opts...)
					for name, l := range inOrder(loggersWithGroups(l)) {
						what := fmt.Sprintf("%s, key %q, message first %v, caller %v, %d options", name, bare, first, caller != nil, len(opts))
						for range rounds {
							checkOwnFields(t, what, l, c, r)
						}
						l.StdLog(nib.LevelInfo).Print("m")
						checkTop(t, what+", StdLog", c.one())
					}
				}
			}
		}
	}
}

// TestOwnFieldsBehindALineWithout adds own fields to a line that begins with
// the rest of the line before, in layouts with and without other fields at the
// top level.
func TestOwnFieldsBehindALineWithout(t *testing.T) {
	for _, bare := range []string{"", nib.OmitKey} {
		for _, first := range []bool{false, true} {
			l, c := newCapture(t, nib.WithLayout(nib.Layout{TimeKey: bare, LevelKey: bare, MessageFirst: first}), nib.WithClock(nil))
			for name, l := range loggersWithGroups(l) {
				for i, own := range ownCalls {
					for range 2 {
						l.Info().Int("f", 1).Msg("m")
						e := l.Info()
						own(e)
						e.Int("f", 1).Msg("m")
						for _, line := range c.take() {
							what := fmt.Sprintf("%s, call %d, key %q, message first %v", name, i, bare, first)
							if inner := checkTop(t, what, line); inner.get("f") == nil {
								t.Errorf("%s: the field is not in the innermost group\n got %s", what, line)
							}
						}
					}
				}
			}
		}
	}
}

func checkOwnFields(t *testing.T, what string, l *nib.Logger, c *capture, r *rand.Rand) {
	t.Helper()
	var e *nib.Event
	switch r.IntN(3) {
	case 0:
		e = l.Info()
	case 1:
		e = l.Entry(nib.Entry{Message: "m", Stack: strings.Repeat("s", r.IntN(2))})
	default:
		e = l.AtDepth(nib.LevelInfo, 0)
	}
	e = e.Attrs() // the event of a line without fields, too
	fields := r.IntN(4)
	for i := range fields {
		if r.IntN(2) == 0 {
			ownCalls[r.IntN(len(ownCalls))](e)
		}
		e.Attrs(slog.Int(fmt.Sprint("f", i), i))
		if r.IntN(2) == 0 {
			e.Func(ownCalls[r.IntN(len(ownCalls))])
		}
	}
	ownCalls[r.IntN(len(ownCalls))](e)
	e.Msg("m")
	line := c.one() // fails if it is not valid JSON
	inner := checkTop(t, what, line)
	for i := range fields {
		if got := inner.get(fmt.Sprint("f", i)); got.String() != fmt.Sprint(i) {
			t.Errorf("%s: field %d is not in the innermost group\n got %s", what, i, line)
		}
	}
}

// checkTop checks that own fields are in no group and there once, and returns
// the innermost group.
func checkTop(t *testing.T, what string, line *node) (inner *node) {
	t.Helper()
	inner = line
	for _, group := range []string{"g", "h"} {
		if g := inner.get(group); g != nil {
			inner = g
			for _, key := range []string{"time", "caller", "stack"} {
				if g.get(key) != nil {
					t.Errorf("%s: %s is in a group\n got %s", what, key, line)
				}
			}
		}
	}
	for _, key := range []string{"time", "level", "caller", "stack", "message", "b", "error"} {
		if n := countKey(line, key); n > 1 {
			t.Errorf("%s: %s is there %d times\n got %s", what, key, n, line)
		}
	}
	return inner
}

// TestCallerSkipFrameLeavesACaller checks that a line shows a call site outside
// of nib, also if the frame to show does not exist or is within nib.
func TestCallerSkipFrameLeavesACaller(t *testing.T) {
	known := nib.WithLayout(nib.Layout{Caller: func(e *nib.Event, key string, f runtime.Frame) {
		if e.Str(key, f.Function); f.Function == "" {
			t.Error("Layout.Caller is called without a call site")
		}
	}})
	for _, opts := range [][]nib.Option{{}, {nib.WithCaller()}, {known}} {
		l, c := newCapture(t, opts...)
		for skip := range 40 {
			l.Info().Func(func(e *nib.Event) { e.CallerSkipFrame(skip) }).Msg("m")
			if line := c.one(); line.get("caller") == nil || strings.HasPrefix(line.get("caller").text, ":") {
				t.Errorf("%d frames, %d options\n got %s", skip, len(opts), line)
			}
		}
	}
}
