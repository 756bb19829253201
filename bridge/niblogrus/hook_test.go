// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/layout"
	"github.com/sirupsen/logrus"
)

// installed makes a logrus.Logger that writes to a recorder.
func installed(opts ...nib.Option) (*logrus.Logger, *recordtest.Recorder) {
	rec := new(recordtest.Recorder)
	l := logrus.New()
	l.SetLevel(logrus.TraceLevel)
	niblogrus.Install(l, nib.NewSink(rec, opts...))
	return l, rec
}

func withoutTime() nib.Option { return nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey}) }

func checkLast(t *testing.T, rec *recordtest.Recorder, want string) {
	t.Helper()
	if got := rec.Last(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHookForwardsEntries(t *testing.T) {
	type traceKey struct{}
	l, rec := installed(nib.WithContextFields(func(ctx context.Context, e *nib.Event) {
		if id, ok := ctx.Value(traceKey{}).(string); ok {
			e.Str("trace", id)
		}
	}))
	ctx := context.WithValue(context.Background(), traceKey{}, "4bf9")
	e := l.WithTime(noon).WithContext(ctx).WithError(io.EOF)
	e.WithFields(logrus.Fields{"b": time.Second, "a": logrus.Fields{"e": io.EOF, "t": []any{noon}}, "message": 1, "level": 2}).Warn("slow\n")
	checkLast(t, rec, `{"time":"2026-01-02T03:30:05.123Z","level":"warn","trace":"4bf9","a":{"e":"EOF","t":["2026-01-02T03:30:05.123Z"]},"b":1000,"error":"EOF","field.level":2,"field.message":1,"message":"slow\n"}`)
	r := rec.Records()[0]
	if r.Time != noon.UnixNano() || r.Level != nib.LevelWarn || r.PC != 0 {
		t.Errorf("got time %d, level %v, PC %d, want %d, %v and none", r.Time, r.Level, r.PC, noon.UnixNano(), nib.LevelWarn)
	}
}

func TestHookForwardsLevels(t *testing.T) {
	l, rec := installed(withoutTime())
	for _, level := range logrus.AllLevels {
		l.Log(level, "m")
	}
	want := []string{"panic", "fatal", "error", "warn", "info", "debug", "trace"}
	for i, line := range rec.Lines() {
		if want := `{"level":"` + want[i] + `","message":"m"}`; line != want {
			t.Errorf("got  %s\nwant %s", line, want)
		}
	}
	if rec.Len() != len(want) {
		t.Errorf("got %d lines, want %d", rec.Len(), len(want))
	}
}

func TestLogrusDecidesAboutLevels(t *testing.T) {
	l, rec := installed(nib.WithLevel(nib.LevelError))
	l.SetLevel(logrus.DebugLevel)
	l.Debug("written")
	l.Trace("not written")
	if rec.Len() != 1 {
		t.Errorf("got %d lines, want 1: %q", rec.Len(), rec.Lines())
	}
}

func TestHookForTheLevelsItIsGiven(t *testing.T) {
	var rec recordtest.Recorder
	l := logrus.New()
	l.SetOutput(io.Discard)
	h := &niblogrus.Hook{Logger: nib.NewSink(&rec), LogLevels: []logrus.Level{logrus.ErrorLevel}}
	l.AddHook(h)
	l.Warn("not for it")
	l.Error("for it")
	if rec.Len() != 1 || rec.Find("for it") == nil {
		t.Errorf("got %q, want the error only", rec.Lines())
	}
	if got := new(niblogrus.Hook).Levels(); !reflect.DeepEqual(got, logrus.AllLevels) {
		t.Errorf("zero Hook: got levels %v, want all", got)
	}
}

func TestHookShowsTheCallSiteThatLogrusReports(t *testing.T) {
	l, rec := installed(withoutTime())
	l.Info("m")
	checkLast(t, rec, `{"level":"info","message":"m"}`)
	l.SetReportCaller(true)
	for name, log := range map[string]func(){
		"Logger.Info":        func() { l.Info("m") },
		"Logger.Infof":       func() { l.Infof("m") },
		"Entry.Info":         func() { l.WithField("a", 1).Info("m") },
		"Entry.Print":        func() { l.WithField("a", 1).Print("m") },
		"a deferred call":    func() { defer l.Info("m") },
		"an inlined wrapper": func() { wrapper(l) },
	} {
		rec.Reset()
		log()
		r := rec.Records()[0]
		caller, _ := r.Lookup("caller")
		got := strings.TrimRight(strings.Trim(string(caller), `"`), "0123456789")
		if want := "niblogrus/hook_test.go:"; got != want || r.PC == 0 {
			t.Errorf("%s: got caller %s and PC %d, want %s", name, caller, r.PC, want)
		}
	}
	rec.Reset()
	_, _, line, _ := runtime.Caller(0)
	l.Info("m")
	want, _ := recordtest.Decode([]byte(rec.Last() + "\n"))
	if got := want["caller"]; got != fmt.Sprintf("niblogrus/hook_test.go:%d", line+1) {
		t.Errorf("got caller %v, want line %d", got, line+1)
	}
}

func wrapper(l *logrus.Logger) { l.Info("m") }

func TestHookShowsACallSiteInWords(t *testing.T) {
	l, rec := installed(withoutTime())
	e := logrus.NewEntry(l)
	e.Caller = &runtime.Frame{Function: "lua.main", File: "init.lua", Line: 7}
	e.Info("m")
	checkLast(t, rec, `{"level":"info","func":"lua.main","file":"init.lua:7","message":"m"}`)
}

func TestHookShowsWhatLogrusRefused(t *testing.T) {
	l, rec := installed(withoutTime())
	l.WithField("f", func() {}).Info("m")
	checkLast(t, rec, `{"level":"info","logrus_error":"skipping unsupported field \"f\"","message":"m"}`)
}

func TestHookWritesErrorsInTheWayOfTheLayout(t *testing.T) {
	l, rec := installed(nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, ErrorKey: "err", Error: layout.ErrorCauses}))
	l.WithError(errors.Join(io.EOF)).WithField("other", io.EOF).Info("m")
	checkLast(t, rec, `{"level":"info","err":"EOF","err_causes":["EOF"],"other":"EOF","message":"m"}`)
	l.WithField("error", "text").Info("m")
	checkLast(t, rec, `{"level":"info","error":"text","message":"m"}`)
}

