// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// here returns the line of its caller as the caller field shows it.
func here(offset int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line+offset)
}

//go:noinline
func wrapped(l *nib.Logger, skip int) { l.Info().CallerSkipFrame(skip).Msg("m") }

func inlinable(l *nib.Logger) { l.Info().CallerSkipFrame(1).Msg("m") }

//go:noinline
func twice(l *nib.Logger) { wrapped(l, 2) }

//go:noinline
func frontEnd(l *nib.Logger, depth int) { l.AtDepth(nib.LevelInfo, depth).Msg("m") }

func libraryOf(l *nib.Logger) { frontEnd(l, 2) }

type leveled interface{ Info() *nib.Event }

func TestCallerIsTheCallSite(t *testing.T) {
	l, c := newCapture(t, nib.WithCaller())
	plain, p := newCapture(t)
	old := nib.Default()
	defer nib.SetDefault(old)
	nib.SetDefault(l)
	for name, log := range map[string]func() string{
		"Info":      func() string { l.Info().Msg("m"); return here(0) },
		"Trace":     func() string { l.Trace().Msg("m"); return here(0) },
		"Debug":     func() string { l.Debug().Msg("m"); return here(0) },
		"Warn":      func() string { l.Warn().Msg("m"); return here(0) },
		"Error":     func() string { l.Error().Msg("m"); return here(0) },
		"At":        func() string { l.At(3).Msg("m"); return here(0) },
		"Log":       func() string { l.Log().Msg("m"); return here(0) },
		"AtDepth 0": func() string { l.AtDepth(0, 0).Msg("m"); return here(0) },
		"AtDepth 1": func() string { frontEnd(l, 1); return here(0) },
		"AtDepth 2": func() string { libraryOf(l); return here(0) },
		"Panic":     func() (s string) { defer func() { _ = recover() }(); s = here(1); l.Panic().Msg("m"); return s },
		"LogAttrs":  func() string { l.LogAttrs(context.Background(), 0, "m"); return here(0) },
		"default":   func() string { nib.Info().Msg("m"); return here(0) },
		"default w": func() string { nib.Warn().Msg("m"); return here(0) },
		"child":     func() string { l.Named("n").WithGroup("g").Info().Int("a", 1).Msg("m"); return here(0) },
		"method":    func() string { f := l.Info; f().Msg("m"); return here(0) },
		"interface": func() string { var i leveled = l; i.Info().Msg("m"); return here(0) },
		"skip 0":    func() string { l.Info().CallerSkipFrame(0).Msg("m"); return here(0) },
		"skip 1":    func() string { wrapped(l, 1); return here(0) },
		"skip 2":    func() string { twice(l); return here(0) },
		"inlined":   func() string { inlinable(l); return here(0) },
		"fields":    func() string { l.Info().Str("a", "b").CallerSkipFrame(0).Int("c", 1).Msg("m"); return here(0) },
		"Caller":    func() string { plain.Info().Str("a", "b").Caller().Caller().Msg("m"); return here(0) },
		"Caller +1": func() string { plain.Info().Caller().CallerSkipFrame(0).Msg("m"); return here(0) },
		"skip, off": func() string { wrapped(plain, 1); return here(0) },
		"Func":      func() string { s := here(0); l.Info().Func(func(e *nib.Event) { e.Int("a", 1) }).Msg("m"); return s },
		"deferred":  func() (s string) { defer func() { l.Info().Msg("m"); s = here(0) }(); return },
	} {
		want := log()
		lines := append(c.take(), p.take()...)
		if len(lines) != 1 {
			t.Errorf("%s: got %d lines", name, len(lines))
			continue
		}
		got := lines[0].get("caller")
		if name == "Panic" { // its result is lost with the panic
			want = got.text
		}
		if got == nil || !strings.HasSuffix(got.text, want) || !strings.Contains(got.text, "/caller_test.go:") {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// The caller is at the front; text of another length must move the rest.
func TestCallerSkipFrameInEveryLayout(t *testing.T) {
	for _, first := range []bool{false, true} {
		for _, opts := range [][]nib.Option{{}, {nib.WithCaller()}} {
			l, c := newCapture(t, append(opts, nib.WithLayout(nib.Layout{MessageFirst: first, Caller: func(e *nib.Event, key string, f runtime.Frame) {
				e.Str(key, strings.Repeat("x", f.Line%7*10)).Int("line", f.Line)
			}}))...)
			for _, k := range []*nib.Logger{l, l.Named("n"), l.WithGroup("g"), child(l.WithGroup("g"), 5, "x").WithGroup("h")} {
				for skip := range 4 {
					twiceOver(k, skip)
					k.Entry(nib.Entry{Message: "m"}).Int("n", 1).Caller().CallerSkipFrame(skip).Int("o", 2).Send()
				}
				for _, line := range c.take() {
					if line.get("message").String() != `"m"` || !strings.Contains(line.String(), `"n":1`) || !strings.Contains(line.String(), `"o":2`) {
						t.Errorf("first %v\n got %s", first, line)
					}
				}
			}
		}
	}
}

//go:noinline
func twiceOver(l *nib.Logger, skip int) {
	l.Info().Int("n", 1).CallerSkipFrame(skip).Dict("d", func(e *nib.Event) { e.CallerSkipFrame(1).Int("x", 1) }).
		CallerSkipFrame(skip+1).Int("o", 2).Func(func(e *nib.Event) { e.CallerSkipFrame(0) }).Msg("m")
}

func TestCallerKeyAndText(t *testing.T) {
	calls := 0
	l, c := newCapture(t, nib.WithCaller(), nib.WithLayout(nib.Layout{CallerKey: "src", Caller: func(e *nib.Event, key string, f runtime.Frame) {
		calls++
		e.Str(key, fmt.Sprint(strings.HasSuffix(f.Function, "TestCallerKeyAndText")))
	}}))
	calls = 0 // without the call of New
	for range 10 {
		l.Info().Msg("m")
	}
	for _, line := range c.take() {
		if line.get("src").String() != `"true"` {
			t.Errorf("got %s", line)
		}
	}
	if calls != 1 {
		t.Errorf("Layout.Caller was called %d times for one call site", calls)
	}
}

//go:noinline
func stackOf(e *nib.Event) *nib.Event { return e.Stack() }

func TestStack(t *testing.T) {
	l, c := newCapture(t)
	stackOf(l.Info()).Stack().Msg("m")
	got := strings.Split(c.one().get("stack").text, "\n")
	if len(got) < 4 || !strings.HasSuffix(got[0], ".stackOf") || !strings.Contains(got[1], "caller_test.go:") || !strings.HasPrefix(got[1], "\t") ||
		!strings.HasSuffix(got[2], ".TestStack") {
		t.Errorf("got %q", got)
	}
	for _, line := range got {
		if strings.Contains(line, "nib-log/nib.") {
			t.Errorf("nib's own frame is shown: %q", line)
		}
	}
}

func TestWithStackFromALevel(t *testing.T) {
	l, c := newCapture(t, nib.WithStack(nib.LevelError))
	for name, log := range map[string]func(e *nib.Event){
		"Msg": func(e *nib.Event) { e.Msg("m") }, "Msgf": func(e *nib.Event) { e.Msgf("%d", 1) }, "Send": func(e *nib.Event) { e.Send() },
		"MsgFunc": func(e *nib.Event) { e.MsgFunc(func() string { return "m" }) },
	} {
		log(l.Error())
		log(l.At(nib.LevelError + 1))
		log(l.Warn())
		lines := c.take()
		for i, want := range []bool{true, true, false} {
			stack := lines[i].get("stack")
			if (stack != nil) != want || want && !strings.Contains(stack.text, "TestWithStackFromALevel") {
				t.Errorf("%s, line %d\n got %s", name, i, lines[i])
			}
		}
	}
	l.LogAttrs(context.Background(), nib.LevelError, "m")
	if c.one().get("stack") == nil {
		t.Error("LogAttrs has no stack")
	}
	l.WithGroup("g").WithGroup("h").Error().Msg("m")
	if line := c.one(); line.get("stack") == nil || line.get("g") != nil {
		t.Errorf("in a group\n got %s", line)
	}
}

func TestTimestampAddsAMissingTimeUnlessTheLayoutLeavesItOut(t *testing.T) {
	l, c := newCapture(t)
	for name, e := range map[string]*nib.Event{"line": l.Info(), "entry": l.Entry(nib.Entry{Message: "m"})} {
		e.Int("a", 1).Timestamp().Timestamp().Int("b", 2).Send()
		if line := c.one(); line.get("time").String() != `"2026-01-02T15:04:05.006Z"` || line.get("b") == nil {
			t.Errorf("%s: got %s", name, line)
		}
	}
	off, c := newCapture(t, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	off.Info().Timestamp().Str("time", "own").Timestamp().Send()
	if got, want := c.one().String(), `{"level":"info","time":"own"}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A number of frames below 0 or above the stack counts as 0, or there is no
// call site.
func TestCallSitesOutsideOfTheStack(t *testing.T) {
	l, c := newCapture(t)
	own, site := 0, ""
	for _, n := range []int{0, -1, -5, math.MinInt, 1 << 20, math.MaxInt - 2, math.MaxInt} {
		l.Info().CallerSkipFrame(n).Msg("m")
		l.WithOptions(nib.WithCaller()).AtDepth(nib.LevelInfo, n).Msg("m")
		for _, line := range c.take() {
			caller := ""
			if v := line.get("caller"); v != nil {
				caller = v.text
			}
			switch {
			case n == 0:
				own++
				file, _, _ := strings.Cut(caller, ":")
				if site = file; !strings.HasSuffix(file, "caller_test.go") {
					t.Errorf("0: got %s", line)
				}
			case !strings.HasPrefix(caller, site+":") && (n < 0 || caller != ""):
				t.Errorf("%d: got %s", n, line)
			}
		}
	}
	if own != 2 {
		t.Errorf("got %d call sites, want 2", own)
	}
}
