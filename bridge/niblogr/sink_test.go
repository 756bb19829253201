// SPDX-License-Identifier: Apache-2.0

package niblogr_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/go-logr/logr"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogr"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibtest"
)

var bare = nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, Duration: nib.DurationString})

func newLogger(opts ...nib.Option) (logr.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return niblogr.New(nib.New(&b, append([]nib.Option{bare}, opts...)...)), &b
}

// take returns the written text, and empties the buffer.
func take(b *bytes.Buffer) string {
	defer b.Reset()
	return b.String()
}

func check(t *testing.T, what string, b *bytes.Buffer, want string) {
	t.Helper()
	if got := take(b); got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func rulesOf(t *testing.T, s string) *nib.Rules {
	t.Helper()
	r, err := nib.ParseRules(s)
	must.Succeed(t, err)
	return r
}

// zapr drops V(2) and above at zap's debug level (go-logr/zapr#86).
func TestEveryVLevelHasALevelOfItsOwn(t *testing.T) {
	for level, last := range map[string]int{"info": 0, "debug+3": 1, "debug+2": 2, "debug": 4, "trace": 8, "trace-2": 10, "warn": -1} {
		l, b := newLogger(nib.WithRules(rulesOf(t, level)))
		for v := range 13 {
			want := v <= last
			mayBe := want || level == "warn" && v == 0 // a warning of slog
			if got := l.V(v).Enabled(); got != mayBe {
				t.Errorf("level %s: V(%d) enabled: got %v, want %v", level, v, got, mayBe)
			}
			l.V(v).Info("m")
			if got := b.Len() > 0; got != want {
				t.Errorf("level %s: V(%d) written: got %v, want %v", level, v, got, want)
			}
			b.Reset()
		}
	}
	l, b := newLogger(nib.WithLevel(nib.LevelTrace))
	l.V(1).V(1).Info("m")
	check(t, "V adds up", b, `{"level":"debug+2","message":"m"}`+"\n")
	l.V(-3).Info("m")
	check(t, "a negative V is V(0)", b, `{"level":"info","message":"m"}`+"\n")
}

func TestRulesChangeLevelsByNameWhileInUse(t *testing.T) {
	rules := rulesOf(t, "info")
	l, b := newLogger(nib.WithRules(rules))
	cache := l.WithName("operator").WithName("cache").WithValues("a", 1)
	cache.V(4).Info("off")
	must.Succeed(t, rules.Set("info,operator.cache=debug"))
	cache.V(4).Info("on")
	l.V(4).Info("off")
	check(t, "debug for one name", b, `{"level":"debug","logger":"operator.cache","a":1,"message":"on"}`+"\n")
}

func TestErrorIsWrittenWhateverTheLevel(t *testing.T) {
	l, b := newLogger(nib.WithLevel(nib.LevelFatal))
	l.V(9).Error(errors.New("gone"), "m", "a", 1)
	check(t, "an error", b, `{"level":"error","error":"gone","a":1,"message":"m"}`+"\n")
	l.Error(nil, "m")
	check(t, "a nil error", b, `{"level":"error","message":"m"}`+"\n")
}

// WithCallDepth of logr's slog sink once lost name and values
// (go-logr/logr#58).
func TestWithCallDepthKeepsNameAndValues(t *testing.T) {
	l, b := newLogger()
	l.WithName("n").WithValues("a", 1).WithCallDepth(2).WithValues("b", 2).Info("m")
	check(t, "name and values", b, `{"level":"info","logger":"n","a":1,"b":2,"message":"m"}`+"\n")
}

func here() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf(`"caller":"niblogr/sink_test.go:%d"`, line)
}

//go:noinline
func helper(l logr.Logger, depth int) { l.WithCallDepth(depth).Info("m") }

func inlinable(l logr.Logger) { l.WithCallDepth(1).Error(nil, "m") }

//go:noinline
func twice(l logr.Logger) { helper(l, 2) }

