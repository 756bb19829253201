// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/nibslog"
)

// within fails with all stacks when f has not returned after a minute.
func within(t *testing.T, f func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatalf("deadlock:\n%s", stacks())
	}
}

func stacks() []byte {
	b := make([]byte, 1<<20)
	return b[:runtime.Stack(b, true)]
}

// A loop is a sink or writer that logs when it is called.
type loop struct {
	mu    sync.Mutex
	lines []string
	log   func(line string)
}

func (w *loop) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.lines = append(w.lines, string(p))
	w.mu.Unlock()
	w.log(string(p))
	return len(p), nil
}

func (w *loop) count(part string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// A loopSink is a loop that is not an io.Writer.
type loopSink struct{ *loop }

func (s loopSink) WriteRecord(r *nib.Record) error {
	_, err := s.loop.Write(r.Line)
	return err
}

// setters are ways to make log and slog use a logger. NewJSONHandler makes its
// own, on w.
var setters = map[string]func(l *nib.Logger, w io.Writer){
	"SetDefault":                       func(l *nib.Logger, _ io.Writer) { nibslog.SetDefault(l) },
	"slog.SetDefault, NewHandler":      func(l *nib.Logger, _ io.Writer) { slog.SetDefault(slog.New(nibslog.NewHandler(l))) },
	"slog.SetDefault, NewJSONHandler":  func(_ *nib.Logger, w io.Writer) { slog.SetDefault(slog.New(nibslog.NewJSONHandler(w, nil))) },
	"slog.SetDefault with call sites":  setWithCallSites,
	"slog.SetDefault with ReplaceAttr": setWithReplace,
	"slog.SetDefault with attributes": func(l *nib.Logger, _ io.Writer) {
		add := func(r *slog.Record) { r.AddAttrs(slog.Int("added", 1)) }
		slog.SetDefault(slog.New(middle{nibslog.NewHandler(l), add}))
	},
	"log.SetOutput": func(l *nib.Logger, _ io.Writer) {
		slog.SetDefault(slog.New(nibslog.NewHandler(l)))
		log.SetOutput(l.StdLog(nib.LevelInfo).Writer())
	},
}

func setWithCallSites(l *nib.Logger, _ io.Writer) {
	log.SetFlags(log.Lshortfile) // makes slog take the program counter
	slog.SetDefault(slog.New(nibslog.NewHandler(l)))
}

func setWithReplace(_ *nib.Logger, w io.Writer) {
	slog.SetDefault(slog.New(nibslog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: keep})))
}

// A logging value logs whenever its String method is called.
type logging struct{ log func() }

func (v logging) LogValue() slog.Value         { v.log(); return slog.StringValue("value") }
func (v logging) String() string               { v.log(); return "value" }
func (v logging) Error() string                { v.log(); return "value" }
func (v logging) MarshalJSON() ([]byte, error) { v.log(); return []byte(`"value"`), nil }

type jsonValue struct{ v logging }

func (v jsonValue) MarshalJSON() ([]byte, error) { return v.v.MarshalJSON() }

func TestNothingThatLogsWhileItIsLoggedBlocks(t *testing.T) {
	for setName, set := range setters {
		for _, asSink := range []bool{false, true} {
			for outName, out := range map[string]func(l *nib.Logger, text string){
				"log.Print":  func(_ *nib.Logger, text string) { log.Print(text) },
				"log.Writer": func(_ *nib.Logger, text string) { _, _ = io.WriteString(log.Writer(), text+"\n") },
				"slog.Info":  func(_ *nib.Logger, text string) { slog.Info(text) },
				"slog.With":  func(_ *nib.Logger, text string) { slog.With("a", 1).Info(text, "b", 2) },
				"nib":        func(l *nib.Logger, text string) { l.Info().Msg(text) },
			} {
				name := setName + ", " + outName
				if asSink {
					name += ", sink"
				}
				t.Run(name, func(t *testing.T) { testReentry(t, set, asSink, out) })
			}
		}
	}
}

func testReentry(t *testing.T, set func(*nib.Logger, io.Writer), asSink bool, out func(*nib.Logger, string)) {
	keepDefaults(t)
	w := new(loop)
	var sink io.Writer = w
	if asSink {
		sink = loopSink{w}
	}
	l := nib.New(sink)
	w.log = func(line string) {
		if !strings.Contains(line, "inner") {
			out(l, "inner")
		}
	}
	value := logging{func() { out(l, "value-inner") }}
	set(l, sink)
	for name, first := range map[string]func(){
		"log.Print":    func() { log.Print("outer") },
		"slog.Info":    func() { slog.Info("outer") },
		"nib":          func() { l.Info().Msg("outer") },
		"LogValue":     func() { slog.Info("outer", "v", value) },
		"MarshalJSON":  func() { slog.Info("outer", "v", jsonValue{value}) },
		"Error":        func() { slog.Info("outer", "v", error(value)) },
		"String":       func() { log.Print("outer", value) },
		"nib Stringer": func() { l.Info().Stringer("v", value).Msg("outer") },
	} {
		within(t, func() { first(); usercode.Idle() })
		if got := w.count("outer"); got != 1 {
			t.Errorf("%s: got %d outer lines, want 1", name, got)
		}
		if w.count("inner") == 0 {
			t.Errorf("%s: got no inner line, want some", name)
		}
		w.mu.Lock()
		w.lines = nil
		w.mu.Unlock()
	}
}

