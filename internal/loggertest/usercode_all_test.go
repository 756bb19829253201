// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"log/slog"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/layout"
)

// A way leads user code into one line with the message "outer" of l.
type way struct {
	name string
	log  func(l *nib.Logger, use func(e *nib.Event))
}

// lineWays put an event where it is the top of a line, a container, or a
// builder.
var lineWays = []way{
	{"line", func(l *nib.Logger, use func(*nib.Event)) {
		e := l.Info().Str("a", "b")
		use(e)
		e.Str("c", "d").Msg("outer")
	}},
	{"With", func(l *nib.Logger, use func(*nib.Event)) { l.With(use).Info().Msg("outer") }},
	{"Dict", func(l *nib.Logger, use func(*nib.Event)) { l.Info().Dict("d", use).Msg("outer") }},
	{"Func", func(l *nib.Logger, use func(*nib.Event)) { l.Info().Func(use).Msg("outer") }},
	{"EmbedObject", func(l *nib.Logger, use func(*nib.Event)) { l.Info().EmbedObject(marshalFunc(use)).Msgf("%s", "outer") }},
	{"hook", func(l *nib.Logger, use func(*nib.Event)) {
		l.WithOptions(nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { use(e) }))).Info().Msg("outer")
	}},
	{"context", func(l *nib.Logger, use func(*nib.Event)) {
		l.WithOptions(nib.WithContextFields(func(_ context.Context, e *nib.Event) { use(e) })).LogAttrs(context.Background(), nib.LevelInfo, "outer")
	}},
	{"Static", func(l *nib.Logger, use func(*nib.Event)) {
		l.WithOptions(nib.WithLayout(nib.Layout{Static: use})).Info().Msg("outer")
	}},
	{"group", func(l *nib.Logger, use func(*nib.Event)) { l.WithGroup("g").With(use).Info().Func(use).Msg("outer") }},
	{"message first", func(l *nib.Logger, use func(*nib.Event)) {
		l.WithOptions(nib.WithLayout(nib.Layout{MessageFirst: true}), nib.WithCaller()).Info().Func(use).MsgFunc(func() string { return "outer" })
	}},
}

// runNone are the functions that run no user code while a line is built.
const runNone = `Default SetDefault NewContext TraceKeys Trace Debug Info Warn Error Panic Fatal
	ParseLevel ParseRules WithRules WithStack WithDuplicateKeys WithRedact WithMaxLine`

// functions maps each other exported function of the package to the calls that
// pass it user code.
func functions(x *trial, c *culprit) map[string][]func(l *nib.Logger) {
	opts := func(opts ...nib.Option) (all []func(l *nib.Logger)) {
		for _, o := range opts {
			add := func(e *nib.Event) { e.Ctx(context.Background()).Err(errAny) }
			all = append(all, func(l *nib.Logger) {
				l = l.WithOptions(o)
				x.final("an option", l, add)
				l.At(nib.LevelInfo + 1).Func(add).Msg("outer")
			})
		}
		return all
	}
	events := func(use func(e *nib.Event, v any)) (all []func(l *nib.Logger)) {
		for _, v := range c.values() {
			for _, w := range lineWays {
				all = append(all, func(l *nib.Logger) { w.log(l, func(e *nib.Event) { use(e, v) }) })
			}
		}
		return all
	}
	var lines []func(l *nib.Logger)
	for _, v := range c.values() {
		lines = append(lines, func(l *nib.Logger) { outerLine.Log(badCtx{context.Background(), c}, l, &anyColumn{v}) })
	}
	failing := sinkFunc(func(*nib.Record) error { c.act(); return c.err })
	return map[string][]func(l *nib.Logger){
		"Val":         events(func(e *nib.Event, v any) { nib.Val(nib.Val(e, "k", v), "s", anyColumn{v}) }),
		"Inline":      events(func(e *nib.Event, v any) { nib.Inline(nib.Inline(e, anyColumn{v}), &anyColumn{v}) }),
		"NewTemplate": lines,
		"ErrorCauses": {func(l *nib.Logger) {
			l.WithOptions(nib.WithLayout(nib.Layout{Error: layout.ErrorCauses})).Info().Err(errors.Join(badError{c}, c.err)).Msg("outer")
		}, func(l *nib.Logger) { e := l.Info(); layout.ErrorCauses(e, "k", badUnwrap{c}); e.Msg("outer") }},
		"FromContext": {func(l *nib.Logger) {
			nib.FromContext(badCtx{context.Background(), c})
			l.Info().Msg("outer")
		}},
		"WithClock":         opts(nib.WithClock(func() time.Time { c.act(); return testTime })),
		"WithLevel":         opts(nib.WithLevel(leveler(func() slog.Level { c.act(); return slog.LevelDebug }))),
		"WithSampler":       opts(nib.WithSampler(sampler(func() { c.act() }))),
		"WithHook":          opts(nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { badNib{c}.MarshalNib(e) })), nib.WithHook(nil)),
		"WithContextFields": opts(nib.WithContextFields(func(_ context.Context, e *nib.Event) { badNib{c}.MarshalNib(e) })),
		"WithLayout": opts(
			nib.WithLayout(nib.Layout{Error: func(e *nib.Event, key string, err error) { e.AnErr(key, err).Any("k", badJSON{c}); c.act() }}),
			nib.WithLayout(nib.Layout{LevelName: func(nib.Level) string { c.act(); return c.text }, LevelKey: "sev"}),
			nib.WithLayout(nib.Layout{TimeFormat: c.text + "2006"})),
		"WithErrorHandler": {func(l *nib.Logger) {
			nib.NewSink(sinkFunc(func(*nib.Record) error { return errAny }), nib.WithErrorHandler(func(error) { c.act() })).Info().Msg("lost")
			l.Info().Msg("outer")
		}},
		"NewSink":    lost(nib.NewSink(failing, quiet)),
		"WithSink":   lost(nib.New(io.Discard).WithOptions(nib.WithSink(failing), quiet)),
		"New":        lost(nib.New(badWriter{c}, quiet)),
		"WriterSink": lost(nib.NewSink(nib.WriterSink(badWriter{c}), quiet)),
		"NewSecret":  events(func(e *nib.Event, v any) { e.Any("s", nib.NewSecret(v)) }),
		"WithCaller": {func(l *nib.Logger) { badCaller(x, l, c) }},
		"WithExit":   nil, // TestFatal…: its effects are intended
	}
}

