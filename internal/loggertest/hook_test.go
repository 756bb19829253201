// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"log/slog"
	"runtime"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
)

func TestHooksRunInOrderAndAddFields(t *testing.T) {
	var calls []string
	hook := func(name string) nib.Option {
		return nib.WithHook(nib.HookFunc(func(e *nib.Event, level nib.Level, msg string) {
			calls = append(calls, name+" "+level.String()+" "+msg)
			e.Int(name, len(calls))
		}))
	}
	l, c := newCapture(t, bare, hook("a"), hook("b"))
	k := l.WithOptions(hook("c"))
	l.Warn().Int("n", 0).Msg("x")
	k.Info().Msgf("%s", "y")
	k.LogAttrs(context.Background(), 1, "z", slog.Int("n", 0))
	k.Entry(nib.Entry{Level: 2, Message: "w"}).Send()
	want := []string{"a warn x", "b warn x", "a info y", "b info y", "c info y", "a info+1 z", "b info+1 z", "c info+1 z", "a info+2 w", "b info+2 w", "c info+2 w"}
	if !slices.Equal(calls, want) {
		t.Errorf("\n got %q\nwant %q", calls, want)
	}
	lines := c.take()
	for i, want := range []string{`{"n":0,"a":1,"b":2,"message":"x"}`, `{"a":3,"b":4,"c":5,"message":"y"}`, `{"n":0,"a":6,"b":7,"c":8,"message":"z"}`, `{"a":9,"b":10,"c":11,"message":"w"}`} {
		if got := lines[i].String(); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestHookDiscardsByField(t *testing.T) {
	l, c := newCapture(t, bare, nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) {
		if v, ok := e.Lookup("path"); ok && string(v) == `"/healthz"` {
			e.Discard()
		}
	})))
	l.Info().Str("path", "/healthz").Msg("m")
	l.With(func(e *nib.Event) { e.Str("path", "/healthz") }).Info().Msgf("m")
	l.Info().Str("path", "/").Msg("m")
	if got := c.one().get("path").text; got != "/" {
		t.Errorf("got %s", got)
	}
}

func TestHooksDoNotSeeWhatIsNotWritten(t *testing.T) {
	calls := 0
	l, _ := newCapture(t, nib.WithLevel(nib.LevelFatal+1), nib.WithHook(nib.HookFunc(func(*nib.Event, nib.Level, string) { calls++ })))
	l.Info().Msg("m")
	panicOf(func() { l.Panic().Msg("m") })
	l.WithOptions(nib.WithLevel(nib.LevelInfo)).Info().Discard().Msg("m")
	if calls != 0 {
		t.Errorf("the hook was called %d times", calls)
	}
}

func TestSamplerDecidesBeforeAnyField(t *testing.T) {
	var asked []nib.Level
	l, c := newCapture(t, nib.WithLevel(nib.LevelInfo), nib.WithSampler(sampleFunc(func(l nib.Level) bool {
		asked = append(asked, l)
		return l >= nib.LevelWarn
	})))
	fields := 0
	field := func(e *nib.Event) { fields++ }
	l.Debug().Func(field).Msg("m") // off by level: the sampler is not called
	l.Info().Func(field).Msg("m")
	l.Log().Func(field).Msg("m")
	l.Entry(nib.Entry{Level: 1}).Func(field).Send()
	l.LogAttrs(context.Background(), 2, "m")
	l.Warn().Func(field).Msg("m")
	if want := []nib.Level{0, 0, 1, 2, 4}; !slices.Equal(asked, want) || fields != 1 {
		t.Errorf("asked %v, want %v; %d fields", asked, want, fields)
	}
	c.one()
	l.WithOptions(nib.WithSampler(nil)).Info().Msg("m")
	c.one()
}

func TestLookup(t *testing.T) {
	l, _ := newCapture(t)
	e := l.Named("n").With(func(e *nib.Event) { e.Int("bound", 1).Int("twice", 1) }).Info()
	e.Str("s", "a\"b").Int("twice", 2).Dict("d", func(d *nib.Event) {
		if _, ok := d.Lookup("s"); !ok {
			t.Error("a field in front of an open container is not found")
		}
		d.Str("inner", "x")
	}).Str("é\n", "key").Strs("list", []string{"a"})
	for key, want := range map[string]string{
		"bound": "1", "twice": "2", "s": `"a\"b"`, "d": `{"inner":"x"}`, "é\n": `"key"`, "list": `["a"]`, "level": `"info"`, "logger": `"n"`,
	} {
		if got, ok := e.Lookup(key); !ok || string(got) != want {
			t.Errorf("Lookup(%q)\n got %s, %v\nwant %s", key, got, ok, want)
		}
	}
	for _, key := range []string{"inner", "nothing", "", "message", "S"} {
		if got, ok := e.Lookup(key); ok || got != nil {
			t.Errorf("Lookup(%q) finds %s", key, got)
		}
	}
	e.Send()
	var none *nib.Event
	if _, ok := none.Lookup("s"); ok {
		t.Error("a nil event has fields")
	}
}

