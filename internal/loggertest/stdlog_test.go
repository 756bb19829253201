// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/recordtest"
)

// linesOf waits for n lines: under load, package log continues without a line
// that is being written.
func linesOf(t *testing.T, rec *recordtest.Recorder, n int) string {
	t.Helper()
	await.Until(t, fmt.Sprintf("%d lines are written", n), func() bool { return rec.Len() >= n })
	return strings.Join(rec.Lines(), "\n") + "\n"
}

func TestStdLogMakesEachMessageALine(t *testing.T) {
	var rec recordtest.Recorder
	l := nib.NewSink(&rec, nib.WithLayout(slogLayout)).With(func(e *nib.Event) { e.Int("n", 1) })
	s := l.StdLog(nib.LevelWarn)
	for i, print := range []func(){
		func() { s.Print("one") }, func() { s.Printf("%s\n", "two") }, func() { s.Println("three", "and\nfour") },
		func() { s.Print() }, func() { s.SetPrefix("http: "); s.Print("five") },
	} {
		print()
		linesOf(t, &rec, i+1)
	}
	want := `{"level":"warn","n":1,"message":"one"}
{"level":"warn","n":1,"message":"two"}
{"level":"warn","n":1,"message":"three and\nfour"}
{"level":"warn","n":1,"message":""}
{"level":"warn","n":1,"message":"http: five"}
`
	if got := linesOf(t, &rec, 5); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestStdLogHonoursTheLevel(t *testing.T) {
	var b bytes.Buffer
	var level nib.LevelVar
	l := nib.New(&b, nib.WithLevel(&level))
	l.StdLog(nib.LevelDebug).Print("off")
	level.Set(nib.LevelError)
	l.StdLog(nib.LevelWarn).Print("off")
	nib.New(&b).StdLog(nib.LevelDebug).Print("off")
	(*nib.Logger)(nil).StdLog(nib.LevelError).Print("discarded")
	if got := b.String(); got != "" {
		t.Errorf("got %s, want nothing", got)
	}
}

func TestStdLogHonoursTheSamplerExceptForTheLastLine(t *testing.T) {
	var b bytes.Buffer
	s := nib.New(&b, nib.WithLayout(slogLayout), nib.WithSampler(sampleNone{})).StdLog(nib.LevelError)
	s.Print("sampled out")
	panicText(func() { s.Panic("why") })
	if got, want := b.String(), `{"level":"panic","message":"why"}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

type sampleNone struct{}

func (sampleNone) Sample(nib.Level) bool { return false }

// panicText runs f, which is to panic.
func panicText(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}

func TestStdLogWritesAndFlushesThePanicWhateverTheLevel(t *testing.T) {
	for name, call := range map[string]func(s *log.Logger){
		"Panic":   func(s *log.Logger) { s.Panic("why") },
		"Panicf":  func(s *log.Logger) { s.Panicf("%s", "why") },
		"Panicln": func(s *log.Logger) { s.Panicln("why") },
	} {
		var b bytes.Buffer
		s := nib.New(bufio.NewWriter(&b), nib.WithLayout(slogLayout), nib.WithLevel(nib.LevelFatal+1)).StdLog(nib.LevelDebug)
		s.Print("off")
		if got := strings.TrimSpace(panicText(func() { call(s) })); got != "why" {
			t.Errorf("%s: got a panic of %q, want why", name, got)
		}
		if got, want := b.String(), `{"level":"panic","message":"why"}`+"\n"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestStdLogReportsAFlushThatFails(t *testing.T) {
	var got error
	var unflushable recordtest.Recorder
	unflushable.FlushWith(func(context.Context) error { return errFlush })
	s := nib.NewSink(&unflushable, nib.WithErrorHandler(func(err error) { got = err })).StdLog(nib.LevelInfo)
	panicText(func() { s.Panic("why") })
	if !errors.Is(got, errFlush) {
		t.Errorf("got %v, want %v", got, errFlush)
	}
}

var errFlush = errors.New("cannot flush")

func TestStdLogShowsTheCallSiteOfLog(t *testing.T) {
	var rec recordtest.Recorder
	s := nib.NewSink(&rec, nib.WithLayout(slogLayout), nib.WithCaller()).StdLog(nib.LevelInfo)
	_, file, line, _ := runtime.Caller(0)
	s.Print("m")
	s.Println("m")
	_, _ = s.Writer().Write([]byte("m"))
	got := linesOf(t, &rec, 3)
	for i := range 3 {
		dir := filepath.Base(filepath.Dir(file))
		want := fmt.Sprintf(`{"level":"info","caller":"%s/stdlog_test.go:%d","message":"m"}`+"\n", dir, line+1+i)
		if strings.Count(got, want) != 1 {
			t.Errorf("got\n%swant once\n%s", got, want)
		}
	}
}

func TestStdLogShowsTheStackOfTheCaller(t *testing.T) {
	var rec recordtest.Recorder
	nib.NewSink(&rec, nib.WithStack(nib.LevelError)).StdLog(nib.LevelError).Print("m")
	if got, want := linesOf(t, &rec, 1), "TestStdLogShowsTheStackOfTheCaller"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestStdLogDoesNotBlockWhenTheWriterPrintsToIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var s *log.Logger
	w := &printingWriter{inner: make(chan struct{})}
	l := nib.New(w)
	s = l.StdLog(nib.LevelInfo)
	w.print = func() { s.Print("inner") }
	done := make(chan struct{})
	go func() {
		s.Print("outer")
		<-w.inner
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatal("deadlock")
	}
}

// A printingWriter prints once, on its first line, and reports the second.
type printingWriter struct {
	print func()
	first sync.Once
	inner chan struct{}
}

func (w *printingWriter) Write(p []byte) (int, error) {
	first := false
	w.first.Do(func() { first = true })
	if first {
		w.print()
	} else {
		close(w.inner)
	}
	return len(p), nil
}

// userCode returns options by the user code of a logger that runs while package
// log holds its lock: it calls do.
func userCode(do func()) map[string][]nib.Option {
	return map[string][]nib.Option{
		"clock":     {nib.WithClock(func() time.Time { do(); return testTime })},
		"sampler":   {nib.WithSampler(sampler(do))},
		"leveler":   {nib.WithLevel(leveler(func() slog.Level { do(); return slog.LevelDebug }))},
		"LevelName": {nib.WithLayout(nib.Layout{LevelName: func(l nib.Level) string { do(); return l.String() }})},
		"Caller":    {nib.WithCaller(), nib.WithLayout(nib.Layout{Caller: func(*nib.Event, string, runtime.Frame) { do() }})},
		"hook":      {nib.WithHook(nib.HookFunc(func(*nib.Event, nib.Level, string) { do() }))},
		"sink":      {nib.WithSink(sinkFunc(func(*nib.Record) error { do(); return nil }))},
		"error handler": {nib.WithSink(sinkFunc(func(*nib.Record) error { return errStep })),
			nib.WithErrorHandler(func(error) { do() })},
	}
}

func TestUserCodeMayPrintToTheStdLogThatRunsIt(t *testing.T) {
	for name := range userCode(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var std *log.Logger
			var once sync.Once
			printed := make(chan struct{})
			opts := userCode(func() {
				if std != nil {
					once.Do(func() { std.Print("inner"); close(printed) })
				}
			})[name]
			std = nib.New(io.Discard, opts...).StdLog(nib.LevelInfo + 1)
			watch(t, func() {
				std.Print("outer")
				<-printed
			})
		})
	}
}

// The goroutine of log.Panic continues, and the sink is flushed.
func TestStdLogPanicsWhenUserCodeEndsTheGoroutine(t *testing.T) {
	on := false
	for name, opts := range userCode(func() {
		if on {
			runtime.Goexit()
		}
	}) {
		var flushes atomic.Int32
		var sink recordtest.Recorder
		sink.FlushWith(func(context.Context) error { flushes.Add(1); return nil })
		l := nib.NewSink(&sink, opts...)
		on = true
		o := attempt(t, func() { l.StdLog(nib.LevelInfo).Panic("why") })
		on = false
		if hasSink := l.Sink() == nib.Sink(&sink); o.panicked != "why" || hasSink && flushes.Load() == 0 {
			t.Errorf("%s: got %+v and %d flushes, want a panic and a flush", name, o, flushes.Load())
		}
	}
}