// lost logs a line that is lost, and then a line that is written.
func lost(failing *nib.Logger) []func(l *nib.Logger) {
	return []func(l *nib.Logger){func(l *nib.Logger) { failing.Info().Msg("lost"); l.Info().Msg("outer") }}
}

func badCaller(x *trial, l *nib.Logger, c *culprit) {
	l = l.WithOptions(nib.WithCaller(), nib.WithLayout(nib.Layout{Caller: func(e *nib.Event, key string, _ runtime.Frame) {
		e.Str(key, c.text).Any("k", badJSON{c})
		c.act()
	}}))
	x.final("a caller", l, func(*nib.Event) {})
	l.Info().Msg("outer")
}

var (
	outerLine = nib.NewTemplate[anyColumn](nib.LevelInfo, "outer")
	quiet     = nib.WithErrorHandler(func(error) {})
)

type (
	sampler   func()
	badWriter struct{ *culprit }
	badUnwrap struct{ *culprit }
)

func (s sampler) Sample(nib.Level) bool         { s(); return true }
func (b badWriter) Write(p []byte) (int, error) { b.act(); return len(p), b.err }
func (b badUnwrap) Error() string               { return "wraps" }
func (b badUnwrap) Unwrap() error               { b.act(); return b.err }

// A trial is one call into nib with one misdeed, and its judge.
type trial struct {
	t     *testing.T
	m     misdeed
	out   bytes.Buffer
	l     *nib.Logger
	exits int
}

func newTrial(t *testing.T, m misdeed) *trial {
	x := &trial{t: t, m: m}
	x.l = nib.New(&x.out, nib.WithLevel(nib.LevelTrace), nib.WithClock(func() time.Time { return testTime }), quiet, nib.WithExit(func(code int) { x.exits += code }))
	return x
}

// judge makes the call and checks that the line "outer" is there once, or not
// at all if the goroutine was ended, that all lines are valid, and that the
// next line is unaffected.
func (x *trial) judge(name string, call func()) {
	x.out.Reset()
	o := attempt(x.t, call)
	lines, outer := bytes.SplitAfter(x.out.Bytes(), []byte("\n")), 0
	for _, line := range lines[:len(lines)-1] {
		v, err := parseLine(line)
		if err == nil && !json.Valid(line) {
			err = errors.New("encoding/json refuses it")
		}
		if err != nil {
			x.t.Errorf("%s, user code %s: %v\n%.1000q", name, x.m.name, err, line)
			continue
		}
		if m := v.get("message"); m != nil && m.text == "outer" {
			outer++
		}
		if level := v.get("level"); level != nil && level.text == "forged" {
			x.t.Errorf("%s, user code %s: the level is forged\n%.1000q", name, x.m.name, line)
		}
	}
	switch {
	case o.panicked != nil:
		x.t.Errorf("%s, user code %s: the caller panics with a %T", name, x.m.name, o.panicked)
	case outer > 1 || outer == 0 && (o.returned || !x.m.ends):
		x.t.Errorf("%s, user code %s: the line is there %d times, returned %v\n%.1000q", name, x.m.name, outer, o.returned, x.out.Bytes())
	}
	x.out.Reset()
	x.l.Info().Str("next", "x").Msg("m")
	if got, want := x.out.String(), `{"time":"2026-01-02T15:04:05.006Z","level":"info","next":"x","message":"m"}`+"\n"; got != want {
		x.t.Errorf("%s, user code %s: the next line\n got %q\nwant %q", name, x.m.name, got, want)
	}
}