// below calls f at the end of n further calls.
//
//go:noinline
func below(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	below(n-1, f)
}

func TestCallerAtEveryDepth(t *testing.T) {
	l, b := newLogger(nib.WithCaller())
	for depth := range 16 {
		deep := l.WithCallDepth(depth + 2) // the function itself, and the last below
		want := func() string { below(depth, func() { deep.Info("m") }); return here() }()
		if got := take(b); !strings.Contains(got, want) {
			t.Errorf("%d calls below:\n got %s\nwant %s", depth, got, want)
		}
	}
}

// A depth must add up in children, and must not affect the parent
// (aws/aws-network-policy-agent#495).
func TestCallerIsTheCallSite(t *testing.T) {
	l, b := newLogger(nib.WithCaller(), nib.WithLevel(nib.LevelTrace))
	for name, call := range map[string]func() string{
		"Info":         func() string { l.Info("m"); return here() },
		"V":            func() string { l.V(3).Info("m"); return here() },
		"Error":        func() string { l.Error(nil, "m"); return here() },
		"WithValues":   func() string { l.WithValues("a", 1).WithName("n").Info("m"); return here() },
		"depth 0":      func() string { l.WithCallDepth(0).Info("m"); return here() },
		"depth 1":      func() string { helper(l, 1); return here() },
		"depth 2":      func() string { twice(l); return here() },
		"inlined":      func() string { inlinable(l); return here() },
		"child":        func() string { helper(l.WithCallDepth(1).WithCallDepth(-1).WithName("n"), 1); return here() },
		"after helper": func() string { l.Info("m"); return here() },
		"helper":       func() string { stackHelper(l); return here() },
		"slog":         func() string { slog.New(logr.ToSlogHandler(l)).Info("m"); return here() },
		"deferred":     func() (s string) { defer func() { l.Info("m"); s = here() }(); return },
	} {
		want := call()
		if got := take(b); !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

//go:noinline
func stackHelper(l logr.Logger) {
	mark, l := l.WithCallStackHelper()
	mark()
	l.Info("m")
}

type (
	marshaler struct{ value any }
	stringer  struct{ f func() string }
	jsonError struct{}
	nibObject struct{ a int }
	texted    struct{ Name string }
	key       string
	endless   struct{ l logr.Logger }
)

func (m marshaler) MarshalLog() any             { return m.value }
func (s stringer) String() string               { return s.f() }
func (*jsonError) Error() string                { return "whoops" }
func (*jsonError) MarshalJSON() ([]byte, error) { return []byte(`"WHOOPS"`), nil }
func (o nibObject) MarshalNib(e *nib.Event)     { e.Int("a", o.a) }
func (t texted) String() string                 { return "text of " + t.Name }
func (e endless) MarshalLog() any               { e.l.Info("inner", "v", e); return 1 }

type panicking struct{}

func (panicking) MarshalLog() any { panic("boom") }

type pointed struct{ n int }

func (p *pointed) MarshalLog() any { return p.n }

func TestValues(t *testing.T) {
	l, b := newLogger()
	for _, tt := range []struct {
		name string
		kv   []any
		want string
	}{
		{"plain", []any{"s", "x", "i", 1, "i64", int64(2), "b", true, "f", 0.5, "d", time.Hour, "n", nil, "t", time.Unix(0, 0)},
			`"s":"x","i":1,"i64":2,"b":true,"f":0.5,"d":"1h0m0s","n":null,"t":"1970-01-01T00:00:00.000Z",`},
		{"odd", []any{"a", 1, "b"}, `"a":1,"b":"!ERROR: no value",`},
		{"one key", []any{"a"}, `"a":"!ERROR: no value",`},
		{"keys of other types", []any{1, "v", key("k"), "v", nil, "v", true, "v", struct{ n int }{1}, "v", map[string]int{}, "v"},
			`"1":"v","k":"v","<nil>":"v","true":"v","struct { n int }":"v","map[string]int":"v",`},
		{"equal keys", []any{"a", 1, "a", 2}, `"a":1,"a":2,`},
		{"reserved key", []any{"level", 1}, `"field.level":1,`},
		{"MarshalLog", []any{"v", marshaler{texted{"n"}}, "w", marshaler{map[string]int{"a": 1}}}, `"v":"text of n","w":{"a":1},`},
		{"MarshalLog of a nib.Marshaler", []any{"v", marshaler{nibObject{1}}, "w", nibObject{2}}, `"v":{"a":1},"w":{"a":2},`},
		{"MarshalLog that returns itself", []any{"v", marshaler{marshaler{1}}}, `"v":{},`},
		{"MarshalLog that panics", []any{"v", panicking{}, "w", 1}, `"v":"!PANIC: boom","w":1,`},
		{"MarshalLog of nil", []any{"v", (*pointed)(nil)}, `"v":"!PANIC: runtime error: invalid memory address or nil pointer dereference",`},
		{"text before MarshalJSON", []any{"v", &jsonError{}, "w", texted{"n"}}, `"v":"whoops","w":"text of n",`},
		{"String that panics", []any{"v", stringer{func() string { panic("boom") }}}, `"v":"!PANIC: boom",`},
		{"nil that is a Stringer or error", []any{"v", (*stringer)(nil), "w", (*jsonError)(nil)}, `"v":null,"w":null,`},
		{"no JSON", []any{"v", make(chan int), "w", 1}, `"v":"!ERROR: `},
	} {
		l.Info("m", tt.kv...)
		got := take(b)
		if !strings.HasPrefix(got, `{"level":"info",`+tt.want) || !json.Valid([]byte(got)) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestAMarshalLogThatLogsItselfEnds(t *testing.T) {
	l, b := newLogger()
	l.Info("outer", "v", endless{l})
	if got := take(b); !strings.Contains(got, `"message":"outer"`) || !strings.Contains(got, "!ERROR: logging leads to itself") {
		t.Errorf("got %s, want the outer line, and an error in the innermost", got)
	}
}

func TestValuesBelongToTheirLoggerAlone(t *testing.T) {
	l, b := newLogger()
	first := l.WithValues("firstKey", 1)
	second, third := first.WithValues("secondKey", 2), first.WithValues("secondKey", 3)
	for l, want := range map[logr.Logger]string{first: `"firstKey":1`, second: `"firstKey":1,"secondKey":2`, third: `"firstKey":1,"secondKey":3`} {
		l.Info("m")
		check(t, "values", b, `{"level":"info",`+want+`,"message":"m"}`+"\n")
	}
}

// klog.Infof and similar functions pass messages with their newline.
func TestMessagesLoseTheNewlineOfKlog(t *testing.T) {
	l, b := newLogger()
	l.Info("a\nb\n")
	check(t, "a newline at the end", b, `{"level":"info","message":"a\nb"}`+"\n")
}

func TestNilLoggerDiscards(t *testing.T) {
	l := niblogr.New(nil).WithName("n").WithValues("a", 1).WithCallDepth(1)
	l.Info("m")
	l.Error(errors.New("e"), "m", "a", panicking{})
	if l.Enabled() {
		t.Error("got enabled, want a Logger that discards")
	}
}

func TestSlogHandlerPassesSlogtest(t *testing.T) {
	var b bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		l := nib.New(&b, nib.WithLayout(nib.Layout{TimeKey: "time", MessageKey: "msg"}))
		return logr.ToSlogHandler(niblogr.New(l))
	}, func(t *testing.T) map[string]any {
		m := map[string]any{}
		must.Succeed(t, json.Unmarshal(b.Bytes(), &m))
		return m
	})
}

// A worseKey panics with a value that panics.
type worseKey string

func (worseKey) String() string { panic(stringer{func() string { panic("again") }}) }

func TestAKeyThatPanicsTwiceIsItsType(t *testing.T) {
	l, b := newLogger()
	l.WithValues(worseKey("a"), 1).Info("m", worseKey("b"), 2)
	check(t, "keys", b, `{"level":"info","niblogr_test.worseKey":1,"niblogr_test.worseKey":2,"message":"m"}`+"\n")
}

// logr asks whether V(0) is enabled before it passes a warning.
func TestWarningsOfSlogAreWrittenWhenInfoIsDisabled(t *testing.T) {
	for _, level := range []nib.Level{nib.LevelInfo, nib.LevelWarn, nib.LevelWarn + 2, nib.LevelError, nib.LevelFatal} {
		var rec nibtest.Recorder
		l := niblogr.New(nib.NewSink(&rec, nib.WithLevel(level)))
		h := slog.New(logr.ToSlogHandler(l))
		var want []nib.Level
		for _, at := range []nib.Level{nib.LevelInfo, nib.LevelWarn, nib.LevelWarn + 2, nib.LevelError} {
			h.Log(t.Context(), slog.Level(at), "m")
			if at >= level || at == nib.LevelError {
				want = append(want, at)
			}
		}
		l.Info("m")
		if level <= nib.LevelInfo {
			want = append(want, nib.LevelInfo)
		}
		var got []nib.Level
		for _, r := range rec.Records() {
			got = append(got, r.Level)
		}
		if !slices.Equal(got, want) {
			t.Errorf("level %v: got lines of %v, want %v", level, got, want)
		}
	}
}

func TestSlogLinesHaveTheFieldsOfTheirContext(t *testing.T) {
	l, b := newLogger()
	ctx := nib.NewContext(context.Background(), nib.New(b, bare).With(func(e *nib.Event) { e.Str("request_id", "r1") }))
	slog.New(logr.ToSlogHandler(l.V(1))).ErrorContext(ctx, "m")
	check(t, "request id", b, `{"level":"error","request_id":"r1","message":"m"}`+"\n")
}

// A leaving key ends the goroutine that asks for its text.
type leaving int

func (leaving) String() string { runtime.Goexit(); return "" }

// A line whose key ends the goroutine is lost, and counted.
func TestLineOfAKeyThatEndsTheGoroutineIsCounted(t *testing.T) {
	for name, log := range map[string]func(l logr.Logger){
		"a key":      func(l logr.Logger) { l.Info("m", "a", 1, leaving(1), 2) },
		"no value":   func(l logr.Logger) { l.Info("m", leaving(1)) },
		"Error":      func(l logr.Logger) { l.Error(nil, "m", leaving(1), 2) },
		"V":          func(l logr.Logger) { l.V(0).Info("m", leaving(1), 2) },
		"WithValues": func(l logr.Logger) { l.WithValues(leaving(1), 2).Info("m") },
	} {
		var b bytes.Buffer
		to := nib.New(&b, bare)
		done := make(chan struct{})
		go func() {
			defer close(done)
			log(niblogr.New(to))
		}()
		<-done
		niblogr.New(to).Info("after")
		if got := to.Stats().Aborted; b.String() != `{"level":"info","message":"after"}`+"\n" || got != 1 && name != "WithValues" {
			t.Errorf("%s: got %s and %d aborted lines", name, b.String(), got)
		}
	}
}

// A stack begins where the program logs, not in logr.
func TestStacksBeginInTheCaller(t *testing.T) {
	var rec nibtest.Recorder
	l := niblogr.New(nib.NewSink(&rec, nib.WithStack(nib.LevelInfo)))
	l.Error(errors.New("e"), "m1")
	l.WithName("n").WithValues("a", 1).Info("m2")
	const want = "github.com/nib-log/nib/bridge/niblogr_test.TestStacksBeginInTheCaller\n"
	for _, message := range []string{"m1", "m2"} {
		if got, _ := rec.Find(message)["stack"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q first", message, got, want)
		}
	}
}
