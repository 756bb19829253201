// SPDX-License-Identifier: Apache-2.0

package nibzap_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibzap"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

var bare = nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})

func newLogger(opts ...nib.Option) (*nib.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	return nib.New(&b, append([]nib.Option{bare}, opts...)...), &b
}

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

func here() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf(`"caller":"nibzap/core_test.go:%d"`, line)
}

//go:noinline
func helper(l *zap.Logger) { l.WithOptions(zap.AddCallerSkip(1)).Info("m") }

func TestCallerIsTheCallSite(t *testing.T) {
	l, b := newLogger()
	z := zap.New(nibzap.NewCore(l), zap.AddCaller())
	s := z.Sugar()
	for name, call := range map[string]func() string{
		"Info":   func() string { z.Info("m"); return here() },
		"With":   func() string { z.With(zap.Int("a", 1)).Named("n").Error("m"); return here() },
		"Check":  func() string { z.Check(zap.InfoLevel, "m").Write(); return here() },
		"skip":   func() string { helper(z); return here() },
		"Infow":  func() string { s.Infow("m", "a", 1); return here() },
		"Infof":  func() string { s.Infof("m %d", 1); return here() },
		"Infoln": func() string { s.Infoln("m"); return here() },
		"Log":    func() string { z.Log(zap.WarnLevel, "m"); return here() },
		"std":    func() string { zap.NewStdLog(z).Print("m"); return here() },
		"tee":    func() string { zap.New(zapcore.NewTee(z.Core()), zap.AddCaller()).Info("m"); return here() },
		"lazy":   func() string { z.WithLazy(zap.Int("a", 1)).Info("m"); return here() },
	} {
		want := call()
		if got := take(b); !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	zap.New(nibzap.NewCore(l)).Info("m")
	check(t, "without AddCaller", b, `{"level":"info","message":"m"}`+"\n")
}

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
	l, b := newLogger()
	z := zap.New(nibzap.NewCore(l), zap.AddCaller())
	for depth := range 16 {
		skipping := z.WithOptions(zap.AddCallerSkip(depth + 2)) // the function itself, and the last below
		want := func() string { below(depth, func() { skipping.Info("m") }); return here() }()
		if got := take(b); !strings.Contains(got, want) {
			t.Errorf("%d calls below:\n got %s\nwant %s", depth, got, want)
		}
	}
}

func TestACallSiteThatTheProgramSetsIsFields(t *testing.T) {
	l, b := newLogger()
	ent := zapcore.Entry{Message: "m", Caller: zapcore.EntryCaller{Defined: true, File: "a.go", Line: 3, Function: "f"}}
	_ = nibzap.NewCore(l).Write(ent, nil)
	check(t, "without a program counter", b, `{"level":"info","function":"f","file":"a.go:3","message":"m"}`+"\n")
}

func TestLevels(t *testing.T) {
	var level nib.LevelVar
	l, b := newLogger(nib.WithLevel(&level))
	c := nibzap.NewCore(l)
	for z, want := range map[zapcore.Level]nib.Level{-3: -12, zap.DebugLevel: nib.LevelDebug, zap.InfoLevel: nib.LevelInfo, zap.WarnLevel: nib.LevelWarn,
		zap.ErrorLevel: nib.LevelError, zap.DPanicLevel: nib.LevelError + 2, zap.PanicLevel: nib.LevelPanic, zap.FatalLevel: nib.LevelFatal} {
		if got := nibzap.LevelOf(z); got != want {
			t.Errorf("%v: got %v, want %v", z, got, want)
		}
		for _, at := range []nib.Level{nib.LevelTrace, nib.LevelInfo, nib.LevelError, nib.LevelFatal} {
			level.Set(at)
			ce := c.Check(zapcore.Entry{Level: z, Message: "m"}, nil)
			if got, want := c.Enabled(z), want >= at; got != want || (ce != nil) != want {
				t.Errorf("%v at %v: got enabled %v, checked %v, want %v", z, at, got, ce != nil, want)
			}
		}
	}
	if b.Len() > 0 {
		t.Errorf("Check wrote %s", b)
	}
	if got := zapcore.LevelOf(c); got != zap.FatalLevel {
		t.Errorf("LevelOf: got %v, want fatal", got)
	}
}

