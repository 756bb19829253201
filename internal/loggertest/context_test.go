// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
)

// child derives a logger with n bytes of context and a name in it.
func child(l *nib.Logger, n int, name string) *nib.Logger {
	return l.With(func(e *nib.Event) { e.Str("pad", strings.Repeat("x", n)).Str("name", name) })
}

func checkChild(t *testing.T, line *node, n int, name, own string) {
	t.Helper()
	want := fmt.Sprintf(`{"pad":%q,"name":%q,"own":%q}`, strings.Repeat("x", n), name, own)
	if got := line.String(); got != want {
		t.Errorf("%d bytes\n got %s\nwant %s", n, got, want)
	}
}

func TestSiblingsDoNotShareBytes(t *testing.T) {
	parent, c := newCapture(t, bare)
	for n := range 4097 {
		if testing.Short() && n > 300 && n%16 != 15 && n%16 > 1 {
			continue // bytes are allocated in multiples of 16 and more
		}
		base := parent
		if n%3 == 1 {
			base = parent.With(func(*nib.Event) {}) // without fields
		}
		p := base.With(func(e *nib.Event) { e.Str("pad", strings.Repeat("x", n)) })
		alice := p.With(func(e *nib.Event) { e.Str("name", "alice") })
		bob := p.WithAttrs(slog.String("name", "bobby the second"))
		carol := p.With(func(e *nib.Event) { e.Str("name", "c") })
		alice.Info().Str("own", "a").Send()
		bob.Info().Str("own", "b").Send()
		carol.Info().Str("own", "c").Send()
		alice.Info().Str("own", "again").Send()
		lines := c.take()
		checkChild(t, lines[0], n, "alice", "a")
		checkChild(t, lines[1], n, "bobby the second", "b")
		checkChild(t, lines[2], n, "c", "c")
		checkChild(t, lines[3], n, "alice", "again")
	}
}

func TestSiblingsMayBeDerivedConcurrently(t *testing.T) {
	s := new(recordtest.Recorder)
	parent := nib.NewSink(s, bare)
	for n := 0; n <= 4096; n += 256 {
		p := child(parent, n, "parent").WithGroup("g")
		await.Goroutines(8, func(g int) {
			k := p.With(func(e *nib.Event) { e.Int("g", g) })
			for range 5 {
				k.Info().Int("same", g).Send()
			}
		})
	}
	for _, r := range s.Records() {
		line, err := parseLine(r.Line)
		must.Succeed(t, err)
		g := line.get("g")
		if len(line.keys) != 3 || len(g.keys) != 2 || g.get("g").text != g.get("same").text {
			t.Errorf("got %s", line)
		}
	}
	if s.Len() != 17*8*5 {
		t.Errorf("got %d lines", s.Len())
	}
}

func TestBoundFieldsOutliveTheirSource(t *testing.T) {
	text := []byte("alice")
	l, c := newCapture(t, bare)
	k := l.With(func(e *nib.Event) { e.Bytes("b", text).RawJSON("r", []byte("[1]")) })
	copy(text, "mallo")
	k.Info().Send()
	if got := c.one().String(); got != `{"b":"alice","r":[1]}` {
		t.Errorf("got %s", got)
	}
}

