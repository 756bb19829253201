// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// A trap runs do whenever one of its methods is called.
type trap struct{ do func() }

func (p *trap) String() string                { p.do(); return "s" }
func (p *trap) MarshalNib(e *nib.Event)       { e.Str("half", "x"); p.do() }
func (p *trap) LogValue() slog.Value          { p.do(); return slog.IntValue(1) }
func (p *trap) Sample(nib.Level) bool         { p.do(); return true }
func (p *trap) WriteRecord(*nib.Record) error { p.do(); return nil }
func (p *trap) Write(b []byte) (int, error)   { p.do(); return len(b), nil }

type (
	trapError struct{ do func() }
	trapJSON  struct{ do func() }
	trapText  struct{ do func() }
)

func (p *trapError) Error() string               { p.do(); return "e" }
func (p *trapJSON) MarshalJSON() ([]byte, error) { p.do(); return []byte("1"), nil }
func (p *trapText) MarshalText() ([]byte, error) { p.do(); return []byte("t"), nil }

// A trapdoor is one way in which user code runs while a line is made.
type trapdoor struct {
	name string
	opts []nib.Option
	add  func(e *nib.Event)
	want string // the field that reports the panic, or "" if the line has none
}

func trapdoors(do func()) []trapdoor {
	p, e1, j, x := &trap{do}, &trapError{do}, &trapJSON{do}, &trapText{do}
	field := func(e *nib.Event) { e.Str("half", "x"); do() }
	return []trapdoor{
		{"Stringer", nil, func(e *nib.Event) { e.Stringer("k", p) }, "k"},
		{"Stringers", nil, func(e *nib.Event) { e.Stringers("k", stringers(aStringer, p, aStringer)) }, "k"},
		{"AnErr", nil, func(e *nib.Event) { e.AnErr("k", e1) }, "k"}, {"Err", nil, func(e *nib.Event) { e.Err(e1) }, "error"},
		{"Errs", nil, func(e *nib.Event) { e.Errs("k", []error{errAny, e1, errAny}) }, "k"},
		{"Any error", nil, func(e *nib.Event) { e.Any("k", e1) }, "k"}, {"Any []error", nil, func(e *nib.Event) { e.Any("k", []error{e1}) }, "k"},
		{"MarshalJSON", nil, func(e *nib.Event) { e.Any("k", j) }, "k"}, {"MarshalText", nil, func(e *nib.Event) { e.Any("k", x) }, "k"},
		{"MarshalJSON in a struct", nil, func(e *nib.Event) { e.Any("k", struct{ A, B any }{1, j}) }, "k"},
		{"MarshalText of a map key", nil, func(e *nib.Event) { e.Any("k", map[*trapText]int{x: 1}) }, "k"},
		{"MarshalJSON in a map", nil, func(e *nib.Event) { e.Any("k", map[string]any{"a": j}) }, "k"},
		{"Fields", nil, func(e *nib.Event) { e.Fields(map[string]any{"j": 1, "k": j, "l": 2}) }, "k"},
		{"Object", nil, func(e *nib.Event) { e.Object("k", p) }, "k"}, {"Any Marshaler", nil, func(e *nib.Event) { e.Any("k", p) }, "k"},
		{"EmbedObject", nil, func(e *nib.Event) { e.EmbedObject(p) }, "panic"}, {"Func", nil, func(e *nib.Event) { e.Func(field) }, "panic"},
		{"Dict", nil, func(e *nib.Event) { e.Dict("k", field) }, "k"},
		{"Dict in Dict", nil, func(e *nib.Event) { e.Dict("k", func(e *nib.Event) { e.Str("a", "b").Dict("c", field) }) }, "k"},
		{"Array", nil, func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Int(1); do() }) }, "k"},
		{"Array.Err", nil, func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Int(1).Err(e1).Int(2) }) }, "k"},
		{"Array.Any", nil, func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Int(1).Any(j).Any(x).Int(2) }) }, "k"},
		{"Array.Object", nil, func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Int(1).Object(p).Int(2) }) }, "k"},
		{"Array.Dict", nil, func(e *nib.Event) { e.Array("k", func(a *nib.Array) { a.Int(1).Dict(field).Int(2) }) }, "k"},
		{"Array.Array", nil, func(e *nib.Event) {
			e.Array("k", func(a *nib.Array) { a.Int(1).Array(func(*nib.Array) { do() }).Int(2) })
		}, "k"},
		{"LogValue", nil, func(e *nib.Event) { e.Attrs(slog.Any("k", p)) }, "k"},
		{"LogValue in a group", nil, func(e *nib.Event) { e.Attrs(slog.Group("k", slog.Any("a", p), slog.Int("b", 1))) }, "k"},
		{"Attr error", nil, func(e *nib.Event) { e.Attrs(slog.Any("k", e1)) }, "k"}, {"Attr JSON", nil, func(e *nib.Event) { e.Attrs(slog.Any("k", j)) }, "k"},
		{"hook", []nib.Option{nib.WithHook(nib.HookFunc(func(*nib.Event, nib.Level, string) { do() }))}, func(*nib.Event) {}, "panic"},
		{"context fields", []nib.Option{nib.WithContextFields(func(_ context.Context, e *nib.Event) { field(e) })},
			func(e *nib.Event) { e.Ctx(context.Background()) }, "panic"},
		{"Layout.Error", []nib.Option{nib.WithLayout(nib.Layout{Error: func(*nib.Event, string, error) { do() }})},
			func(e *nib.Event) { e.Err(errAny) }, "panic"},
		{"Layout.Caller", []nib.Option{nib.WithLayout(nib.Layout{Caller: func(*nib.Event, string, runtime.Frame) { do() }})},
			func(e *nib.Event) { e.Caller() }, "panic"},
	}
}

