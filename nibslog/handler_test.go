// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/nibslog"
)

// handlers makes both kinds of handler on one buffer.
var handlers = []struct {
	name string
	make func(b *bytes.Buffer) slog.Handler
}{
	{"NewJSONHandler", func(b *bytes.Buffer) slog.Handler { return nibslog.NewJSONHandler(b, nil) }},
	{"NewJSONHandler with ReplaceAttr", func(b *bytes.Buffer) slog.Handler {
		return nibslog.NewJSONHandler(b, &slog.HandlerOptions{ReplaceAttr: keep})
	}},
	{"NewHandler", func(b *bytes.Buffer) slog.Handler {
		return nibslog.NewHandler(nib.New(b, nib.WithLayout(nib.Layout{MessageKey: "msg"})))
	}},
}

func lines(t *testing.T, b []byte) (all []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(b) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, m)
	}
	return all
}

func TestHandlersPassSlogtest(t *testing.T) {
	for _, h := range handlers {
		t.Run(h.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := slogtest.TestHandler(h.make(&b), func() []map[string]any { return lines(t, b.Bytes()) }); err != nil {
				t.Error(err)
			}
			t.Run("Run", func(t *testing.T) {
				var b bytes.Buffer
				slogtest.Run(t, func(*testing.T) slog.Handler { b.Reset(); return h.make(&b) },
					func(t *testing.T) map[string]any { return lines(t, b.Bytes())[0] })
			})
		})
	}
}

// dropTime leaves out the time, which differs from run to run.
func dropTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// keep is a ReplaceAttr that replaces nothing.
func keep(_ []string, a slog.Attr) slog.Attr { return a }

// handle returns the fields that h writes for attrs, without the built-in ones.
func handle(h slog.Handler, b *bytes.Buffer, attrs ...slog.Attr) string {
	r := slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 0)
	r.AddAttrs(attrs...)
	if err := h.Handle(context.Background(), r); err != nil {
		return err.Error()
	}
	line, ok := strings.CutPrefix(b.String(), `{"level":"INFO","msg":"m"`)
	if !ok {
		return b.String()
	}
	return strings.TrimSuffix(strings.TrimPrefix(line, ","), "}\n")
}

type nilError struct{}

func (*nilError) Error() string { panic("nil") }

type nilValuer struct{ name string }

func (v *nilValuer) LogValue() slog.Value { return slog.StringValue(v.name) }

type selfValuer struct{ key string }

func (v selfValuer) LogValue() slog.Value { return slog.GroupValue(slog.Any(v.key, v)) }

