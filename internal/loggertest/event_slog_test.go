// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
)

// slogLayout leaves out the time, which differs from run to run.
var slogLayout = nib.Layout{TimeKey: nib.OmitKey}

// slogValue is a LogValuer of any value.
type slogValue struct{ v slog.Value }

func (v slogValue) LogValue() slog.Value { return v.v }

type slogPanic struct{}

func (slogPanic) LogValue() slog.Value { panic("boom") }

type slogEndless struct{}

func (slogEndless) LogValue() slog.Value { return slog.AnyValue(slogEndless{}) }

type slogSelf struct{ key string }

func (v slogSelf) LogValue() slog.Value { return slog.GroupValue(slog.Any(v.key, v)) }

type slogNil []string

func (s slogNil) LogValue() slog.Value { return slog.IntValue(len(s)) }

type slogName struct{ name string }

func (s *slogName) LogValue() slog.Value { return slog.StringValue(s.name) }

// attrTests are attributes and the fields that they make.
var attrTests = []struct {
	name  string
	attrs []slog.Attr
	want  string
}{
	{"none", nil, ``},
	{"string", []slog.Attr{slog.String("a", "b\n")}, `"a":"b\n"`},
	{"numbers", []slog.Attr{slog.Int("a", -1), slog.Uint64("b", 1<<63), slog.Float64("c", 0.1)}, `"a":-1,"b":9223372036854775808,"c":0.1`},
	{"bool", []slog.Attr{slog.Bool("a", true)}, `"a":true`},
	{"duration in the layout's unit", []slog.Attr{slog.Duration("a", 1500*time.Microsecond)}, `"a":1.5`},
	{"time in the layout's zone", []slog.Attr{slog.Time("a", time.Date(2026, 1, 2, 15, 4, 5, 6e6, time.FixedZone("", 3600)))}, `"a":"2026-01-02T14:04:05.006Z"`},
	{"nil", []slog.Attr{slog.Any("a", nil)}, `"a":null`},
	{"error", []slog.Attr{slog.Any("a", errors.New("why"))}, `"a":"why"`},
	{"nil error", []slog.Attr{slog.Any("a", error(nil))}, `"a":null`},
	{"struct", []slog.Attr{slog.Any("a", struct{ B int }{1})}, `"a":{"B":1}`},
	{"map", []slog.Attr{slog.Any("a", map[string]any{"c": 2, "b": 1})}, `"a":{"b":1,"c":2}`},
	{"empty attribute", []slog.Attr{{}, slog.Int("a", 1), {}}, `"a":1`},
	{"empty key", []slog.Attr{slog.Int("", 1)}, `"":1`},
	{"key without a value", []slog.Attr{{Key: "a"}}, `"a":null`},
	{"group", []slog.Attr{slog.Group("g", "a", 1, "b", "c")}, `"g":{"a":1,"b":"c"}`},
	{"nested groups", []slog.Attr{slog.Group("g", slog.Group("h", "a", 1), "b", 2)}, `"g":{"h":{"a":1},"b":2}`},
	{"empty group", []slog.Attr{slog.Group("g"), slog.Int("a", 1)}, `"a":1`},
	{"group of empty ones", []slog.Attr{slog.Group("g", slog.Attr{}, slog.Group("h", slog.Attr{})), slog.Int("a", 1)}, `"a":1`},
	{"group without a key", []slog.Attr{slog.Group("", "a", 1, "b", 2)}, `"a":1,"b":2`},
	{"LogValuer", []slog.Attr{slog.Any("a", slogValue{slog.IntValue(1)})}, `"a":1`},
	{"chain of LogValuers", []slog.Attr{slog.Any("a", slogValue{slog.AnyValue(slogValue{slog.StringValue("b")})})}, `"a":"b"`},
	{"LogValuer of a group", []slog.Attr{slog.Any("g", slogValue{slog.GroupValue(slog.Int("a", 1))})}, `"g":{"a":1}`},
	{"LogValuer of an inline group", []slog.Attr{slog.Any("", slogValue{slog.GroupValue(slog.Int("a", 1))})}, `"a":1`},
	{"LogValuer of nothing", []slog.Attr{slog.Any("", slogValue{})}, ``},
	{"LogValuer that panics", []slog.Attr{slog.Any("a", slogPanic{}), slog.Int("b", 1)}, `"a":"!PANIC: boom","b":1`},
	{"LogValuer without end", []slog.Attr{slog.Any("a", slogEndless{})}, `"a":"!ERROR: LogValue was called too often"`},
	{"inline LogValuer within itself", []slog.Attr{slog.Any("", slogSelf{}), slog.Int("b", 1)}, `"depth":"!ERROR: nested deeper than 32","b":1`},
	{"nil LogValuer that accepts nil", []slog.Attr{slog.Any("a", slogNil(nil))}, `"a":0`},
	{"nil LogValuer that cannot", []slog.Attr{slog.Any("a", (*slogName)(nil))}, `"a":null`},
	{"source", []slog.Attr{slog.Any("a", &slog.Source{Function: "f", Line: 3})}, `"a":{"function":"f","line":3}`},
	{"empty source", []slog.Attr{slog.Any("a", &slog.Source{}), slog.Any("b", (*slog.Source)(nil))}, ``},
	{"reserved keys", []slog.Attr{slog.Int("level", 1), slog.Group("", "message", 2), slog.Group("logger", "level", 3)},
		`"field.level":1,"field.message":2,"field.logger":{"level":3}`},
}