func TestHookDoesNotEndTheProcess(t *testing.T) {
	l, rec := installed(withoutTime())
	exit := 0
	l.ExitFunc = func(code int) { exit = code }
	fatal := l.Fatal // comes back, since ExitFunc does
	fatal("the end")
	checkLast(t, rec, `{"level":"fatal","message":"the end"}`)
	if exit != 1 || rec.Flushes() != 1 {
		t.Errorf("Fatal: got exit code %d and %d flushes, want 1 and 1", exit, rec.Flushes())
	}
	func() {
		defer func() {
			if e, ok := recover().(*logrus.Entry); !ok || e.Message != "oh" {
				t.Error("Panic: want logrus's own panic with the entry")
			}
		}()
		l.Panic("oh")
	}()
	checkLast(t, rec, `{"level":"panic","message":"oh"}`)
	if rec.Flushes() != 2 {
		t.Errorf("Panic: got %d flushes, want 2", rec.Flushes())
	}
	if l.Error("no flush"); rec.Flushes() != 2 {
		t.Errorf("Error: got %d flushes, want still 2", rec.Flushes())
	}
}

func TestHookKeepsErrorsOfTheSinkFromLogrus(t *testing.T) {
	var failed []error
	l, rec := installed(nib.WithErrorHandler(func(err error) { failed = append(failed, err) }))
	rec.FailWith(io.ErrClosedPipe)
	later := new(countingHook)
	l.AddHook(later)
	l.Info("m")
	if len(failed) != 1 || later.entries != 1 {
		t.Errorf("got %d errors reported and %d calls of the next hook, want 1 and 1", len(failed), later.entries)
	}
}

// A countingHook changes entries, counts them, and calls String.
type countingHook struct {
	entries int
	text    string
}

func (h *countingHook) Levels() []logrus.Level { return logrus.AllLevels }

func (h *countingHook) Fire(e *logrus.Entry) error {
	h.entries++
	h.text, _ = e.String()
	e.Data["added"] = h.entries
	return nil
}

func TestHookWithoutALogger(t *testing.T) {
	h := new(niblogrus.Hook)
	if err := h.Fire(entryOf(nil)); err != nil {
		t.Errorf("got error %v, want none", err)
	}
	if err := (&niblogrus.Hook{Logger: nib.New(io.Discard)}).Fire(nil); err != nil {
		t.Errorf("nil entry: got error %v, want none", err)
	}
}

func TestHookCallsTheSampler(t *testing.T) {
	l, rec := installed(nib.WithSampler(none{}))
	l.WithField("a", 1).Info("m")
	if rec.Len() != 0 {
		t.Errorf("got %q, want nothing", rec.Lines())
	}
}

type none struct{}

func (none) Sample(nib.Level) bool { return false }

func TestHostileValuesThroughTheHook(t *testing.T) {
	l, rec := installed(withoutTime())
	for _, c := range tough {
		e := logrus.NewEntry(l)
		e.Data = logrus.Fields{"a": 1, "v": c.value, "z": 2}
		e.Info("m")
		if got, want := unexplained(rec.Last()), `{"level":"info","a":1,"v":`+c.want+`,"z":2,"message":"m"}`; got != want {
			t.Errorf("%s: got  %s\nwant %s", c.name, rec.Last(), want)
		}
	}
}

// A stack begins where the program logs, not in logrus.
func TestStacksBeginInTheCaller(t *testing.T) {
	var rec recordtest.Recorder
	l := logrus.New()
	niblogrus.Install(l, nib.NewSink(&rec, nib.WithStack(nib.LevelInfo)))
	l.Error("m1")
	l.WithField("a", 1).Info("m2")
	l.Infoln("m3")
	const want = "github.com/nib-log/nib/bridge/niblogrus_test.TestStacksBeginInTheCaller\n"
	for _, message := range []string{"m1", "m2", "m3"} {
		if got, _ := rec.Find(message)["stack"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q first", message, got, want)
		}
	}
}