func TestRulesRaiseTheLevelOfNamesWhileInUse(t *testing.T) {
	rules, err := nib.ParseRules("debug")
	must.Succeed(t, err)
	l, b := newLogger(nib.WithRules(rules))
	db := zap.New(nibzap.NewCore(l)).Named("db").With(zap.Int("a", 1)).Named("pool")
	db.Debug("on")
	check(t, "debug", b, `{"level":"debug","logger":"db.pool","a":1,"message":"on"}`+"\n")
	must.Succeed(t, rules.Set("debug,db=warn"))
	db.Debug("off")
	check(t, "warn", b, "")
}

// zap compares the level of a core before it knows the name.
func TestRulesLowerTheLevelOfNamesWhileInUse(t *testing.T) {
	rules, err := nib.ParseRules("warn")
	must.Succeed(t, err)
	l, b := newLogger(nib.WithRules(rules))
	root := zap.New(nibzap.NewCore(l))
	db := root.Named("db").With(zap.Int("a", 1)).Named("pool")
	db.Debug("off")
	if root.Core().Enabled(zap.DebugLevel) {
		t.Error("debug is enabled without a rule for it")
	}
	must.Succeed(t, rules.Set("warn,db=debug,http.*=trace"))
	db.Debug("on")
	root.Info("off")
	root.Named("http").Info("off")
	root.Named("http").Named("client").Log(-2, "on")
	check(t, "debug", b, `{"level":"debug","logger":"db.pool","a":1,"message":"on"}`+"\n"+
		`{"level":"trace","logger":"http.client","message":"on"}`+"\n")
	must.Succeed(t, rules.Set("error"))
	if root.Core().Enabled(zap.DebugLevel) || root.Core().With(nil).Enabled(zap.WarnLevel) {
		t.Error("a level is enabled that no rule enables any more")
	}
}

// Others lose the fields of the call (airbrake/gobrake#391).
func TestFieldsOfWithAndOfTheCallAreAllWritten(t *testing.T) {
	l, b := newLogger()
	z := zap.New(nibzap.NewCore(l))
	z.With(zap.Int("a", 1), zap.Namespace("n"), zap.Int("b", 2)).With(zap.Int("c", 3), zap.Namespace("m")).
		Info("x", zap.Int("d", 4), zap.Namespace("o"), zap.Int("e", 5))
	check(t, "namespaces", b, `{"level":"info","a":1,"n":{"b":2,"c":3,"m":{"d":4,"o":{"e":5}}},"message":"x"}`+"\n")
	inline := zapcore.ObjectMarshalerFunc(func(enc zapcore.ObjectEncoder) error {
		enc.AddInt("a", 1)
		enc.OpenNamespace("n")
		enc.AddInt("b", 2)
		return nil
	})
	z.With(zap.Inline(inline), zap.Int("c", 3)).Info("x", zap.Inline(inline), zap.Int("d", 4))
	check(t, "namespaces of marshalers", b, `{"level":"info","a":1,"n":{"b":2,"c":3,"a":1,"n":{"b":2,"d":4}},"message":"x"}`+"\n")
}

func TestNamespacesOfMarshalersHoldValuesOfEveryKind(t *testing.T) {
	l, b := newLogger()
	none := zapcore.ArrayMarshalerFunc(func(zapcore.ArrayEncoder) error { return nil })
	list := zapcore.ArrayMarshalerFunc(func(enc zapcore.ArrayEncoder) error {
		enc.AppendComplex64(2 - 1i)
		return enc.AppendArray(none)
	})
	zap.New(nibzap.NewCore(l)).Info("m", zap.Object("o", zapcore.ObjectMarshalerFunc(func(enc zapcore.ObjectEncoder) error {
		enc.OpenNamespace("n")
		enc.AddComplex128("c", 1+2i)
		enc.AddBinary("b", []byte("abc"))
		_ = enc.AddArray("l", list)
		return enc.AddArray("e", none)
	})))
	check(t, "values", b, `{"level":"info","o":{"n":{"b":"YWJj","c":"1+2i","e":[],"l":["2-1i",[]]}},"message":"m"}`+"\n")
}