func TestAttrsHaveTheMeaningOfSlog(t *testing.T) {
	ctx := context.Background()
	for _, tt := range attrTests {
		for front, write := range map[string]func(l *nib.Logger){
			"LogAttrs":  func(l *nib.Logger) { l.LogAttrs(ctx, nib.LevelWarn, "m", tt.attrs...) },
			"Attrs":     func(l *nib.Logger) { l.Warn().Attrs(tt.attrs...).Msg("m") },
			"WithAttrs": func(l *nib.Logger) { l.WithAttrs(tt.attrs...).Warn().Msg("m") },
			"Entry": func(l *nib.Logger) {
				l.Entry(nib.Entry{Level: nib.LevelWarn, Message: "m"}).Attrs(tt.attrs...).Send()
			},
		} {
			t.Run(tt.name+", "+front, func(t *testing.T) {
				var b bytes.Buffer
				write(nib.New(&b, nib.WithLayout(slogLayout)))
				want := `{"level":"warn",` + tt.want
				if tt.want != "" {
					want += ","
				}
				want += `"message":"m"}` + "\n"
				if got := b.String(); got != want {
					t.Errorf("got  %swant %s", got, want)
				}
			})
		}
	}
}

func TestWithGroupHoldsAllFurtherFields(t *testing.T) {
	one := slog.Int("a", 1)
	for _, tt := range []struct {
		name  string
		log   func(l *nib.Logger) *nib.Logger
		attrs []slog.Attr
		want  string
	}{
		{"field", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g") }, []slog.Attr{one}, `"g":{"a":1},`},
		{"none", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g") }, nil, ``},
		{"empty ones", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g") }, []slog.Attr{{}, slog.Group("h")}, ``},
		{"no name", func(l *nib.Logger) *nib.Logger { return l.WithGroup("") }, []slog.Attr{one}, `"a":1,`},
		{"two", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithGroup("h") }, []slog.Attr{one}, `"g":{"h":{"a":1}},`},
		{"two, none", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithGroup("h") }, nil, ``},
		{"bound before", func(l *nib.Logger) *nib.Logger { return l.WithAttrs(one).WithGroup("g") }, nil, `"a":1,`},
		{"bound within", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithAttrs(one) }, nil, `"g":{"a":1},`},
		{"bound within, and a field", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithAttrs(one) },
			[]slog.Attr{slog.Int("b", 2)}, `"g":{"a":1,"b":2},`},
		{"bound between", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithAttrs(one).WithGroup("h").WithGroup("i") },
			nil, `"g":{"a":1},`},
		{"bound between, and a field", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithAttrs(one).WithGroup("h").WithGroup("i") },
			[]slog.Attr{slog.Int("b", 2)}, `"g":{"a":1,"h":{"i":{"b":2}}},`},
		{"empty ones bound within", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithAttrs(slog.Group("h")) }, nil, ``},
		{"reserved name", func(l *nib.Logger) *nib.Logger { return l.WithGroup("level") }, []slog.Attr{one}, `"field.level":{"a":1},`},
		{"reserved names below", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").WithGroup("level") },
			[]slog.Attr{slog.Int("message", 1)}, `"g":{"level":{"message":1}},`},
		{"hostile name", func(l *nib.Logger) *nib.Logger { return l.WithGroup(`g":{"a`) }, []slog.Attr{one}, `"g\":{\"a":{"a":1},`},
		{"named inside", func(l *nib.Logger) *nib.Logger { return l.WithGroup("g").Named("n") }, []slog.Attr{one}, `"logger":"n","g":{"a":1},`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			l := tt.log(nib.New(&b, nib.WithLayout(slogLayout)))
			l.LogAttrs(context.Background(), nib.LevelInfo, "m", tt.attrs...)
			l.Info().Attrs(tt.attrs...).Msg("m")
			want := strings.Repeat(`{"level":"info",`+tt.want+`"message":"m"}`+"\n", 2)
			if got := b.String(); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestLogAttrsHonoursLevelContextAndCaller(t *testing.T) {
	var b bytes.Buffer
	type key struct{}
	l := nib.New(&b, nib.WithLayout(slogLayout), nib.WithCaller(), nib.WithContextFields(func(ctx context.Context, e *nib.Event) {
		e.Any("trace", ctx.Value(key{}))
	}))
	ctx := context.WithValue(context.Background(), key{}, "t1")
	l.LogAttrs(ctx, nib.LevelDebug, "off")
	l.LogAttrs(ctx, nib.LevelFatal, "no exit", slog.Int("a", 1))
	got, ok := strings.CutPrefix(b.String(), `{"level":"fatal","caller":"`)
	if _, after, found := strings.Cut(got, `/event_slog_test.go:`); ok && found {
		_, got, _ = strings.Cut(after, `"`)
	}
	if want := `,"trace":"t1","a":1,"message":"no exit"}` + "\n"; got != want {
		t.Errorf("got  %swant …%s", b.String(), want)
	}
	(*nib.Logger)(nil).LogAttrs(ctx, nib.LevelError, "discarded")
}

func TestGoexitInLogValueEndsTheLineAndNothingElse(t *testing.T) {
	var b bytes.Buffer
	l := nib.New(&b, nib.WithLayout(slogLayout))
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.LogAttrs(context.Background(), nib.LevelInfo, "lost", slog.Group("g", slog.Any("v", slogGoexit{})))
	}()
	<-done
	l.LogAttrs(context.Background(), nib.LevelInfo, "next")
	if got, want := b.String(), `{"level":"info","message":"next"}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := l.Stats().Aborted; got != 1 {
		t.Errorf("Aborted: got %d, want 1", got)
	}
}

type slogGoexit struct{}

func (slogGoexit) LogValue() slog.Value { runtime.Goexit(); return slog.Value{} }

func TestAttributesOfPlainValuesDoNotAllocate(t *testing.T) {
	l := nib.New(discardWriter{})
	ctx, now := context.Background(), time.Now()
	alloctest.Zero(t, func() {
		l.LogAttrs(ctx, nib.LevelInfo, "request handled", slog.String("a", "b"), slog.Int("n", 1), slog.Uint64("u", 2),
			slog.Bool("t", true), slog.Float64("f", 0.5), slog.Duration("d", 5), slog.Time("at", now))
	})
	alloctest.Zero(t, func() {
		l.Info().Attrs(slog.String("a", "b"), slog.Int("n", 1), slog.Duration("d", 5)).Msg("request handled")
	})
	alloctest.Zero(t, func() { l.LogAttrs(ctx, nib.LevelDebug, "off", slog.String("a", "b")) })
}

func TestAnInlineLogValuerOfAFinishedEventIsNotCalled(t *testing.T) {
	var b bytes.Buffer
	l := nib.New(&b, nib.WithLayout(slogLayout))
	e := l.Info()
	e.Msg("m")
	e.Attrs(slog.Any("a", slogPanic{}), slog.Group("", "b", 1))
	if got, want := b.String(), `{"level":"info","message":"m"}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if e.Enabled() {
		t.Error("the event is alive again")
	}
}
