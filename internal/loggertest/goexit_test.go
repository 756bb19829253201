// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// apart runs f on a new goroutine, which f may end.
func apart(tb testing.TB, f func()) {
	tb.Helper()
	watch(tb, func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		<-done
	})
}

func TestGoexitInUserCodeLosesOnlyItsLine(t *testing.T) {
	for _, d := range trapdoors(runtime.Goexit) {
		l, c := newCapture(t, d.opts...)
		ended := true
		apart(t, func() {
			e := l.Info().Str("a", "b")
			d.add(e)
			e.Msg("m")
			ended = false
		})
		if !ended {
			t.Errorf("%s: Goexit did not end the goroutine", d.name)
		}
		if got := len(c.take()); got != 0 || l.Stats().Aborted != 1 {
			t.Errorf("%s\n got %d lines, %+v\nwant 0, and 1 aborted", d.name, got, l.Stats())
		}
	}
}

// The event of the lost line must not come back in another one.
func TestLinesAfterGoexitAreWhole(t *testing.T) {
	for _, d := range trapdoors(runtime.Goexit) {
		l, c := newCapture(t, d.opts...)
		plain := l.WithOptions() // without the hooks of the trap
		for range 20 {
			apart(t, func() { e := l.Info().Str("lost", "x"); d.add(e); e.Msg("m") })
			if d.name == "hook" {
				continue
			}
			e1, e2 := plain.Info(), plain.Info()
			e1.Str("a", "1").Msg("m")
			e2.Str("b", "2").Msg("m")
		}
		for _, line := range c.take() {
			if line.get("lost") != nil || len(line.keys) != 4 {
				t.Errorf("%s\n got %s", d.name, line)
			}
		}
	}
}

func TestGoexitInTheMessageLosesOnlyItsLine(t *testing.T) {
	exit := &trap{runtime.Goexit}
	for name, log := range map[string]func(e *nib.Event){
		"Msgf":    func(e *nib.Event) { e.Msgf("%v", exit) },
		"MsgFunc": func(e *nib.Event) { e.MsgFunc(exit.String) },
	} {
		l, c := newCapture(t)
		apart(t, func() { log(l.Info()) })
		if got := len(c.take()); got != 0 || l.Stats().Aborted != 1 {
			t.Errorf("%s\n got %d lines, %+v", name, got, l.Stats())
		}
	}
}

// A deferred call on the event of a lost line is a call on a finished event.
func TestDeferredMsgAfterGoexitIsIgnored(t *testing.T) {
	l, c := newCapture(t)
	apart(t, func() {
		e := l.Info()
		defer e.Msg("too late")
		e.Func(func(*nib.Event) { runtime.Goexit() })
	})
	if got := len(c.take()); got != 0 || l.Stats().Misused == 0 {
		t.Errorf("got %d lines, %+v", got, l.Stats())
	}
}

func TestGoexitInWithAndStaticIsCounted(t *testing.T) {
	l, _ := newCapture(t)
	apart(t, func() { l.With(func(*nib.Event) { runtime.Goexit() }) })
	if l.Stats().Aborted != 1 {
		t.Errorf("got %+v", l.Stats())
	}
	apart(t, func() { l.WithOptions(nib.WithLayout(nib.Layout{Static: func(*nib.Event) { runtime.Goexit() }})) })
}

func TestGoexitInSamplerAndErrorHandlerIsCounted(t *testing.T) {
	on := true
	l, c := newCapture(t, nib.WithSampler(&trap{func() {
		if on {
			runtime.Goexit()
		}
	}}))
	apart(t, func() { l.Info().Msg("m") })
	on = false
	l.Info().Msg("m")
	c.one()
	if s := l.Stats(); s.Aborted != 1 {
		t.Errorf("the sampler has ended its goroutine: %+v", s)
	}

	bad := nib.New(onlyWriter{&trap{func() { panic("boom") }}}, nib.WithErrorHandler(func(error) { runtime.Goexit() }))
	apart(t, func() { bad.Info().Msg("m") })
	apart(t, func() { bad.Info().Msg("m") })
	if s := bad.Stats(); s.Failed != 2 {
		t.Errorf("got %+v", s)
	}
}

// The writer's lock is released, the next record starts on a new line, and the
// lost one is counted.
func TestGoexitInTheWriterReleasesItsLock(t *testing.T) {
	on := true
	var got []byte
	l := nib.New(writeFunc(func(p []byte) (int, error) {
		if on {
			got = append(got, p[:5]...)
			runtime.Goexit()
		}
		got = append(got, p...)
		return len(p), nil
	}), nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}))
	apart(t, func() { l.Info().Msg("lost") })
	on = false
	apart(t, func() { l.Info().Msg("next") })
	if want := "{\"lev\n{\"level\":\"info\",\"message\":\"next\"}\n"; string(got) != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if s := l.Stats(); s.Aborted != 1 {
		t.Errorf("got %+v, want 1 aborted", s)
	}
}

func TestGoexitInTheSinkIsCounted(t *testing.T) {
	l := nib.NewSink(&trap{runtime.Goexit})
	for range 40 { // more than may be inside at once
		apart(t, func() { l.Info().Msg("lost") })
	}
	if s := l.Stats(); s.Aborted != 40 || s.Reentrant != 0 {
		t.Errorf("got %+v, want 40 aborted", s)
	}
}

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// Fatal ends the process, once, whatever user code ends the goroutine: before
// there is an event, between its methods, and while the line is written.
func TestFatalExitsWhenUserCodeEndsTheGoroutine(t *testing.T) {
	on := false
	end := func() {
		if on {
			runtime.Goexit()
		}
	}
	type ending struct {
		name string
		opts []nib.Option
		add  func(e *nib.Event)
	}
	fails := func() { panic("boom") }
	handler := nib.WithErrorHandler(func(error) { end() })
	clock := nib.WithClock(func() time.Time { end(); return testTime })
	caller := nib.WithLayout(nib.Layout{Caller: func(*nib.Event, string, runtime.Frame) { end() }})
	endings := []ending{
		{"the clock", []nib.Option{clock}, nil},
		{"the clock of the record", []nib.Option{clock, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}), nib.WithSink(sinkFunc(func(*nib.Record) error { return nil }))}, nil},
		{"the sampler", []nib.Option{nib.WithSampler(sampler(end))}, nil},
		{"the leveler", []nib.Option{nib.WithLevel(leveler(func() slog.Level { end(); return slog.LevelDebug }))}, nil},
		{"Layout.Caller", []nib.Option{caller, nib.WithCaller()}, nil},
		{"Layout.Caller in Caller", []nib.Option{caller}, func(e *nib.Event) { e.Caller() }},
		{"Layout.Caller in CallerSkipFrame", []nib.Option{caller}, func(e *nib.Event) { e.CallerSkipFrame(1) }},
		{"the handler of a clock that panics", []nib.Option{handler, nib.WithClock(func() time.Time { fails(); return testTime })}, nil},
		{"the handler of a sampler that panics", []nib.Option{handler, nib.WithSampler(sampler(fails))}, nil},
		{"the handler of a leveler that panics", []nib.Option{handler, nib.WithLevel(leveler(func() slog.Level { fails(); return 0 }))}, nil},
		{"the handler of a misused event", []nib.Option{handler}, func(e *nib.Event) {
			var kept *nib.Array
			e.Array("a", func(a *nib.Array) { kept = a })
			kept.Int(1)
		}},
	}
	for _, d := range trapdoors(end) {
		endings = append(endings, ending{d.name, d.opts, d.add})
	}
	for _, d := range endings {
		for _, level := range []nib.Level{nib.LevelFatal, nib.LevelPanic} {
			exits := 0
			l, c := newCapture(t, append(d.opts, nib.WithExit(func(int) { exits++ }))...)
			start, want := l.Fatal, 1
			if level == nib.LevelPanic {
				start, want = l.Panic, 0
			}
			on = true
			o := attempt(t, func() {
				e := start()
				if d.add != nil {
					d.add(e)
				}
				e.Msg("m")
			})
			on = false
			if got := len(c.take()); o.returned || o.panicked != nil || exits != want || got != 0 || l.Stats().Aborted != 1 {
				t.Errorf("%s, level %v: got %+v, %d exits, %d lines, %+v", d.name, level, o, exits, got, l.Stats())
			}
		}
	}
}

type endingError struct{}

func (endingError) Error() string { runtime.Goexit(); return "" }

// A line is counted if the sink or writer panics with an error that ends the
// goroutine, and the writer is ready for the next line.
func TestPanicWithAnErrorThatEndsTheGoroutine(t *testing.T) {
	on := true
	fail := func() {
		if on {
			panic(endingError{})
		}
	}
	for name, l := range map[string]*nib.Logger{
		"sink":   nib.NewSink(sinkFunc(func(*nib.Record) error { fail(); return nil })),
		"writer": nib.New(writeFunc(func(p []byte) (int, error) { fail(); return len(p), nil })),
	} {
		on = true
		apart(t, func() { l.Info().Msg("lost") })
		on = false
		l.Info().Msg("next")
		if st := l.Stats(); st != (nib.Stats{Aborted: 1, Misused: st.Misused}) {
			t.Errorf("%s: got %+v, want 1 aborted", name, st)
		}
	}
}
