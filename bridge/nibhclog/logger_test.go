// SPDX-License-Identifier: Apache-2.0

package nibhclog_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibhclog"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/nibtest"
)

func newLogger(opts ...nib.Option) (hclog.Logger, *bytes.Buffer) {
	var b bytes.Buffer
	bare := nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey})
	return nibhclog.New(nib.New(&b, append([]nib.Option{bare}, opts...)...)), &b
}

func check(t *testing.T, what string, b *bytes.Buffer, want string) {
	t.Helper()
	if got := b.String(); got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
	b.Reset()
}

func here() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf(`"caller":"nibhclog/logger_test.go:%d"`, line)
}

func TestCallerIsTheCallSite(t *testing.T) {
	l, b := newLogger(nib.WithCaller(), nib.WithLevel(nib.LevelTrace))
	for name, call := range map[string]func() string{
		"Log":      func() string { l.Log(hclog.Warn, "m"); return here() },
		"Trace":    func() string { l.Trace("m"); return here() },
		"Debug":    func() string { l.Debug("m"); return here() },
		"Info":     func() string { l.Info("m"); return here() },
		"Warn":     func() string { l.Warn("m"); return here() },
		"Error":    func() string { l.Error("m"); return here() },
		"derived":  func() string { l.With("a", 1).Named("n").Info("m"); return here() },
		"std":      func() string { l.StandardLogger(nil).Print("m"); return here() },
		"deferred": func() (s string) { defer func() { l.Info("m"); s = here() }(); return },
		"infer": func() string {
			l.StandardLogger(&hclog.StandardLoggerOptions{InferLevels: true}).Printf("[WARN] %d", 1)
			_, _, line, _ := runtime.Caller(0)
			return fmt.Sprintf("logger_test.go:%d", line-1)
		},
	} {
		want := call()
		usercode.Idle()
		if got := b.String(); !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		b.Reset()
	}
}

func TestLevels(t *testing.T) {
	for h, want := range map[hclog.Level]nib.Level{hclog.Trace: nib.LevelTrace, hclog.Debug: nib.LevelDebug, hclog.Info: nib.LevelInfo,
		hclog.Warn: nib.LevelWarn, hclog.Error: nib.LevelError, hclog.Off: nib.LevelError} {
		if got := nibhclog.LevelOf(h); got != want {
			t.Errorf("%v: got %v, want %v", h, got, want)
		}
	}
	rules, err := nib.ParseRules("warn,raft=debug")
	must.Succeed(t, err)
	l, b := newLogger(nib.WithRules(rules))
	raft := l.Named("raft").With("a", 1)
	if got := [...]hclog.Level{l.GetLevel(), raft.GetLevel()}; got != [...]hclog.Level{hclog.Warn, hclog.Debug} {
		t.Errorf("GetLevel: got %v, want warn and debug", got)
	}
	l.Info("off")
	raft.Debug("on")
	check(t, "by rules", b, `{"level":"debug","logger":"raft","a":1,"message":"on"}`+"\n")
	l.SetLevel(hclog.Trace)
	raft.Trace("on")
	check(t, "SetLevel lowers the level of all", b, `{"level":"trace","logger":"raft","a":1,"message":"on"}`+"\n")
	raft.SetLevel(hclog.Off)
	l.Error("off")
	raft.SetLevel(hclog.NoLevel)
	must.Succeed(t, rules.Set("error"))
	raft.Warn("off")
	raft.Error("on")
	check(t, "the rules again", b, `{"level":"error","logger":"raft","a":1,"message":"on"}`+"\n")
}

type failing struct{}

func (failing) Error() string { panic("boom") }

type named struct{ name string }

func TestValuesThatFailCostNoLine(t *testing.T) {
	l, b := newLogger()
	l.Info("m", "c", make(chan int), "e", failing{}, "f", hclog.Fmt("%d%s", 1, "x"), named{"n"}, 1, "nil", nil, "s", hclog.Stacktrace()[:0])
	check(t, "values", b, `{"level":"info","c":"!ERROR: json: unsupported type: chan int","e":"!PANIC: boom","f":"1x",`+
		`"nibhclog_test.named":1,"nil":null,"s":"","message":"m"}`+"\n")
	l.With(named{"n"}, 1, "odd").Info("m", hclog.CapturedStacktrace("main.main"))
	check(t, "odd numbers", b, `{"level":"info","nibhclog_test.named":1,"EXTRA_VALUE_AT_END":"odd","stacktrace":"main.main","message":"m"}`+"\n")
	l.Info("m", "e", (*nilText)(nil))
	check(t, "a nil error with a text", b, `{"level":"info","e":null,"message":"m"}`+"\n")
	l.Info("m", "f", hclog.Format{}, "g", hclog.Format{1, 2})
	check(t, "formats", b, `{"level":"info","f":"","g":"1 2","message":"m"}`+"\n")
}

// A worseKey panics with a value that panics.
type worseKey string

func (worseKey) String() string { panic(failing{}) }

func TestAKeyThatPanicsTwiceIsItsType(t *testing.T) {
	l, b := newLogger()
	l.With(worseKey("a"), 1).Info("m", worseKey("b"), 2)
	check(t, "keys", b, `{"level":"info","nibhclog_test.worseKey":1,"nibhclog_test.worseKey":2,"message":"m"}`+"\n")
}