func TestPanicsInUserCodeAreShown(t *testing.T) {
	for _, d := range trapdoors(func() { panic(errors.New("boom\x1b")) }) {
		l, c := newCapture(t, d.opts...)
		e := l.Error().Str("before", "x")
		d.add(e)
		e.Str("after", "y").Msg("m")
		line := c.one()
		if got := line.get(d.want).String(); !strings.Contains(got, `!PANIC: boom\x1b`) {
			t.Errorf("%s\n got %s\nwant the panic under %s", d.name, line, d.want)
		}
		for _, k := range []string{"before", "after", "message"} {
			if k == "after" && d.name == "hook" {
				continue
			}
			if line.get(k) == nil {
				t.Errorf("%s: %s is missing\n got %s", d.name, k, line)
			}
		}
		if s := l.Stats(); s.Aborted+s.Failed != 0 {
			t.Errorf("%s: got %+v", d.name, s)
		}
	}
}

func TestPanicsInWithAreShown(t *testing.T) {
	for _, d := range trapdoors(func() { panic("boom") }) {
		if d.name == "hook" || d.name == "Layout.Caller" { // they belong to lines
			continue
		}
		l, c := newCapture(t, d.opts...)
		l.With(func(e *nib.Event) { d.add(e.Str("before", "x")) }).Info().Msg("m")
		if line := c.one(); !strings.Contains(line.get(d.want).String(), "!PANIC: boom") || line.get("before") == nil {
			t.Errorf("%s\n got %s", d.name, line)
		}
	}
}

// Panic values that panic when they are formatted.
func TestPanicValuesThatPanicAreShownByType(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	loop := []any{nil}
	loop[0] = loop
	var inner error = &trapError{func() { panic("inner") }}
	for name, v := range map[string]any{
		"nil error": (*nilError)(nil), "string": "text", "int": 7, "struct": struct{ A, B int }{1, 2}, "nil": nil,
		"cyclic map": cyclic, "cyclic slice": loop, "pointer to cyclic": &cyclic, "struct of cyclic": struct{ M any }{cyclic},
		"panicking error":        inner,
		"error that panics so":   &trapError{func() { panic(inner) }},
		"stringer that panics":   &trap{func() { panic(&trap{func() { panic("x") }}) }},
		"deep":                   nested(1000),
		"runtime error":          runtime.Error(nil),
		"formatter that panics ": badFormatter{},
	} {
		for _, d := range trapdoors(func() { panic(v) }) {
			l, c := newCapture(t, d.opts...)
			e := l.Info()
			d.add(e)
			e.Msg("m")
			if line := c.one(); !strings.Contains(line.get(d.want).String(), "!PANIC: ") {
				t.Errorf("%s panics with %s\n got %s", d.name, name, line)
			}
		}
	}
}

