// SPDX-License-Identifier: Apache-2.0

package nibtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibtest"
)

// A shownTB records the output that a test would show.
type shownTB struct {
	testing.TB
	out      bytes.Buffer
	failed   bool
	cleanups []func()
}

func (f *shownTB) Helper()                           {}
func (f *shownTB) Failed() bool                      { return f.failed }
func (f *shownTB) FailNow()                          { f.failed = true; runtime.Goexit() }
func (f *shownTB) Cleanup(c func())                  { f.cleanups = append(f.cleanups, c) }
func (f *shownTB) Output() io.Writer                 { return &f.out }
func (f *shownTB) Log(args ...any)                   { fmt.Fprintln(&f.out, args...) }
func (f *shownTB) Error(args ...any)                 { f.failed = true; f.Log(args...) }
func (f *shownTB) Context() context.Context          { return context.Background() }
func (f *shownTB) Logf(format string, args ...any)   { f.Log(fmt.Sprintf(format, args...)) }
func (f *shownTB) Errorf(format string, args ...any) { f.failed = true; f.Logf(format, args...) }

// end runs the cleanups as package testing does.
func (f *shownTB) end() {
	for len(f.cleanups) > 0 {
		last := f.cleanups[len(f.cleanups)-1]
		f.cleanups = f.cleanups[:len(f.cleanups)-1]
		last()
	}
}

func TestCaptureAssertsWhatWasLogged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		check  func(c *nibtest.Capture)
		failed string // in the output; "" if the test passes
	}{
		{"message", func(c *nibtest.Capture) { c.Want("placed") }, ""},
		{"fields", func(c *nibtest.Capture) { c.Want("placed", slog.Int("items", 3), slog.Any("err", errors.New("e"))) }, ""},
		{"nested", func(c *nibtest.Capture) { c.Want("placed", slog.Any("user", map[string]int{"id": 7})) }, ""},
		{"group", func(c *nibtest.Capture) { c.Want("placed", slog.Group("user", "id", 7)) }, ""},
		{"LogValuer", func(c *nibtest.Capture) { c.Want("placed", slog.Any("items", valued{3})) }, ""},
		{"null", func(c *nibtest.Capture) { c.Want("placed", slog.Any("owner", nil)) }, ""},
		{"no field that is null", func(c *nibtest.Capture) { c.Want("placed", slog.Any("none", nil)) }, `the fields [none=<nil>]`},
		{"another group", func(c *nibtest.Capture) { c.Want("placed", slog.Group("user", "id", 8)) }, `the fields`},
		{"another message", func(c *nibtest.Capture) { c.Want("lost") }, `no line has the message "lost"; got ["{`},
		{"another value", func(c *nibtest.Capture) { c.Want("placed", slog.Int("items", 4)) }, `the fields [items=4]`},
		{"no such field", func(c *nibtest.Capture) { c.Want("placed", slog.Int("none", 4)) }, `the fields [none=4]`},
		{"no value", func(c *nibtest.Capture) { c.Want("placed", slog.Any("items", func() {})) }, `the fields`},
		{"none", func(c *nibtest.Capture) { c.WantNone(nib.LevelError) }, ""},
		{"one", func(c *nibtest.Capture) { c.WantNone(nib.LevelInfo) }, "got a line of level info"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tb shownTB
			c := nibtest.Logger(&tb)
			c.Info().Int("items", 3).AnErr("err", errors.New("e")).Any("user", map[string]int{"id": 7}).Any("owner", nil).Msg("placed")
			c.Info().Msg("other")
			tt.check(c)
			if tb.failed != (tt.failed != "") || !strings.Contains(tb.out.String(), tt.failed) {
				t.Errorf("failed %v with %s, want %q", tb.failed, tb.out.String(), tt.failed)
			}
			tb.end()
		})
	}
}

// TestCaptureComparesValues compares a value of each kind with itself and with
// a value that is nearly the same.
func TestCaptureComparesValues(t *testing.T) {
	for _, x := range []struct{ logged, other slog.Value }{
		{slog.Uint64Value(math.MaxUint64), slog.Uint64Value(math.MaxUint64 - 1)},
		{slog.Int64Value(1<<53 + 1), slog.Int64Value(1 << 53)},
		{slog.Float64Value(0.1), slog.Float64Value(0.2)},
		{slog.Float64Value(3), slog.Int64Value(4)},
		{slog.Float64Value(math.NaN()), slog.Float64Value(math.Inf(1))},
		{slog.Float64Value(math.Inf(-1)), slog.Float64Value(math.Inf(1))},
		{slog.AnyValue(errors.New("e")), slog.AnyValue(errors.New("f"))},
		{slog.GroupValue(slog.Any("err", errors.New("e"))), slog.GroupValue(slog.Any("err", errors.New("f")))},
		{slog.GroupValue(slog.Float64("f", math.NaN())), slog.GroupValue(slog.Float64("f", 0))},
		{slog.AnyValue([]uint64{1, math.MaxUint64}), slog.AnyValue([]uint64{1, math.MaxUint64 - 1})},
		{slog.AnyValue(map[string]bool{"a": true}), slog.AnyValue(map[string]bool{"a": true, "b": false})},
		{slog.StringValue("1"), slog.Int64Value(1)},
		{slog.BoolValue(true), slog.StringValue("true")},
	} {
		var tb shownTB
		c := nibtest.Logger(&tb)
		c.LogAttrs(context.Background(), nib.LevelInfo, "m", slog.Any("v", x.logged))
		c.Want("m", slog.Any("v", x.logged))
		if tb.failed {
			t.Errorf("%v: not equal to itself: %s", x.logged, tb.out.String())
		}
		c.Want("m", slog.Any("v", x.other))
		if !tb.failed {
			t.Errorf("%v is equal to %v", x.logged, x.other)
		}
		tb.end()
	}
	var tb shownTB
	c := nibtest.Logger(&tb)
	c.Info().Int("n", 3).Msg("m")
	c.Want("m", slog.Float64("n", 3.0))
	if tb.failed {
		t.Error("3 and 3.0 are not equal")
	}
	tb.end()
}