func TestGroupsNestAndEmptyOnesAreLeftOut(t *testing.T) {
	for _, x := range []struct {
		name string
		make func(l *nib.Logger) *nib.Logger
		want string // with a field n of the event
		none string // without
	}{
		{"group", func(l *nib.Logger) *nib.Logger { return l.WithGroup("a") }, `{"a":{"n":1}}`, `{}`},
		{"two groups", func(l *nib.Logger) *nib.Logger { return l.WithGroup("a").WithGroup("b") }, `{"a":{"b":{"n":1}}}`, `{}`},
		{"three groups", func(l *nib.Logger) *nib.Logger { return l.WithGroup("a").WithGroup("b").WithGroup("c") }, `{"a":{"b":{"c":{"n":1}}}}`, `{}`},
		{"empty name", func(l *nib.Logger) *nib.Logger { return l.WithGroup("") }, `{"n":1}`, `{}`},
		{"field, group", func(l *nib.Logger) *nib.Logger { return child(l, 0, "x").WithGroup("a") }, `{"pad":"","name":"x","a":{"n":1}}`, `{"pad":"","name":"x"}`},
		{"group, field", func(l *nib.Logger) *nib.Logger { return child(l.WithGroup("a"), 0, "x") }, `{"a":{"pad":"","name":"x","n":1}}`, `{"a":{"pad":"","name":"x"}}`},
		{"group, field, group", func(l *nib.Logger) *nib.Logger { return child(l.WithGroup("a"), 0, "x").WithGroup("b") },
			`{"a":{"pad":"","name":"x","b":{"n":1}}}`, `{"a":{"pad":"","name":"x"}}`},
		{"groups, field, groups", func(l *nib.Logger) *nib.Logger {
			return child(l.WithGroup("a").WithGroup("b"), 0, "x").WithGroup("c").WithGroup("d")
		}, `{"a":{"b":{"pad":"","name":"x","c":{"d":{"n":1}}}}}`, `{"a":{"b":{"pad":"","name":"x"}}}`},
		{"group, With of nothing", func(l *nib.Logger) *nib.Logger { return l.WithGroup("a").With(func(*nib.Event) {}) }, `{"a":{"n":1}}`, `{}`},
		{"group, attrs of nothing", func(l *nib.Logger) *nib.Logger { return l.WithGroup("a").WithAttrs(slog.Attr{}, slog.Group("g")) }, `{"a":{"n":1}}`, `{}`},
		{"same name twice", func(l *nib.Logger) *nib.Logger { return l.WithGroup("a").WithGroup("a") }, `{"a":{"a":{"n":1}}}`, `{}`},
	} {
		for _, layout := range []nib.Layout{{}, {MessageFirst: true}} {
			layout.TimeKey, layout.LevelKey, layout.MessageKey = nib.OmitKey, nib.OmitKey, nib.OmitKey
			l, c := newCapture(t, nib.WithLayout(layout))
			k := x.make(l)
			for range 2 {
				k.Info().Int("n", 1).Msg("m")
				k.Info().Msg("m")
				k.LogAttrs(context.Background(), nib.LevelInfo, "m", slog.Int("n", 1))
				k.Entry(nib.Entry{Message: "m"}).Int("n", 1).Send()
				lines := c.take()
				for i, want := range []string{x.want, x.none, x.want, x.want} {
					if got := lines[i].String(); got != want {
						t.Errorf("%s, line %d\n got %s\nwant %s", x.name, i, got, want)
					}
				}
			}
		}
	}
}

func TestOptionsKeepBoundFields(t *testing.T) {
	l, c := newCapture(t, bare)
	k := child(l.Named("n"), 3, "x").WithGroup("g").With(func(e *nib.Event) { e.Int("in", 1) }).WithGroup("h")
	for name, opts := range map[string][]nib.Option{
		"none": {}, "layout": {nib.WithLayout(nib.Layout{TimeKey: "ts", LevelKey: "lvl"})}, "level": {nib.WithLevel(nib.LevelWarn)},
		"first": {nib.WithLayout(nib.Layout{MessageFirst: true})}, "hook": {nib.WithHook(nib.HookFunc(func(*nib.Event, nib.Level, string) {}))},
		"caller": {nib.WithCaller()}, "bare": {bare}, "clock": {nib.WithClock(nil)},
	} {
		k.WithOptions(opts...).Warn().Int("n", 2).Msg("m")
		line := c.one()
		if line.get("pad") == nil || line.get("name") == nil || line.get("g").String() != `{"in":1,"h":{"n":2}}` || line.get("logger").text != "n" {
			t.Errorf("%s\n got %s", name, line)
		}
		if line.get("message").text != "m" {
			t.Errorf("%s\n got %s", name, line)
		}
	}
	k.Warn().Int("n", 2).Msg("m") // and the original is as it was
	if got, want := c.one().String(), `{"logger":"n","pad":"xxx","name":"x","g":{"in":1,"h":{"n":2}},"message":"m"}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestNewContextAndFromContext(t *testing.T) {
	type other struct{}
	l := nib.New(io.Discard)
	ctx := nib.NewContext(context.Background(), l)
	if nib.FromContext(ctx) != l || nib.FromContext(context.WithValue(ctx, other{}, 1)) != l {
		t.Error("the logger is not found")
	}
	var none context.Context
	if nib.FromContext(context.Background()) != nib.Default() || nib.FromContext(none) != nib.Default() {
		t.Error("without one it is not Default()")
	}
	if nib.FromContext(nib.NewContext(ctx, nil)) != nil {
		t.Error("a nil logger in the context does not discard")
	}
}

func TestContextFields(t *testing.T) {
	type key struct{}
	l, c := newCapture(t, bare, nib.WithContextFields(func(ctx context.Context, e *nib.Event) {
		if id, ok := ctx.Value(key{}).(string); ok {
			e.Str("trace", id)
		}
	}))
	ctx := context.WithValue(context.Background(), key{}, "t1")
	l.Info().Ctx(ctx).Send()
	l.LogAttrs(ctx, nib.LevelInfo, "m", slog.Int("n", 1))
	l.Info().Ctx(context.Background()).Send()
	l.WithGroup("g").Info().Ctx(ctx).Send()
	lines := c.take()
	for i, want := range []string{`{"trace":"t1"}`, `{"trace":"t1","n":1,"message":"m"}`, `{}`, `{"g":{"trace":"t1"}}`} {
		if got := lines[i].String(); got != want {
			t.Errorf("line %d\n got %s\nwant %s", i, got, want)
		}
	}
}

// The logger of a request has bound what the function takes from the context.
func TestContextFieldsOfACarriedLoggerAreWrittenOnce(t *testing.T) {
	type key struct{}
	fields := func(ctx context.Context, e *nib.Event) {
		if e.Str("tenant", ctx.Value(key{}).(string)); ctx.Value(key{}) != "alone" {
			e.Int("n", 1)
		}
	}
	// No beginning of a line is reused with a clock of the program.
	l, c := newCapture(t, bare, nib.WithClock(nil), nib.WithContextFields(fields))
	ctx := context.WithValue(context.Background(), key{}, "a")
	inner := l.With(func(e *nib.Event) { e.Str("id", "r").Ctx(ctx) })
	ctx = nib.NewContext(ctx, inner)
	other := context.WithValue(ctx, key{}, "b")
	alone := context.WithValue(context.Background(), key{}, "alone")
	first := l.With(func(e *nib.Event) { e.Ctx(alone) })
	for _, x := range []struct {
		name string
		log  func()
		want string
	}{
		{"another logger", func() { l.Info().Ctx(ctx).Send() }, `{"id":"r","tenant":"a","n":1}`},
		{"the logger itself", func() { inner.Info().Ctx(ctx).Send() }, `{"id":"r","tenant":"a","n":1}`},
		{"attributes", func() { inner.LogAttrs(ctx, nib.LevelInfo, "m", slog.Bool("b", true)) },
			`{"id":"r","tenant":"a","n":1,"b":true,"message":"m"}`},
		{"bound again", func() { inner.With(func(e *nib.Event) { e.Ctx(ctx) }).Info().Send() },
			`{"id":"r","tenant":"a","n":1}`},
		{"another value", func() { l.Info().Ctx(other).Send() }, `{"id":"r","tenant":"a","n":1,"tenant":"b"}`},
		{"a field of the event", func() { inner.Info().Int("m", 1).Ctx(other).Bool("b", true).Send() },
			`{"id":"r","tenant":"a","n":1,"m":1,"tenant":"b","b":true}`},
		{"the first field", func() { first.Info().Ctx(nib.NewContext(alone, first)).Send() },
			`{"tenant":"alone"}`},
		{"in a group", func() { l.WithGroup("g").Info().Ctx(ctx).Send() },
			`{"g":{"tenant":"a","n":1},"id":"r","tenant":"a","n":1}`},
	} {
		for range 2 { // the second line reuses the beginning of the first
			x.log()
			if got := c.one().String(); got != x.want {
				t.Errorf("%s\n got %s\nwant %s", x.name, got, x.want)
			}
		}
	}
}