type badFormatter struct{}

func (badFormatter) Format(fmt.State, rune) { panic(badFormatter{}) }

// nested is a list in a list, n deep.
func nested(n int) any {
	var v any = "bottom"
	for range n {
		v = []any{v}
	}
	return v
}

func TestPanicsInTheMessageAreShown(t *testing.T) {
	bad := &trap{func() { panic("boom") }}
	wrong := "PANIC %d %!" // a variable, or vet sees through it
	worse := &trapError{func() { panic(&trapError{func() { panic("inner") }}) }}
	for name, log := range map[string]func(e *nib.Event){
		"MsgFunc":            func(e *nib.Event) { e.MsgFunc(func() string { panic("boom") }) },
		"Msgf":               func(e *nib.Event) { e.Msgf("%v", bad) },
		"Msgf panic nested":  func(e *nib.Event) { e.Msgf("x %v", worse) },
		"Msgf bad formatter": func(e *nib.Event) { e.Msgf("%v", badFormatter{}) },
		"Msgf wrong verbs":   func(e *nib.Event) { e.Msgf(wrong, "x", 1) },
	} {
		l, c := newCapture(t)
		log(l.Info().Str("a", "b"))
		line := c.one()
		if got := line.get("message"); got == nil || !strings.Contains(got.text, "PANIC") || line.get("a") == nil {
			t.Errorf("%s\n got %s", name, line)
		}
		fatal := 0
		lf, cf := newCapture(t, nib.WithExit(func(int) { fatal++ }))
		log(lf.Fatal())
		if cf.one(); fatal != 1 {
			t.Errorf("%s: Fatal did not exit", name)
		}
	}
}

func TestPanicInTheSamplerLetsTheLineThrough(t *testing.T) {
	l, c := newCapture(t, nib.WithSampler(&trap{func() { panic("boom") }}))
	l.Info().Msg("m")
	l.Log().Msg("m")
	l.Entry(nib.Entry{Message: "m"}).Send()
	l.LogAttrs(context.Background(), nib.LevelInfo, "m")
	if got := len(c.take()); got != 4 {
		t.Errorf("got %d lines, want 4", got)
	}
	if errs := c.takeErrors(); len(errs) != 4 || !strings.Contains(errs[0].Error(), "boom") {
		t.Errorf("got %v", errs)
	}
}

func TestPanicsInLayoutFunctionsAreShown(t *testing.T) {
	level := 0
	l, c := newCapture(t, nib.WithLayout(nib.Layout{
		Static:    func(e *nib.Event) { e.Str("a", "b"); panic("static") },
		LevelName: func(l nib.Level) string { level++; panic("name") },
	}))
	l.Info().Msg("m")
	l.At(nib.LevelInfo + 1).Msg("m")
	l.At(1 << 20).Msg("m")
	for _, line := range c.take() {
		if line.get("a") == nil || !strings.Contains(line.get("panic").String(), "static") || line.get("level") == nil {
			t.Errorf("got %s", line)
		}
	}
	if level == 0 {
		t.Error("LevelName was not asked")
	}
}

func TestLinesAreCountedWhenTheErrorHandlerPanics(t *testing.T) {
	l := nib.New(&trap{func() { panic("boom") }}, nib.WithErrorHandler(func(error) { panic("handler") }))
	l.Info().Msg("m")
	l.Info().Msg("m")
	if s := l.Stats(); s.Failed != 2 {
		t.Errorf("got %+v, want 2 failed", s)
	}
}

func TestPanicInSinkAndWriterIsReported(t *testing.T) {
	bad := &trap{func() { panic("boom") }}
	for name, l := range map[string]*nib.Logger{"writer": nib.New(onlyWriter{bad}), "sink": nib.NewSink(bad)} {
		c := &capture{tb: t}
		l = l.WithOptions(nib.WithErrorHandler(c.fail))
		l.Info().Msg("m")
		if errs := c.takeErrors(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "boom") || l.Stats().Failed != 1 {
			t.Errorf("%s\n got %v, %+v", name, errs, l.Stats())
		}
	}
}

// onlyWriter hides that a trap is a Sink, too.
type onlyWriter struct{ w *trap }

func (o onlyWriter) Write(p []byte) (int, error) { return o.w.Write(p) }