func TestArgumentsOfWithReplaceEarlierOnes(t *testing.T) {
	l, b := newLogger()
	l.With("b", 1, "a", 2).With("b", 3).Info("m", "c", 4)
	check(t, "sorted", b, `{"level":"info","a":2,"b":3,"c":4,"message":"m"}`+"\n")
	got, want := l.With("b", 1, "a", 2).With("b", 3, "x").ImpliedArgs(), []any{"a", 2, "b", 3, hclog.MissingKey, "x"}
	if !slices.Equal(got, want) {
		t.Errorf("ImpliedArgs: got %v, want %v", got, want)
	}
}

func TestStandardWriterStripsLevels(t *testing.T) {
	force := &hclog.StandardLoggerOptions{ForceLevel: hclog.Error}
	infer := &hclog.StandardLoggerOptions{InferLevels: true}
	stamp := &hclog.StandardLoggerOptions{InferLevels: true, InferLevelsWithTimestamp: true}
	for _, tt := range []struct {
		opts       *hclog.StandardLoggerOptions
		text       string
		level, msg string
	}{
		{nil, "[WARN] m \n", "info", "[WARN] m"},
		{infer, "[WARN] m\n", "warn", "m"},
		{infer, "[ERR] m", "error", "m"},
		{infer, "2026/01/02 [ERROR] m", "info", "2026/01/02 [ERROR] m"},
		{stamp, "2026/01/02 15:04:05 [ERROR]  m", "error", "m"},
		{force, "[DEBUG] m", "error", "m"},
		{infer, "[DEBUG] m", "", ""},
	} {
		l, b := newLogger()
		n, err := l.StandardWriter(tt.opts).Write([]byte(tt.text))
		usercode.Idle()
		if n != len(tt.text) || err != nil {
			t.Errorf("%q: got %d, %v", tt.text, n, err)
		}
		want := fmt.Sprintf(`{"level":%q,"message":%q}`+"\n", tt.level, tt.msg)
		if tt.level == "" {
			want = ""
		}
		check(t, tt.text, b, want)
	}
}

// The program may end after such a line.
func TestTheLastLineOfPackageLogIsWrittenAtEveryLevel(t *testing.T) {
	l, b := newLogger(nib.WithLevel(nib.LevelFatal + 1))
	for _, level := range []hclog.Level{hclog.NoLevel, hclog.Off} {
		l.SetLevel(level)
		std := l.StandardLogger(nil)
		std.Print("off")
		func() {
			defer func() { _ = recover() }()
			std.Panic("boom")
		}()
		check(t, level.String(), b, `{"level":"panic","message":"boom"}`+"\n")
	}
}

type nilText struct{}

func (*nilText) Error() string                { panic("called") }
func (*nilText) MarshalText() ([]byte, error) { panic("called") }

func TestNilLoggerDiscards(t *testing.T) {
	l := nibhclog.New(nil).Named("n").With("a", 1)
	l.Error("m", "e", errors.New("gone"))
	if l.IsError() || l.GetLevel() != hclog.Off {
		t.Errorf("got level %v, want off", l.GetLevel())
	}
	l.SetLevel(hclog.Trace)
	l.StandardLogger(nil).Print("m")
	l.Error("m", "e", errors.New("gone"))
}

// A leaving key ends the goroutine that asks for its text.
type leaving int

func (leaving) String() string { runtime.Goexit(); return "" }

// A line whose key ends the goroutine is lost, and counted.
func TestLineOfAKeyThatEndsTheGoroutineIsCounted(t *testing.T) {
	for name, log := range map[string]func(l hclog.Logger){
		"Info":  func(l hclog.Logger) { l.Info("m", "a", 1, leaving(1), 2) },
		"Error": func(l hclog.Logger) { l.Error("m", leaving(1), 2) },
		"Log":   func(l hclog.Logger) { l.Log(hclog.Warn, "m", leaving(1), 2) },
		"With":  func(l hclog.Logger) { l.With(leaving(1), 2).Info("m") },
	} {
		var b bytes.Buffer
		to := nib.New(&b, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
		done := make(chan struct{})
		go func() {
			defer close(done)
			log(nibhclog.New(to))
		}()
		<-done
		nibhclog.New(to).Info("after")
		if got := to.Stats().Aborted; b.String() != `{"level":"info","message":"after"}`+"\n" || got != 1 && name != "With" {
			t.Errorf("%s: got %s and %d aborted lines", name, b.String(), got)
		}
	}
}

// A stack begins where the program logs, not in hclog.
func TestStacksBeginInTheCaller(t *testing.T) {
	var rec nibtest.Recorder
	l := nibhclog.New(nib.NewSink(&rec, nib.WithStack(nib.LevelInfo)))
	l.Error("m1")
	l.Named("n").With("a", 1).Info("m2")
	l.StandardLogger(nil).Print("m3")
	usercode.Idle()
	const want = "github.com/nib-log/nib/bridge/nibhclog_test.TestStacksBeginInTheCaller\n"
	for _, message := range []string{"m1", "m2", "m3"} {
		if got, _ := rec.Find(message)["stack"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q first", message, got, want)
		}
	}
}