func TestASinkThatAlwaysLogsComesToAnEnd(t *testing.T) {
	for name, set := range setters {
		t.Run(name, func(t *testing.T) {
			keepDefaults(t)
			w := &loop{log: func(string) { log.Print("again") }}
			l := nib.New(w, nib.WithErrorHandler(func(error) { log.Print("failed") }))
			set(l, w)
			within(t, func() {
				log.Print("first")
				slog.Info("second")
				l.Info().Msg("third")
				usercode.Idle()
			})
			for _, want := range []string{"first", "second", "third"} {
				if got := w.count(want); got != 1 {
					t.Errorf("got %d lines of %q, want 1", got, want)
				}
			}
			if got := w.count("again"); got == 0 || got > 300 {
				t.Errorf("got %d lines of the sink's, want some and not many", got)
			}
		})
	}
}

// Package log holds its lock while a handler in front of nib's adds a value
// whose methods print.
func TestAValueThatAHandlerAddsMayPrint(t *testing.T) {
	for outName, out := range map[string]func(){
		"log.Print": func() { log.Print("inner") }, "slog.Info": func() { slog.Info("inner") },
	} {
		for valueName, attr := range map[string]func(v logging) slog.Attr{
			"LogValue":    func(v logging) slog.Attr { return slog.Any("v", v) },
			"MarshalJSON": func(v logging) slog.Attr { return slog.Any("v", jsonValue{v}) },
			"in a group":  func(v logging) slog.Attr { return slog.Group("g", slog.Any("v", v)) },
		} {
			keepDefaults(t)
			w := &loop{log: func(string) {}}
			var printed atomic.Bool
			value := logging{func() {
				if printed.CompareAndSwap(false, true) {
					out()
				}
			}}
			add := func(r *slog.Record) { r.AddAttrs(attr(value)) }
			slog.SetDefault(slog.New(middle{nibslog.NewHandler(nib.New(w)), add}))
			within(t, func() { log.Print("outer"); usercode.Idle() })
			if w.count("outer") != 1 || w.count(`"v":`) == 0 || w.count("inner") == 0 {
				t.Errorf("%s in %s: got %q", outName, valueName, w.lines)
			}
		}
	}
}

// Package log holds its lock while ReplaceAttr runs.
func TestReplaceAttrMayPrint(t *testing.T) {
	for name, inner := range map[string]string{"once": "inner", "always": "again outer"} {
		t.Run(name, func(t *testing.T) {
			keepDefaults(t)
			w := &loop{log: func(string) {}}
			slog.SetDefault(slog.New(nibslog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.MessageKey && strings.HasSuffix(a.Value.String(), "outer") {
					log.Print(inner)
				}
				return a
			}})))
			for _, first := range []func(){func() { log.Print("outer") }, func() { slog.Info("outer") }} {
				within(t, func() { first(); usercode.Idle() })
			}
			if got := w.count(`"outer"`); got != 2 {
				t.Errorf("got %d outer lines, want 2", got)
			}
			if got := w.count(inner); got == 0 || got > 300 {
				t.Errorf("got %d inner lines, want some and not many", got)
			}
		})
	}
}

// Each line that ReplaceAttr prints is written or counted.
func TestLineOfReplaceAttrThatIsNestedTooDeepIsCounted(t *testing.T) {
	keepDefaults(t)
	w := &loop{log: func(string) {}}
	var printed atomic.Int64
	h := nibslog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey {
			printed.Add(1)
			log.Print("again")
		}
		return a
	}})
	slog.SetDefault(slog.New(h))
	printed.Add(1)
	within(t, func() { log.Print("first"); usercode.Idle() })
	st := h.Stats()
	if got := int64(w.count("\n")) + int64(st.Reentrant); got != printed.Load() || st.Reentrant == 0 {
		t.Errorf("got %d lines written or counted of %d, %+v", got, printed.Load(), st)
	}
}

func TestAnErrorHandlerMayPrint(t *testing.T) {
	keepDefaults(t)
	var mu sync.Mutex
	var reported []string
	l := nib.New(failingWriter{}, nib.WithErrorHandler(func(err error) {
		mu.Lock()
		reported = append(reported, err.Error())
		mu.Unlock()
		log.Print("in the handler")
	}))
	nibslog.SetDefault(l)
	within(t, func() { log.Print("lost"); usercode.Idle() })
	mu.Lock()
	defer mu.Unlock()
	if len(reported) == 0 || reported[0] != "disk full" {
		t.Errorf("got %q, want disk full", reported)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }
