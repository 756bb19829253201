// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// A selfLogger logs itself twice whenever nib calls it, so that a chain that
// ended late would not end in time.
type selfLogger struct{ again func() }

func (s selfLogger) twice()                            { s.again(); s.again() }
func (s selfLogger) String() string                    { s.twice(); return "text" }
func (s selfLogger) Error() string                     { s.twice(); return "text" }
func (s selfLogger) MarshalJSON() ([]byte, error)      { s.twice(); return []byte(`"json"`), nil }
func (s selfLogger) MarshalNib(e *nib.Event)           { s.twice(); e.Str("a", "b") }
func (s selfLogger) LogValue() slog.Value              { s.twice(); return slog.StringValue("value") }
func (s selfLogger) Run(*nib.Event, nib.Level, string) { s.again() }
func (s selfLogger) Sample(nib.Level) bool             { s.again(); return true }

func TestUserCodeThatLogsItselfIsLimited(t *testing.T) {
	type marshaler struct{ *selfLogger } // honoured through its pointer's methods
	for name, log := range map[string]func(l *nib.Logger, s selfLogger){
		"Stringer":  func(l *nib.Logger, s selfLogger) { l.Info().Stringer("k", s).Msg("m") },
		"Err":       func(l *nib.Logger, s selfLogger) { l.Info().Err(s).Msg("m") },
		"Errs":      func(l *nib.Logger, s selfLogger) { l.Info().Errs("k", []error{s, s}).Msg("m") },
		"Any":       func(l *nib.Logger, s selfLogger) { l.Info().Any("k", map[string]any{"a": s}).Msg("m") },
		"json":      func(l *nib.Logger, s selfLogger) { l.Info().Any("k", struct{ V marshaler }{marshaler{&s}}).Msg("m") },
		"Object":    func(l *nib.Logger, s selfLogger) { l.Info().Object("k", s).Msg("m") },
		"Embed":     func(l *nib.Logger, s selfLogger) { l.Info().EmbedObject(s).Msg("m") },
		"Dict":      func(l *nib.Logger, s selfLogger) { l.Info().Dict("k", s.MarshalNib).Msg("m") },
		"Array":     func(l *nib.Logger, s selfLogger) { l.Info().Array("k", func(*nib.Array) { s.twice() }).Msg("m") },
		"Func":      func(l *nib.Logger, s selfLogger) { l.Info().Func(s.MarshalNib).Msg("m") },
		"MsgFunc":   func(l *nib.Logger, s selfLogger) { l.Info().MsgFunc(s.String) },
		"Msgf":      func(l *nib.Logger, s selfLogger) { l.Info().Msgf("%v", s) },
		"LogValuer": func(l *nib.Logger, s selfLogger) { l.LogAttrs(context.Background(), 0, "m", slog.Any("k", s)) },
		"With":      func(l *nib.Logger, s selfLogger) { l.With(s.MarshalNib).Info().Msg("m") },
		"Append":    func(l *nib.Logger, s selfLogger) { l.AppendFields(nil, s.MarshalNib); l.Info().Msg("m") },
		"hook":      func(l *nib.Logger, s selfLogger) { l.WithOptions(nib.WithHook(s)).Info().Msg("m") },
		"sampler":   func(l *nib.Logger, s selfLogger) { l.WithOptions(nib.WithSampler(s)).Info().Msg("m") },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l := nib.New(&out)
			var s selfLogger
			s.again = func() { log(l, s) }
			log(l, s)
			lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
			if len(lines) < 2 || len(lines) > 10_000 {
				t.Errorf("%d lines, want a few", len(lines))
			}
			for _, line := range lines {
				if _, err := parseLine(append(line[:len(line):len(line)], '\n')); err != nil {
					t.Fatalf("%v in %s", err, line)
				}
			}
			if name != "sampler" && l.Stats().Reentrant == 0 {
				t.Error("nothing was counted")
			}
		})
	}
}

func TestManyGoroutinesInUserCodeAreNoRecursion(t *testing.T) {
	const goroutines = 3000
	var out bytes.Buffer
	l := nib.New(&out)
	inside, release, done := make(chan bool), make(chan bool), make(chan bool)
	for range goroutines {
		go func() {
			l.Info().Func(func(e *nib.Event) {
				inside <- true
				<-release
				e.Bool("ran", true)
			}).Msg("m")
			done <- true
		}()
	}
	for range goroutines {
		<-inside
	}
	l.Info().Func(func(e *nib.Event) { e.Bool("ran", true) }).Msg("one more")
	close(release)
	for range goroutines {
		<-done
	}
	if got := bytes.Count(out.Bytes(), []byte(`"ran":true`)); got != goroutines+1 {
		t.Errorf("%d of %d functions ran", got, goroutines+1)
	}
	if n := l.Stats().Reentrant; n != 0 {
		t.Errorf("%d were taken for recursion", n)
	}
}

// Goroutines that count their lines in the same place may miscount. Each line
// that logs itself is limited nevertheless.
func TestUserCodeThatLogsItselfIsLimitedOnManyGoroutines(t *testing.T) {
	const goroutines, chains, most = 8, 50, 10_000
	done := make(chan uint64)
	for range goroutines {
		go func() {
			var lines, largest uint64
			l := nib.NewSink(sinkFunc(func(*nib.Record) error { lines++; return nil }))
			var s selfLogger
			s.again = func() {
				if lines < most {
					l.Info().Dict("d", func(e *nib.Event) { e.Int("a", 1) }).Stringer("k", s).Msg("m")
				}
			}
			for range chains {
				lines = 0
				s.again()
				largest = max(largest, lines)
			}
			done <- largest
		}()
	}
	for range goroutines {
		if n := <-done; n < 2 || n >= most {
			t.Errorf("%d lines, want a few", n)
		}
	}
}

// A clock and a sampler that many goroutines call at once are used by all of
// them.
func TestManyGoroutinesInSettingsAreNoRecursion(t *testing.T) {
	const goroutines = 3000
	for name, opt := range map[string]func(wait func()) nib.Option{
		"clock":   func(wait func()) nib.Option { return nib.WithClock(func() time.Time { wait(); return testTime }) },
		"sampler": func(wait func()) nib.Option { return nib.WithSampler(&trap{wait}) },
	} {
		inside, release, done := make(chan bool), make(chan bool), make(chan bool)
		l := nib.NewSink(sinkFunc(func(*nib.Record) error { return nil }), opt(func() { inside <- true; <-release }))
		for range goroutines {
			go func() {
				l.Info().Msg("m")
				done <- true
			}()
		}
		watch(t, func() {
			for range goroutines {
				<-inside
			}
		})
		close(release)
		for range goroutines {
			<-done
		}
		if s := l.Stats(); s.Reentrant+s.Aborted+s.Failed != 0 {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}

// A sampler that logs itself drops no line that it was not asked about.
func TestSamplerThatLogsItselfDropsNothing(t *testing.T) {
	var out bytes.Buffer
	var l *nib.Logger
	calls := 1
	log := func() { calls++; l.Info().Msg("inner") }
	l = nib.New(&out, nib.WithSampler(&trap{log}))
	l.Info().Msg("outer")
	if got := bytes.Count(out.Bytes(), []byte("\n")); got != calls || calls > 100 {
		t.Errorf("%d calls made %d lines", calls, got)
	}
}