// A core that embeds another one and overrides Write alone is not called
// (einride/cloudrunner-go#47): wrappers of this core must keep working.
func TestCoresThatWrapThisOneAreCalled(t *testing.T) {
	l, b := newLogger()
	hooked := 0
	c := zapcore.RegisterHooks(nibzap.NewCore(l), func(zapcore.Entry) error { hooked++; return nil })
	up, err := zapcore.NewIncreaseLevelCore(c, zap.WarnLevel)
	must.Succeed(t, err)
	z := zap.New(zapcore.NewTee(up, zapcore.NewNopCore())).With(zap.Int("a", 1))
	z.Info("off")
	z.Warn("on")
	check(t, "wrapped", b, `{"level":"warn","a":1,"message":"on"}`+"\n")
	if hooked != 1 {
		t.Errorf("got %d calls of the hook, want 1", hooked)
	}
}

// zap renames the key of a value that fails to the key and "Error", and panics
// with marshalers that do.
func TestAValueThatFailsKeepsItsKey(t *testing.T) {
	l, b := newLogger()
	z := zap.New(nibzap.NewCore(l))
	boom := zapcore.ObjectMarshalerFunc(func(zapcore.ObjectEncoder) error { panic("boom") })
	booms := zapcore.ArrayMarshalerFunc(func(zapcore.ArrayEncoder) error { panic("boom") })
	z.Info("m", zap.Stringer("s", panics{}), zap.Object("o", boom), zap.Array("l", booms), zap.Reflect("c", make(chan int)), zap.Int("a", 1))
	check(t, "failing values", b, `{"level":"info","s":"!PANIC: boom","o":"!PANIC: boom","l":"!PANIC: boom",`+
		`"c":"!ERROR: json: unsupported type: chan int","a":1,"message":"m"}`+"\n")
	z.Info("m", zapcore.Field{Key: "k"}, zapcore.Field{Key: "s", Type: zapcore.StringerType, Interface: 7},
		zapcore.Field{Key: "i", Type: zapcore.InlineMarshalerType, Interface: 8})
	check(t, "fields that are not what they say", b, `{"level":"info","k":null,"s":7,"i":8,"message":"m"}`+"\n")
}

func TestATimeAsAStringerIsItsText(t *testing.T) {
	l, b := newLogger()
	zap.New(nibzap.NewCore(l)).Info("m", zap.Stringer("s", time.Unix(0, 5).UTC()), zap.Time("t", time.Unix(0, 5).UTC()))
	check(t, "times", b, `{"level":"info","s":"1970-01-01 00:00:00.000000005 +0000 UTC","t":"1970-01-01T00:00:00.000Z","message":"m"}`+"\n")
}

func TestStackHasTheKeyOfTheLayout(t *testing.T) {
	l, b := newLogger()
	zap.New(nibzap.NewCore(l), zap.AddStacktrace(zap.ErrorLevel)).With(zap.Namespace("n")).Error("m", zap.Int("a", 1))
	var line struct {
		Stack string
		N     struct{ A int }
	}
	if err := json.Unmarshal(b.Bytes(), &line); err != nil || !strings.Contains(line.Stack, "TestStackHasTheKeyOfTheLayout") || line.N.A != 1 {
		t.Errorf("got %s, %v", b, err)
	}
}

func TestSyncFlushes(t *testing.T) {
	var f recordtest.Recorder
	f.FailWith(errors.New("full"))
	failed := 0
	c := nibzap.NewCore(nib.NewSink(&f, nib.WithErrorHandler(func(error) { failed++ })))
	if err := c.Sync(); err == nil || f.Flushes() != 1 {
		t.Errorf("got %v and %d flushes, want an error and 1", err, f.Flushes())
	}
	z := zap.New(c)
	z.Error("m")
	z.DPanic("m")
	if f.Flushes() != 2 || failed != 2 {
		t.Errorf("got %d flushes and %d errors, want 2, for the line above error, and 2",
			f.Flushes(), failed)
	}
}

func TestNilLoggerDiscards(t *testing.T) {
	c := nibzap.NewCore(nil).With([]zapcore.Field{zap.Int("a", 1), zap.Namespace("n")})
	if c.Enabled(zap.FatalLevel) || c.Write(zapcore.Entry{LoggerName: "n"}, []zapcore.Field{zap.Int("a", 1)}) != nil || c.Sync() != nil {
		t.Error("got a core that does something, want a core that discards")
	}
}

