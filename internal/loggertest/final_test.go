// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/recordtest"
)

// panicOf returns the panic value of f as text, or "(none)".
func panicOf(f func()) (v any) {
	defer func() {
		if r := recover(); r != nil {
			v = r
		}
	}()
	f()
	return "(none)"
}

// messages are the ways to finish an event with the text "disk sda".
var messages = map[string]func(e *nib.Event){
	"Msg":     func(e *nib.Event) { e.Msg("disk sda") },
	"Msgf":    func(e *nib.Event) { e.Msgf("disk %s", "sda") },
	"MsgFunc": func(e *nib.Event) { e.MsgFunc(func() string { return "disk sda" }) },
}

// silencers keep the line of an event at any level from being written.
func silencers() map[string][]nib.Option {
	return map[string][]nib.Option{
		"level off":    {nib.WithLevel(nib.LevelFatal + 1)},
		"level var":    {nib.WithLevel(&off)},
		"sampled out":  {nib.WithSampler(sampleFunc(func(nib.Level) bool { return false }))},
		"hook discard": {nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) { e.Discard() }))},
	}
}

var off nib.LevelVar

func init() { off.Set(nib.LevelFatal + 1) }

type sampleFunc func(nib.Level) bool

func (f sampleFunc) Sample(l nib.Level) bool { return f(l) }

func TestPanicPanicsWithTheMessage(t *testing.T) {
	for name, end := range messages {
		l, c := newCapture(t)
		if got := panicOf(func() { end(l.Panic().Str("a", "b")) }); got != "disk sda" {
			t.Errorf("%s panics with %v", name, got)
		}
		if line := c.one(); line.get("message").text != "disk sda" || line.get("level").text != "panic" || line.get("a") == nil {
			t.Errorf("%s\n got %s", name, line)
		}
	}
}

func TestPanicActsWithoutItsLine(t *testing.T) {
	for why, opts := range silencers() {
		for name, end := range messages {
			l, c := newCapture(t, opts...)
			if got := panicOf(func() { end(l.Panic().Str("a", "b")) }); got != "disk sda" {
				t.Errorf("%s, %s: panics with %v", why, name, got)
			}
			if got := len(c.take()); got != 0 {
				t.Errorf("%s, %s: got %d lines", why, name, got)
			}
		}
	}
	for name, end := range messages {
		for _, none := range []*nib.Logger{nil, {}} {
			if got := panicOf(func() { end(none.Panic().Str("a", "b").Err(errAny).Stack().Caller().Timestamp()) }); got != "disk sda" {
				t.Errorf("%v, %s: panics with %v", none, name, got)
			}
		}
	}
	l, c := newCapture(t)
	if got := panicOf(func() { l.Panic().Discard().Msg("x") }); got != "x" || len(c.take()) != 0 {
		t.Errorf("Discard: panics with %v", got)
	}
	if got := panicOf(func() { l.Panic().Send() }); got != "" {
		t.Errorf("Send: panics with %v", got)
	}
}

func TestAtNeitherPanicsNorExits(t *testing.T) {
	l, c := newCapture(t, nib.WithExit(func(int) { t.Error("exit was called") }))
	if got := panicOf(func() {
		l.At(nib.LevelPanic).Msg("m")
		l.At(nib.LevelFatal).Msg("m")
		l.LogAttrs(context.Background(), nib.LevelFatal, "m")
		l.Entry(nib.Entry{Level: nib.LevelPanic}).Send()
		l.Entry(nib.Entry{Level: nib.LevelFatal}).Msg("m")
	}); got != "(none)" {
		t.Errorf("panics with %v", got)
	}
	if got := len(c.take()); got != 5 {
		t.Errorf("got %d lines, want 5", got)
	}
}

// A flushSink records the order of its calls.
type flushSink struct {
	recordtest.Recorder
	calls []string
}

// newFlushSink returns a flushSink whose Flush calls flush, unless that is nil.
func newFlushSink(flush func(context.Context) error) *flushSink {
	s := new(flushSink)
	s.WriteWith(func(r *nib.Record) error {
		s.calls = append(s.calls, "write "+string(r.Message))
		return nil
	})
	s.FlushWith(func(ctx context.Context) error {
		s.calls = append(s.calls, "flush")
		if flush == nil {
			return nil
		}
		return flush(ctx)
	})
	return s
}