// valued is logged as its number.
type valued struct{ n int }

func (v valued) LogValue() slog.Value { return slog.IntValue(v.n) }

func TestNothingIsWrittenAfterTheTest(t *testing.T) {
	var tb shownTB
	c := nibtest.Logger(&tb)
	tb.Cleanup(func() { c.Info().Msg("in a cleanup") })
	tb.end()
	c.Info().Msg("late")
	e := c.Info()
	e.Msg("late")
	e.Str("misused", "").Msg("x")
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Fatal().Msg("late")
	}()
	<-done
	if got := tb.out.String(); !strings.Contains(got, "in a cleanup") || strings.Contains(got, "late") || tb.failed || c.Rec.Len() != 1 {
		t.Errorf("got %s, failed %v", got, tb.failed)
	}
}

func TestFatalAndMisuseFailTheTest(t *testing.T) {
	for name, use := range map[string]func(c *nibtest.Capture){
		"fatal":  func(c *nibtest.Capture) { c.Fatal().Msg("the end") },
		"misuse": func(c *nibtest.Capture) { c.Info().Func(func(e *nib.Event) { e.Msg("no") }).Msg("yes") },
	} {
		var tb shownTB
		c := nibtest.Logger(&tb)
		done := make(chan struct{})
		go func() {
			defer close(done)
			use(c)
		}()
		<-done
		if !tb.failed || c.Rec.Len() != 1 {
			t.Errorf("%s: failed %v, got %q", name, tb.failed, c.Rec.Lines())
		}
		tb.end()
	}
}

func TestFlushOfACapture(t *testing.T) {
	if err := nibtest.Logger(t).Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

// The logger of a test shows its lines if the test fails.
func ExampleLogger() {
	_ = func(t *testing.T) {
		log := nibtest.Logger(t)
		log.Info().Int("items", 3).Msg("order placed") // in the code that is tested
		log.Want("order placed", slog.Int("items", 3))
		log.WantNone(nib.LevelError)
	}
}

func TestManyGoroutinesLogUntilTheTestHasEnded(t *testing.T) {
	var wg sync.WaitGroup
	t.Run("inner", func(t *testing.T) {
		c := nibtest.Logger(t)
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 1000 {
					c.Debug().Msg("from a goroutine that may outlive the test")
				}
			}()
		}
	})
	wg.Wait() // a write after the end of the test would have panicked
}

// TestWhatGoTestShows runs these in another process.
func TestShownPasses(t *testing.T) { inner(t); shown(t) }
func TestShownFails(t *testing.T)  { inner(t); shown(t); t.Fail() }
func TestShownEnds(t *testing.T)   { inner(t); nibtest.Logger(t).Fatal().Msg("fatal line") }
func TestShownEndsLast(t *testing.T) {
	inner(t)
	t.Log("another test")
}

func inner(t *testing.T) {
	if os.Getenv("NIBTEST_SHOWN") == "" {
		t.Skip("for TestWhatGoTestShows")
	}
}

func shown(t *testing.T) {
	log := nibtest.Logger(t)
	log.Debug().Msg("debug line")
	log.Info().Msg("info line")
	t.Run("sub", func(t *testing.T) { nibtest.Logger(t).Info().Msg("line of the subtest") })
}

func TestWhatGoTestShows(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, tt := range []struct {
		args       []string
		want, none []string
	}{
		{[]string{"-test.run=TestShownPasses"}, nil, []string{"debug line", "info line"}},
		{[]string{"-test.run=TestShownFails"}, []string{"debug line", "info line"}, nil},
		{[]string{"-test.run=TestShownEnds", "-test.v"}, []string{"fatal line", "--- FAIL: TestShownEnds ", "another test"}, []string{"panic"}},
		{[]string{"-test.run=TestShownPasses", "-test.v"}, []string{"info line", "line of the subtest"}, []string{"debug line"}},
		{[]string{"-test.run=TestShownFails", "-test.v"}, []string{"info line", "debug line"}, nil},
	} {
		cmd := exec.Command(os.Args[0], tt.args...)
		cmd.Env = append(os.Environ(), "NIBTEST_SHOWN=1")
		out, _ := cmd.CombinedOutput()
		for _, want := range tt.want {
			if strings.Count(string(out), want) != 1 {
				t.Errorf("%v: want %q once in\n%s", tt.args, want, out)
			}
		}
		for _, none := range tt.none {
			if strings.Contains(string(out), none) {
				t.Errorf("%v: want no %q in\n%s", tt.args, none, out)
			}
		}
	}
}
