// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// A place is where an Event is not a line, or not at its top level. run passes
// such an Event to do and returns the logger whose next lines must be right.
type place struct {
	name string
	run  func(l *nib.Logger, do func(e *nib.Event)) *nib.Logger
}

var places = []place{
	{"With", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.With(func(e *nib.Event) { do(e.Str("bound", longText)) })
	}},
	{"With, nothing before", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger { return l.With(do) }},
	{"With of With", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.With(func(e *nib.Event) { e.Str("bound", longText) }).With(do)
	}},
	{"With in a group", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger { return l.WithGroup("g").With(do) }},
	{"Func in With", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.With(func(e *nib.Event) { e.Str("bound", longText).Func(do) })
	}},
	{"LogValue in WithAttrs", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.WithAttrs(slog.String("bound", longText), slog.Any("o", marshalFunc(do)))
	}},
	{"Static", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.WithOptions(nib.WithLayout(nib.Layout{Static: func(e *nib.Event) { do(e.Str("static", longText)) }}))
	}},
	{"Layout.Caller", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.WithOptions(nib.WithCaller(), nib.WithLayout(nib.Layout{
			Caller: func(e *nib.Event, key string, _ runtime.Frame) { do(e.Str(key, "x")) },
		}))
	}},
	{"Layout.Error", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		l = l.WithOptions(nib.WithLayout(nib.Layout{Error: func(e *nib.Event, key string, err error) { do(e.AnErr(key, err)) }}))
		return l.With(func(e *nib.Event) { e.Err(errAny) })
	}},
	{"Dict", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger { l.Info().Dict("d", do).Msg("m"); return l }},
	{"Dict in With", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.With(func(e *nib.Event) { e.Dict("d", func(e *nib.Event) { do(e.Str("a", "b")) }) })
	}},
	{"Object", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		l.Info().Object("o", marshalFunc(do)).Msg("m")
		return l
	}},
	{"EmbedObject", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		l.Info().Str("a", "b").EmbedObject(marshalFunc(do)).Str("c", "d").Msg("m")
		return l
	}},
	{"Func", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		l.Info().Str("a", "b").Func(do).Str("c", "d").Msg("m")
		return l
	}},
	{"Array", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		l.Info().Array("a", func(a *nib.Array) { do((*nib.Event)(a.Int(1))); a.Int(2) }).Msg("m")
		return l
	}},
	{"Array.Dict", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		l.Info().Array("a", func(a *nib.Array) { a.Int(1).Dict(do).Int(2) }).Msg("m")
		return l
	}},
	{"hook", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.WithOptions(nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { do(e) })))
	}},
	{"hook and message first", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.WithOptions(nib.WithLayout(nib.Layout{MessageFirst: true}), nib.WithCaller(),
			nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { do(e) })))
	}},
	{"context fields", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.WithOptions(nib.WithContextFields(func(_ context.Context, e *nib.Event) { do(e) }))
	}},
	{"context fields in With", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.WithOptions(nib.WithContextFields(func(_ context.Context, e *nib.Event) { do(e) })).
			With(func(e *nib.Event) { e.Ctx(context.Background()) })
	}},
	{"value of a field", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		e := l.Info().Str("a", "b")
		e.Stringer("s", &trap{func() { do(e) }}).Str("c", "d").Msg("m")
		return l
	}},
	{"value of a field in With", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		return l.With(func(e *nib.Event) { e.Str("a", "b").Stringer("s", &trap{func() { do(e) }}).Str("c", "d") })
	}},
	{"LogValue", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		e := l.Info().Str("a", "b")
		e.Attrs(slog.Any("v", &trap{func() { do(e) }})).Str("c", "d").Msg("m")
		return l
	}},
	{"MsgFunc", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		e := l.Info().Str("a", "b")
		e.MsgFunc(func() string { do(e); return "m" })
		return l
	}},
	{"element of an array", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		l.Info().Array("a", func(a *nib.Array) {
			a.Int(1).Err(&trapError{func() { do((*nib.Event)(a)) }}).Int(2)
		}).Msg("m")
		return l
	}},
	{"kept", func(l *nib.Logger, do func(*nib.Event)) *nib.Logger {
		var kept *nib.Event
		n := l.With(func(e *nib.Event) { kept = e.Str("bound", longText) })
		do(kept)
		return n
	}},
}

// longText is longer than the front of any line, so that offsets left over from
// one are within it.
var longText = strings.Repeat("x", 500)

// fillPool leaves events in the pool whose last line had a caller, a stack and
// a message.
func fillPool(first bool) {
	l := nib.New(&trap{func() {}}, nib.WithCaller(), nib.WithLayout(nib.Layout{MessageFirst: first}))
	var open []*nib.Event
	for range 8 {
		open = append(open, l.Info().CallerSkipFrame(0).Stack())
	}
	for _, e := range open {
		e.Msg("m")
	}
}

// eventCalls is every method of Event.
func eventCalls() (all []method) {
	for _, table := range [][]method{keyed, keyless, endings} {
		all = append(all, table...)
	}
	return all
}

func TestNoMethodBreaksALineFromWhereThereIsNone(t *testing.T) {
	calls := 0
	for _, p := range places {
		for _, m := range eventCalls() {
			l, c := newCapture(t)
			fillPool(calls%2 == 0)
			l = p.run(l, func(e *nib.Event) { m.add(e, "key"); m.add(e, "key") })
			c.take()
			calls++
			for _, ln := range []*nib.Logger{l, l.Named("n"), l.With(func(e *nib.Event) { e.Int("more", 1) })} {
				ln.Info().Ctx(context.Background()).Str("last", "x").Msg("m")
				lines := c.take()
				if m.name == "Discard" && len(lines) == 0 {
					continue
				}
				if text := fmt.Sprint(lines); len(lines) != 1 || !strings.Contains(text, `"last":"x"`) || strings.Contains(text, "!PANIC") ||
					countKey(lines[0], "message") != 1 {
					t.Errorf("%s in %s: the next line is %s", m.name, p.name, lines)
				}
			}
		}
	}
	t.Logf("%d calls of %d methods in %d places", calls, len(eventCalls()), len(places))
}

// Fields that nib adds on demand need a line, and a builder has none, whatever
// the event was used for before.
func TestOwnFieldsOfALineAreNoneOfABuilder(t *testing.T) {
	own := func(e *nib.Event) { e.CallerSkipFrame(0).Caller().Stack().Timestamp().CallerSkipFrame(1) }
	for _, p := range places[:7] {
		l, c := newCapture(t)
		fillPool(false)
		l = p.run(l, own)
		l.Info().Msg("m")
		line := c.one().String()
		for _, k := range []string{`"caller":`, `"stack":`, "!PANIC"} {
			if strings.Contains(line, k) {
				t.Errorf("%s: the line has %s\n got %s", p.name, k, line)
			}
		}
	}
}

// An element that adds to its array while its text is computed must not precede
// itself.
func TestElementsCannotAddToTheirOwnArray(t *testing.T) {
	for _, m := range elements {
		got := value(t, func(e *nib.Event) {
			e.Array("k", func(a *nib.Array) {
				a.Err(&trapError{func() { m.add(a) }}).Any(&trapJSON{func() { m.add(a) }}).Any(&trapText{func() { m.add(a) }}).Int(3)
			})
		})
		if got.String() != `["e",1,"t",3]` {
			t.Errorf("Array.%s\n got %s\nwant [\"e\",1,\"t\",3]", m.name, got)
		}
	}
}