func TestFatalFlushesThenExits(t *testing.T) {
	failed := errors.New("no space")
	for name, flush := range map[string]func(context.Context) error{
		"works": nil, "fails": func(context.Context) error { return failed }, "panics": func(context.Context) error { panic("boom") },
	} {
		for why, opts := range silencers() {
			for _, silent := range []bool{false, true} {
				s := newFlushSink(flush)
				c := &capture{tb: t}
				opts := append(slices.Clone(opts), nib.WithErrorHandler(c.fail), nib.WithExit(func(code int) {
					s.calls = append(s.calls, "exit", string(rune('0'+code)))
				}))
				if !silent {
					opts = append(opts, nib.WithLevel(nib.LevelInfo), nib.WithSampler(nil))
				}
				want := []string{"write m", "flush", "exit", "1"}
				if silent || why == "hook discard" {
					want = want[1:]
				}
				nib.NewSink(s, opts...).Fatal().Msg("m")
				if !slices.Equal(s.calls, want) {
					t.Errorf("flush %s, %s %v\n got %q\nwant %q", name, why, silent, s.calls, want)
				}
				if errs := c.takeErrors(); (len(errs) == 1) != (flush != nil) {
					t.Errorf("flush %s: got %v", name, errs)
				}
			}
		}
	}
}

func TestPanicFlushesFirst(t *testing.T) {
	s := newFlushSink(nil)
	if got := panicOf(func() { nib.NewSink(s).Panic().Msg("m") }); got != "m" || !slices.Equal(s.calls, []string{"write m", "flush"}) {
		t.Errorf("got %q, panic %v", s.calls, got)
	}
}

func TestFatalExitsWhenTheSinkIsBroken(t *testing.T) {
	for name, do := range map[string]func(){"works": func() {}, "panics": func() { panic("boom") }} {
		exits := 0
		l := nib.New(onlyWriter{&trap{do}}, nib.WithErrorHandler(func(error) { panic("handler") }), nib.WithExit(func(int) { exits++ }))
		l.Fatal().Stringer("s", &trap{func() { panic("field") }}).Msg("m")
		if exits != 1 {
			t.Errorf("writer %s: %d exits", name, exits)
		}
	}
}

func TestFlushOfEveryKindOfWriter(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), ctx} {
		var out bytes.Buffer
		w := newBuffered(&out)
		l := nib.New(w)
		l.Info().Msg("m")
		if out.Len() != 0 {
			t.Fatal("the buffer holds nothing back")
		}
		if err := l.Flush(ctx); err != nil || out.Len() == 0 {
			t.Errorf("Flush gives %v, %d bytes out", err, out.Len())
		}
		if err := nib.New(&out).Flush(ctx); err != nil {
			t.Errorf("Flush of a writer that cannot: %v", err)
		}
		failed := errors.New("no")
		if err := nib.NewSink(newFlushSink(func(context.Context) error { return failed })).Flush(ctx); !errors.Is(err, failed) {
			t.Errorf("got %v", err)
		}
		if err := nib.NewSink(newFlushSink(func(context.Context) error { panic("boom") })).Flush(ctx); err == nil || !strings.Contains(err.Error(), "boom") {
			t.Errorf("got %v", err)
		}
	}
}

func TestFlushDoesNotWaitLongerThanItsContext(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	l := nib.NewSink(newFlushSink(func(context.Context) error { <-release; return nil }))
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	watch(t, func() {
		if err := l.Flush(ctx); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}

// inChild runs this test again in a child process, with what as its task, and
// returns how that ended.
func inChild(t *testing.T, what string) (output string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "NIB_TEST_CHILD="+what)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Skipf("cannot start a process: %v", err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestFatalEndsTheProcess(t *testing.T) {
	fatal := map[string]func() *nib.Event{
		"default":    func() *nib.Event { return nib.Fatal() },
		"nil":        func() *nib.Event { return (*nib.Logger)(nil).Fatal() },
		"nil option": func() *nib.Event { return nib.New(os.Stderr, nib.WithExit(nil)).Fatal() },
		"discarded":  func() *nib.Event { return nib.Fatal().Discard() },
	}
	if f, ok := fatal[os.Getenv("NIB_TEST_CHILD")]; ok {
		f().Msg("the end")
		os.Exit(3)
	}
	for name := range fatal {
		out, code := inChild(t, name)
		if code != 1 {
			t.Errorf("%s: status %d, want 1\n%s", name, code, out)
		}
		if shown := strings.Contains(out, `"message":"the end"`); shown != (name == "default" || name == "nil option") {
			t.Errorf("%s\n got %s", name, out)
		}
	}
}

// TestErrorsAreShownBeforeTheEnd runs processes that end right after their
// errors: the first error is on standard error at once, and Fatal shows those
// that the limit of one line a second held back.
func TestErrorsAreShownBeforeTheEnd(t *testing.T) {
	failing := nib.NewSink(sinkFunc(func(*nib.Record) error { return errAny }))
	switch os.Getenv("NIB_TEST_CHILD") {
	case "exit":
		failing.Info().Msg("line")
		os.Exit(0)
	case "fatal":
		for range 5 {
			failing.Info().Msg("line")
		}
		failing.Fatal().Msg("the end")
	}
	for name, want := range map[string][]string{"exit": {errAny.Error() + "\n"}, "fatal": {errAny.Error() + "\n", errAny.Error() + " (and 4 more errors before it)\n"}} {
		out, _ := inChild(t, name)
		if !strings.Contains(out, strings.Join(want, "")) {
			t.Errorf("%s: got %q, want %q", name, out, want)
		}
	}
}