// final is judge for Fatal and Panic, which act whatever becomes of the line.
func (x *trial) final(name string, l *nib.Logger, use func(e *nib.Event)) {
	x.exits = 0
	attempt(x.t, func() { e := l.Fatal(); use(e); e.Msg("final") })
	if x.exits != 1 {
		x.t.Errorf("Fatal with %s, user code %s: exits %d times, want once with 1", name, x.m.name, x.exits)
	}
	o := attempt(x.t, func() { e := l.Panic(); use(e); e.Msg("final") })
	if o.returned || o.panicked != "final" && (o.panicked != nil || !x.m.ends) {
		x.t.Errorf("Panic with %s, user code %s: returned %v, panics with a %T", name, x.m.name, o.returned, o.panicked)
	}
}

// TestUserCodeOfEveryKindInEveryPlace tries each way to hand nib a value or a
// function with each misdeed. Methods are found by reflection, functions are
// compared with the source: a new one is tried or fails the test.
func TestUserCodeOfEveryKindInEveryPlace(t *testing.T) {
	cases, tried, selected := 0, 0, seed.Sample(t, 30, 100)
	count := func() bool {
		cases++
		run := selected()
		if run {
			tried++
		}
		return run
	}
	for _, m := range misdeeds() {
		x := newTrial(t, m)
		c := &culprit{m, x.l}
		x.events(c, count)
		x.arrays(c, count)
		x.loggers(c, count)
		table := functions(x, c)
		for name, logs := range inOrder(table) {
			for _, log := range logs {
				if count() {
					x.judge("nib."+name, func() { log(x.l) })
				}
			}
		}
		wantAllFunctions(t, table)
	}
	t.Logf("%d of %d cases: ways to hand user code to nib, times what it can do wrong",
		tried, cases)
	if cases < 100_000 {
		t.Errorf("got %d cases, want at least 100,000: something is not enumerated any more", cases)
	}
}

func (x *trial) events(c *culprit, count func() bool) {
	typ := reflect.TypeFor[*nib.Event]()
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		on := func(e *nib.Event) []func() []reflect.Value {
			return c.calls(x.t, "Event."+name, reflect.ValueOf(e).Method(i))
		}
		for n := range len(on(nil)) {
			switch name {
			case "Msg", "Send":
			case "Msgf", "MsgFunc":
				if name == "Msgf" && strings.Contains(x.m.name, "cyclic") {
					continue // package fmt follows it until the stack is full
				}
				if count() {
					x.judge("Event."+name, func() { on(x.l.Info())[n](); x.l.Info().Msg("outer") })
				}
			default:
				for _, w := range lineWays {
					if name == "Discard" || !count() {
						continue
					}
					x.judge("Event."+name+" in "+w.name, func() { w.log(x.l, func(e *nib.Event) { on(e)[n]() }) })
				}
				if count() {
					x.final("Event."+name, x.l, func(e *nib.Event) { on(e)[n]() })
				}
			}
		}
	}
}

func (x *trial) arrays(c *culprit, count func() bool) {
	typ := reflect.TypeFor[*nib.Array]()
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		on := func(a *nib.Array) []func() []reflect.Value {
			return c.calls(x.t, "Array."+name, reflect.ValueOf(a).Method(i))
		}
		for n := range max(1, len(on(nil))) {
			if len(on(nil)) == 0 {
				continue // Null
			}
			for _, w := range lineWays {
				if count() {
					x.judge("Array."+name+" in "+w.name, func() {
						w.log(x.l, func(e *nib.Event) { e.Array("k", func(a *nib.Array) { on(a.Int(1))[n]() }) })
					})
				}
			}
		}
	}
}

func (x *trial) loggers(c *culprit, count func() bool) {
	typ := reflect.TypeFor[*nib.Logger]()
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		if name == "Fatal" || name == "Panic" {
			continue // they take nothing
		}
		for _, call := range c.calls(x.t, "Logger."+name, reflect.ValueOf(x.l).Method(i)) {
			if count() {
				x.judge("Logger."+name, func() {
					results := call()
					if len(results) == 0 {
						x.l.Info().Msg("outer")
						return
					}
					finish(x.t, "Logger."+name, x.l, results)
				})
			}
		}
	}
}

// wantAllFunctions compares the table with the source of the package.
func wantAllFunctions(t *testing.T, table map[string][]func(*nib.Logger)) {
	t.Helper()
	isSource := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	pkgs, err := parser.ParseDir(token.NewFileSet(), "../..", isSource, parser.SkipObjectResolution)
	if err != nil && len(pkgs) == 0 {
		t.Fatal(err)
	}
	for _, file := range pkgs["nib"].Files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				_, ok := table[f.Name.Name]
				if !ok && !slices.Contains(strings.Fields(runNone), f.Name.Name) {
					t.Fatalf("nib.%s is not in functions: add it to the table", f.Name.Name)
				}
			}
		}
	}
}