// A program may make a name for each request: some are kept, and the others
// cost nothing afterwards.
func TestNamesTakeBoundedMemory(t *testing.T) {
	rules, err := nib.ParseRules("info,db=debug")
	must.Succeed(t, err)
	l := zap.New(nibzap.NewCore(nib.New(io.Discard, nib.WithRules(rules))))
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 20_000 {
		l.Named(strconv.Itoa(i)).Info("m")
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("20,000 names keep %d bytes", after-before)
	}
	runtime.KeepAlive(l)
}

func TestManyNamesAtOnce(t *testing.T) {
	l, b := newLogger()
	c := nibzap.NewCore(l)
	await.Goroutines(4, func(g int) {
		for i := range 500 {
			_ = c.Write(zapcore.Entry{LoggerName: fmt.Sprint("n", i), Message: "m"},
				[]zapcore.Field{zap.Int("g", g)})
		}
	})
	for i := range 500 {
		if got := strings.Count(b.String(), fmt.Sprintf(`"logger":"n%d"`, i)); got != 4 {
			t.Fatalf("name n%d: got %d lines, want 4", i, got)
		}
	}
}

type pointerStringer struct{ text string }

func (p *pointerStringer) String() string { return p.text }

type pointerObject struct{ n int }

func (p *pointerObject) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddInt("n", p.n)
	return nil
}

// A nil that a constructor of zap takes has one form in lines, whatever zap's
// own encoder does with it, which is often a panic.
func TestNilInFields(t *testing.T) {
	one := &pointerStringer{"one"}
	const none = nib.OmitKey
	layout := nib.Layout{TimeKey: none, LevelKey: none, MessageKey: none}
	for want, fields := range map[string][]zap.Field{
		``: {zap.Inline(nil), zap.Error(nil), zap.NamedError("k", nil), zap.Skip()},
		`"k":null`: {
			zap.Stringer("k", nil), zap.Stringer("k", (*pointerStringer)(nil)),
			zap.Object("k", nil),
			zap.Array("k", nil), zap.Any("k", nil), zap.Any("k", (*pointerStringer)(nil)),
			zap.Reflect("k", nil), zap.Boolp("k", nil), zap.Timep("k", nil), zap.Stringp("k", nil),
			zap.Intp("k", nil), zap.Durationp("k", nil), zap.Float64p("k", nil),
		},
		`"k":[]`: {
			zap.Stringers[fmt.Stringer]("k", nil), zap.Strings("k", nil), zap.Errors("k", nil),
			zap.Objects[*pointerObject]("k", nil), zap.Times("k", nil), zap.ByteStrings("k", nil),
		},
		`"k":[null]`: {
			zap.Stringers("k", []fmt.Stringer{nil}), zap.Stringers("k", []*pointerStringer{nil}),
			zap.Stringers("k", []fmt.Stringer{(*pointerStringer)(nil)}),
		},
		`"k":["one",null,"one"]`: {zap.Stringers("k", []*pointerStringer{one, nil, one})},
		`"k":{}`:                 {zap.Dict("k")},
	} {
		for _, f := range fields {
			var b bytes.Buffer
			zap.New(nibzap.NewCore(nib.New(&b, nib.WithLayout(layout)))).Info("m", f)
			if got := b.String(); got != "{"+want+"}\n" {
				t.Errorf("%+v: got %s, want {%s}", f, got, want)
			}
		}
	}
}

// A stack begins where the program logs, not in zap.
func TestStacksBeginInTheCaller(t *testing.T) {
	var rec recordtest.Recorder
	l := zap.New(nibzap.NewCore(nib.NewSink(&rec, nib.WithStack(nib.LevelInfo))))
	l.Error("m1")
	l.Sugar().Errorw("m2", "a", 1)
	l.With(zap.Int("a", 1)).Info("m3")
	const want = "github.com/nib-log/nib/bridge/nibzap_test.TestStacksBeginInTheCaller\n"
	for _, message := range []string{"m1", "m2", "m3"} {
		if got, _ := rec.Find(message)["stack"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q first", message, got, want)
		}
	}
}