func TestDocumentedDifferences(t *testing.T) {
	for _, tt := range []struct {
		name string
		attr slog.Attr
		want string
	}{
		{"reserved level", slog.Int("level", 1), `"field.level":1`},
		{"reserved msg", slog.String("msg", "x"), `"field.msg":"x"`},
		{"source without AddSource", slog.String("source", "x"), `"source":"x"`},
		{"reserved group", slog.Group("msg", "a", 1), `"field.msg":{"a":1}`},
		{"reserved in an inline group", slog.Group("", "msg", 1), `"field.msg":1`},
		{"not reserved in a group", slog.Group("g", "msg", 1), `"g":{"msg":1}`},
		{"names that nib alone knows", slog.Group("", "logger", 1, "stack", 2, "message", 3), `"logger":1,"stack":2,"message":3`},
		{"escapes", slog.String("\u202e", "\x7f\u0085\u2066\ufeff\u2028"), `"\u202e":"\u007f\u0085\u2066\ufeff\u2028"`},
		{"NaN", slog.Float64("f", math.NaN()), `"f":"NaN"`},
		{"+Inf", slog.Float64("f", math.Inf(1)), `"f":"+Inf"`},
		{"-Inf", slog.Float64("f", math.Inf(-1)), `"f":"-Inf"`},
		{"error of encoding", slog.Any("v", make(chan int)), `"v":"!ERROR: json: unsupported type: chan int"`},
		{"panic of a marshaler", slog.Any("v", marshaler{"panic"}), `"v":"!PANIC: boom"`},
		{"panic of LogValue", slog.Any("v", panicValuer{}), `"v":"!PANIC: LogValue"`},
		{"LogValue without end", slog.Any("v", endlessValuer{}), `"v":"!ERROR: LogValue was called too often"`},
		{"LogValue within itself, inline", slog.Any("", selfValuer{""}), `"depth":"!ERROR: nested deeper than 32"`},
		{"nil error", slog.Any("v", (*nilError)(nil)), `"v":null`},
		{"nil LogValuer that panics", slog.Any("v", (*nilValuer)(nil)), `"v":null`},
		{"nil LogValuer that does not", slog.Any("v", sliceValuer(nil)), `"v":0`},
		{"errors", slog.Any("v", []error{errors.New("a"), nil}), `"v":["a",null]`},
		{"an element that fails", slog.Any("v", []any{1, make(chan int)}), `"v":[1,"!ERROR: json: unsupported type: chan int"]`},
		{"empty group behind a LogValuer", slog.Group("g", slog.Any("v", valuer{slog.GroupValue()})), ``},
		{"raw JSON that is none", slog.Any("v", json.RawMessage("{")), `"v":"{"`},
		{"source", slog.Any("v", &slog.Source{File: "f", Line: 1}), `"v":{"file":"f","line":1}`},
		{"empty source", slog.Any("v", &slog.Source{}), ``},
		{"nil source", slog.Any("v", (*slog.Source)(nil)), ``},
		{"empty map", slog.Any("v", map[string]any{}), `"v":{}`},
		{"year 10000", slog.Time("t", time.Date(10000, 1, 2, 3, 4, 5, 0, time.UTC)), `"t":"10000-01-02T03:04:05Z"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, replace := range []func([]string, slog.Attr) slog.Attr{nil, keep} {
				var b bytes.Buffer
				h := nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: replace})
				if got := handle(h, &b, tt.attr); got != tt.want {
					t.Errorf("replace %v: got  %s\nwant %s", replace != nil, got, tt.want)
				}
				b.Reset()
				if got := handle(h.WithAttrs([]slog.Attr{tt.attr}), &b); got != tt.want {
					t.Errorf("bound, replace %v: got  %s\nwant %s", replace != nil, got, tt.want)
				}
			}
		})
	}
}

func TestLevelOfALineOfLogPanic(t *testing.T) {
	for _, tt := range []struct {
		replace func([]string, slog.Attr) slog.Attr
		want    string
	}{{nil, `"level":"ERROR+4","msg":"why"}`}, {keep, `"level":"WARN","msg":"why"}`}} {
		var b bytes.Buffer
		h := nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: tt.replace})
		func() {
			defer func() { _ = recover() }()
			slog.NewLogLogger(h, slog.LevelWarn).Panic("why")
		}()
		if got := b.String(); !strings.HasSuffix(got, tt.want+"\n") {
			t.Errorf("replace %v: got %s, want it to end in %s", tt.replace != nil, got, tt.want)
		}
	}
}

func TestTimeIsReserved(t *testing.T) {
	at := time.Unix(1, 0).UTC()
	for _, replace := range []func([]string, slog.Attr) slog.Attr{nil, keep} {
		var b bytes.Buffer
		r := slog.NewRecord(at, slog.LevelInfo, "m", 0)
		r.AddAttrs(slog.String("time", "x"))
		_ = nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: replace}).Handle(context.Background(), r)
		if got, want := b.String(), `{"time":"1970-01-01T00:00:01Z","level":"INFO","msg":"m","field.time":"x"}`+"\n"; got != want {
			t.Errorf("replace %v: got  %swant %s", replace != nil, got, want)
		}
	}
}

func TestAValueThatContainsItselfEnds(t *testing.T) {
	const end = `"!ERROR: nested deeper than 32"`
	for _, replace := range []func([]string, slog.Attr) slog.Attr{nil, keep} {
		for _, bound := range []bool{false, true} {
			var b bytes.Buffer
			var h slog.Handler = nibslog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: replace})
			attrs := []slog.Attr{slog.Any("a", selfValuer{"a"})}
			if bound {
				h, attrs = h.WithAttrs(attrs), nil
			}
			got := handle(h, &b, attrs...)
			levels := strings.Count(got, `{"a":`)
			if levels < 30 || levels > 32 || !strings.Contains(got, end) {
				t.Errorf("replace %v, bound %v: got %s, want about 32 levels and %s", replace != nil, bound, got, end)
			}
		}
	}
}

func TestLevelDecides(t *testing.T) {
	var level slog.LevelVar
	level.Set(slog.LevelWarn)
	for _, tt := range []struct {
		name string
		h    slog.Handler
		at   slog.Level
		want bool
	}{
		{"default below", nibslog.NewJSONHandler(new(bytes.Buffer), nil), slog.LevelInfo - 1, false},
		{"default at", nibslog.NewJSONHandler(new(bytes.Buffer), nil), slog.LevelInfo, true},
		{"variable below", nibslog.NewJSONHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: &level}), slog.LevelInfo, false},
		{"variable at", nibslog.NewJSONHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: &level}), slog.LevelWarn, true},
		{"constant", nibslog.NewJSONHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: slog.LevelDebug}), slog.LevelDebug, true},
		{"with ReplaceAttr", nibslog.NewJSONHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: &level, ReplaceAttr: dropTime}), slog.LevelInfo, false},
		{"of the logger", nibslog.NewHandler(nib.New(new(bytes.Buffer), nib.WithLevel(nib.LevelError))), slog.LevelWarn, false},
		{"derived", nibslog.NewJSONHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: &level}).WithGroup("g").WithAttrs([]slog.Attr{slog.Int("a", 1)}), slog.LevelInfo, false},
		{"nil logger", nibslog.NewHandler(nil), slog.LevelError, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.h.Enabled(context.Background(), tt.at); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	level.Set(slog.LevelDebug)
	if h := nibslog.NewJSONHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: &level}); !h.Enabled(context.Background(), slog.LevelDebug) {
		t.Error("got false once the variable was lowered, want true")
	}
}

func TestANilLoggerDiscards(t *testing.T) {
	h := nibslog.NewHandler(nil).WithGroup("g").WithAttrs([]slog.Attr{slog.Int("a", 1)})
	if err := h.Handle(context.Background(), slog.NewRecord(time.Now(), slog.LevelError, "m", 1)); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

type traceKey struct{}

func TestNewHandlerUsesAllOfTheLogger(t *testing.T) {
	var b bytes.Buffer
	l := nib.New(&b, nib.WithContextFields(func(ctx context.Context, e *nib.Event) {
		if id, ok := ctx.Value(traceKey{}).(string); ok {
			e.Str("trace", id)
		}
	})).Named("db").With(func(e *nib.Event) { e.Int("n", 1) })
	ctx := context.WithValue(context.Background(), traceKey{}, "t1")
	r := slog.NewRecord(time.Date(2026, 1, 2, 15, 4, 5, 6e6, time.FixedZone("", 3600)), slog.LevelWarn, "slow", 0)
	r.AddAttrs(slog.Duration("took", 1500*time.Microsecond))
	must.Succeed(t, nibslog.NewHandler(l).Handle(ctx, r))
	want := `{"time":"2026-01-02T14:04:05.006Z","level":"warn","logger":"db","n":1,"trace":"t1","took":1.5,"message":"slow"}` + "\n"
	if got := b.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestAddSourceNamesTheCallOfSlog(t *testing.T) {
	for _, replace := range []func([]string, slog.Attr) slog.Attr{nil, dropTime} {
		var got, want bytes.Buffer
		options := &slog.HandlerOptions{AddSource: true, ReplaceAttr: replace}
		for _, l := range []*slog.Logger{slog.New(nibslog.NewJSONHandler(&got, options)), slog.New(slog.NewJSONHandler(&want, options))} {
			l.Info("m")
		}
		source := func(b []byte) any { return lines(t, b)[0]["source"] }
		g, _ := json.Marshal(source(got.Bytes()))
		w, _ := json.Marshal(source(want.Bytes()))
		if !bytes.Equal(g, w) || len(w) < 20 {
			t.Errorf("got  %s\nwant %s", g, w)
		}
	}
}

func TestAnyLayoutMayStandBehindAHandler(t *testing.T) {
	l := layout.Slog()
	l.TimeKey, l.LevelKey, l.MessageKey = "ts", "severity", "text"
	var b bytes.Buffer
	h := nibslog.NewHandler(nib.New(&b, nib.WithLayout(l)))
	r := slog.NewRecord(time.Unix(0, 0).UTC(), slog.LevelInfo, "m", 0)
	r.AddAttrs(slog.Int("msg", 1), slog.Int("text", 2))
	_ = h.Handle(context.Background(), r)
	want := `{"ts":"1970-01-01T00:00:00Z","severity":"INFO","text":"m","msg":1,"field.text":2}` + "\n"
	if got := b.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}