func TestEntry(t *testing.T) {
	pc, _, _, _ := runtime.Caller(0)
	s := new(recordtest.Recorder)
	for _, opts := range [][]nib.Option{{}, {nib.WithCaller()}, {nib.WithLayout(nib.Layout{MessageFirst: true})}} {
		l := nib.NewSink(s, append(opts, nib.WithLevel(nib.LevelFatal))...)
		l.Entry(nib.Entry{Time: aTime, Level: 3, PC: pc, Message: "m"}).Int("a", 1).Send()
		line, err := parseLine(last(s).Line)
		must.Succeed(t, err)
		if line.get("time").text != "2024-02-29T23:59:59.123Z" || line.get("level").text != "info+3" || line.get("message").text != "m" || line.get("a") == nil {
			t.Errorf("got %s", line)
		}
		if r := last(s); r.Time != aTime.UnixNano() || r.Level != 3 || string(r.Message) != "m" {
			t.Errorf("got %+v", r)
		}
		if caller := line.get("caller"); (caller != nil) != (len(opts) == 1 && last(s).PC != 0) {
			t.Errorf("got %s", line)
		}
	}
	first, c := newCapture(t, bare, nib.WithLayout(nib.Layout{MessageFirst: true}))
	first.Entry(nib.Entry{Message: "m"}).Int("a", 1).Msgf("another %d", 2)
	if line := c.one(); countKey(line, "message") != 1 || line.get("message").text != "m" {
		t.Errorf("Msgf of an Entry with its message first: got %s", line)
	}
	l, c := newCapture(t)
	l.Entry(nib.Entry{}).Send()
	if got := c.one().String(); got != `{"level":"info","message":""}` {
		t.Errorf("got %s", got)
	}
}

func TestNamed(t *testing.T) {
	l, c := newCapture(t, bare)
	for want, k := range map[string]*nib.Logger{
		"a": l.Named("a"), "a.b": l.Named("a").Named("b"), "a.b.c": l.Named("a").WithGroup("").Named("b.c"), "x": l.Named("").Named("x").Named(""),
	} {
		k.Info().Send()
		if got := c.one().get("logger"); got == nil || got.text != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	l.Info().Send()
	if got := c.one().get("logger"); got != nil {
		t.Errorf("a logger without a name shows %s", got)
	}
	off, c := newCapture(t, nib.WithLayout(nib.Layout{LoggerKey: nib.OmitKey}))
	off.Named("a").Info().Send()
	if got := c.one().String(); got != `{"time":"2026-01-02T15:04:05.006Z","level":"info"}` {
		t.Errorf("got %s", got)
	}
}

func TestWithOptionsLeavesTheOriginalAlone(t *testing.T) {
	l, c := newCapture(t, bare)
	changed := l.WithOptions(nib.WithLevel(nib.LevelError), nib.WithLayout(nib.Layout{}), nib.WithCaller(), nib.WithStack(0), nib.Option{},
		nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { e.Int("h", 1) })))
	l.Info().Send()
	if got := c.one().String(); got != "{}" {
		t.Errorf("got %s", got)
	}
	changed.Info().Send()
	changed.Error().Send()
	if line := c.one(); line.get("h") == nil || line.get("caller") == nil || line.get("stack") == nil || line.get("time") == nil {
		t.Errorf("got %s", line)
	}
}

func TestDefaultLogger(t *testing.T) {
	old := nib.Default()
	defer nib.SetDefault(old)
	l, c := newCapture(t)
	nib.SetDefault(l)
	for want, f := range map[string]func() *nib.Event{"trace": nib.Trace, "debug": nib.Debug, "info": nib.Info, "warn": nib.Warn, "error": nib.Error} {
		f().Msg("m")
		if got := c.one().get("level").text; got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	if got := panicOf(func() { nib.Panic().Msg("m") }); got != "m" || len(c.take()) != 1 {
		t.Errorf("Panic panics with %v", got)
	}
	nib.SetDefault(nil)
	nib.Info().Str("a", "b").Msg("m")
	if got := panicOf(func() { nib.Panic().Msgf("%d", 1) }); got != "1" {
		t.Errorf("Panic of a nil default panics with %v", got)
	}
}
