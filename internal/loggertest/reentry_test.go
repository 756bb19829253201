// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"errors"
	"log"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/linewriter"
)

// A chattyWriter logs to its own logger: it calls say for each line.
type chattyWriter struct {
	l     *nib.Logger
	lines []string
	say   func(l *nib.Logger, line string)
	deep  int // nested calls
	most  int
}

func (w *chattyWriter) Write(p []byte) (int, error) {
	w.deep++
	w.most = max(w.most, w.deep)
	w.lines = append(w.lines, string(p))
	w.say(w.l, string(p))
	w.deep--
	return len(p), nil
}

func TestWriterThatLogsToItselfDoesNotDeadlock(t *testing.T) {
	for name, x := range map[string]struct {
		say       func(l *nib.Logger, line string)
		lines     int
		reentrant uint64
	}{
		"never":  {func(*nib.Logger, string) {}, 10, 0},
		"always": {func(l *nib.Logger, _ string) { l.Info().Msg("inner") }, 10 * 5, 10},
		"twice":  {func(l *nib.Logger, _ string) { l.Info().Msg("a"); l.Named("x").Info().Msg("b") }, 10 * 31, 10 * 32},
		"once": {func(l *nib.Logger, line string) {
			if strings.Contains(line, "outer") {
				l.Info().Msg("inner")
			}
		}, 20, 0},
		"by With": {func(l *nib.Logger, line string) {
			l.With(func(e *nib.Event) { e.Str("a", "b") }).Named("x").Info().Msg("inner")
		}, 10 * 5, 10},
	} {
		w := &chattyWriter{say: x.say}
		w.l = nib.New(w, bare, nib.WithErrorHandler(func(error) {}))
		watch(t, func() {
			for range 10 {
				w.l.Info().Msg("outer")
			}
		})
		if s := w.l.Stats(); len(w.lines) != x.lines || s.Reentrant != x.reentrant || s.Failed != 0 || w.most != 1 {
			t.Errorf("%s\n got %d lines, %+v, %d calls at once\nwant %d lines, %d reentrant", name, len(w.lines), s, w.most, x.lines, x.reentrant)
		}
		for _, line := range w.lines {
			if _, err := parseLine([]byte(line)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestWriterThatFloodsItselfIsLimited(t *testing.T) {
	w := &chattyWriter{say: func(l *nib.Logger, line string) {
		if strings.Contains(line, "outer") {
			for range 1000 {
				l.Info().Msg("inner")
			}
		}
	}}
	var reported atomic.Int64
	w.l = nib.New(w, bare, nib.WithErrorHandler(func(err error) {
		if errors.Is(err, linewriter.ErrReentrant) {
			reported.Add(1)
		}
	}))
	watch(t, func() { w.l.Info().Msg("outer") })
	if s := w.l.Stats(); uint64(len(w.lines))+s.Reentrant != 1001 || len(w.lines) < 2 || reported.Load() != int64(s.Reentrant) {
		t.Errorf("got %d lines, %+v, %d reported, want 1001 in all", len(w.lines), s, reported.Load())
	}
}

func TestWritersThatLogToEachOtherDoNotDeadlock(t *testing.T) {
	a, b := &chattyWriter{}, &chattyWriter{}
	quiet := nib.WithErrorHandler(func(error) {})
	a.l, b.l = nib.New(a, bare, quiet), nib.New(b, bare, quiet)
	a.say = func(*nib.Logger, string) { b.l.Info().Msg("from a") }
	b.say = func(*nib.Logger, string) { a.l.Info().Msg("from b") }
	watch(t, func() {
		var all sync.WaitGroup
		for _, l := range []*nib.Logger{a.l, b.l} {
			all.Add(1)
			go func() {
				defer all.Done()
				for range 100 {
					l.Info().Msg("outer")
				}
			}()
		}
		all.Wait()
	})
	if len(a.lines) < 100 || len(b.lines) < 100 || a.most != 1 || b.most != 1 {
		t.Errorf("got %d and %d lines, %d and %d calls at once", len(a.lines), len(b.lines), a.most, b.most)
	}
}

func TestSinkThatLogsToItselfIsLimited(t *testing.T) {
	var l *nib.Logger
	calls := 0
	l = nib.NewSink(sinkFunc(func(*nib.Record) error {
		calls++
		l.Info().Msg("inner")
		return nil
	}), nib.WithErrorHandler(func(error) {}))
	watch(t, func() {
		for range 10 {
			l.Info().Msg("outer")
		}
	})
	if s := l.Stats(); s.Reentrant != 10 || calls < 20 || calls > 10*64 {
		t.Errorf("got %d calls, %+v", calls, s)
	}
}

// Many goroutines at once in a sink are not re-entry.
func TestManyGoroutinesInASinkAreNotTakenForRecursion(t *testing.T) {
	const goroutines = 100
	var inside sync.WaitGroup
	inside.Add(goroutines)
	l := nib.NewSink(sinkFunc(func(*nib.Record) error {
		inside.Done()
		inside.Wait() // until all are in here
		return nil
	}))
	watch(t, func() {
		await.Goroutines(goroutines, func(int) {
			l.Info().Msg("m")
		})
	})
	if s := l.Stats(); s.Reentrant+s.Failed != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestUserCodeMayLog(t *testing.T) {
	l, c := newCapture(t)
	for _, d := range trapdoors(func() { l.Info().Str("inner", "x").Msg("inner") }) {
		outer := l.WithOptions(d.opts...)
		watch(t, func() {
			e := outer.Info().Str("outer", "x")
			d.add(e)
			e.Msg("outer")
		})
		lines := c.take()
		last := lines[len(lines)-1]
		if len(lines) < 2 || last.get("message").text != "outer" || last.get("inner") != nil {
			t.Errorf("%s\n got %s", d.name, lines)
		}
	}
}

func TestErrorHandlerMayLog(t *testing.T) {
	fails := func([]byte) (int, error) { return 0, errStep }
	for name, sink := range map[string]nib.Sink{
		"writer": nib.WriterSink(writeFunc(fails)), "sink": sinkFunc(func(*nib.Record) error { return errStep }),
	} {
		var l *nib.Logger
		handled := 0
		l = nib.NewSink(sink, nib.WithErrorHandler(func(err error) {
			handled++
			l.Error().Err(err).Msg("cannot log")
			l.Error().Func(func(e *nib.Event) { e.Send() }).Msg("misuse")
		}))
		watch(t, func() {
			for range 10 {
				l.Info().Msg("m")
			}
		})
		if s := l.Stats(); handled != 10 || s.Failed != 30 {
			t.Errorf("%s: handled %d, %+v, want 10 handled and 30 failed", name, handled, s)
		}
	}
}

func TestWriterMayFlush(t *testing.T) {
	w := &flushingWriter{}
	w.l = nib.New(w, bare, nib.WithExit(func(int) { w.exits++ }))
	watch(t, func() { w.l.Info().Msg("m") })
	if w.lines < 2 || w.exits != 1 || w.err != nil {
		t.Errorf("got %d lines, %d exits, %v", w.lines, w.exits, w.err)
	}
}

// A flushingWriter asks its logger to flush while it writes.
type flushingWriter struct {
	l            *nib.Logger
	lines, exits int
	err          error
}

func (w *flushingWriter) Flush() error { return nil }

func (w *flushingWriter) Write(p []byte) (int, error) {
	if w.lines++; w.lines == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		w.err = errors.Join(w.l.Flush(ctx), w.l.Flush(context.Background()))
		w.l.Fatal().Msg("inner") // flushes with a deadline
	}
	return len(p), nil
}

// TestWriterMayLogWhileItIsFlushed has a writer that logs in Flush, and writes
// that line, fails, panics, or ends the goroutine. The line is written or
// counted, and the lock is free.
func TestWriterMayLogWhileItIsFlushed(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func() error
		stats nib.Stats
	}{
		{"writes", func() error { return nil }, nib.Stats{}},
		{"fails", func() error { return errStep }, nib.Stats{Failed: 1}},
		{"panics", func() error { panic("step") }, nib.Stats{Failed: 1}},
		{"ends", func() error { runtime.Goexit(); return nil }, nib.Stats{Aborted: 1}},
	} {
		w := &flushedWriter{inner: c.write}
		w.l = nib.New(w, bare, nib.WithErrorHandler(func(error) {}))
		watch(t, func() {
			w.l.Info().Msg("outer")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel() // it makes Flush run in a goroutine of its own, which may end
			if err := w.l.Flush(ctx); (err != nil) != (c.name == "ends") {
				t.Errorf("%s: Flush: %v", c.name, err)
			}
			w.l.Info().Msg("last")
		})
		got := w.l.Stats()
		got.Misused = 0 // of other tests, too
		if got != c.stats || w.lines != 3 {
			t.Errorf("%s: got %d lines and %+v, want 3 and %+v", c.name, w.lines, got, c.stats)
		}
	}
}

// A flushedWriter logs a line when it is flushed first.
type flushedWriter struct {
	l              *nib.Logger
	inner          func() error // result of Write for that line
	lines, flushes int
}

func (w *flushedWriter) Flush() error {
	if w.flushes++; w.flushes == 1 {
		w.l.Info().Msg("inner")
	}
	return nil
}

func (w *flushedWriter) Write(p []byte) (int, error) {
	if len(p) == 1 {
		return 1, nil // the end of a line that was not written whole
	}
	if w.lines++; strings.Contains(string(p), "inner") {
		if err := w.inner(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// The loggers of package log and of nib write to each other.
func TestStandardLoggerInALoopIsLimited(t *testing.T) {
	w := &stdLoop{}
	l := nib.New(w, bare, nib.WithErrorHandler(func(error) {}))
	w.std = l.StdLog(nib.LevelInfo)
	watch(t, func() {
		l.Info().Msg("from nib")
		w.std.Print("from log")
	})
	await.Until(t, "package log has written its line", func() bool { return w.n.Load() > 1 })
	if n := w.n.Load(); n < 2 || n > 1000 {
		t.Errorf("got %d lines", n)
	}
}

type stdLoop struct {
	std *log.Logger
	n   atomic.Int64
}

func (w *stdLoop) Write(p []byte) (int, error) {
	w.n.Add(1)
	w.std.Printf("%d bytes", len(p))
	return len(p), nil
}
