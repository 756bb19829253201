// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/linewriter"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

// writingWith returns a branch whose WriteRecord calls write, and keeps the
// record if write returns nil.
func writingWith(write func(*nib.Record) error) *recordtest.Recorder {
	rec := new(recordtest.Recorder)
	rec.WriteWith(write)
	return rec
}

// flushingWith returns a branch whose Flush calls flush.
func flushingWith(flush func(context.Context) error) *recordtest.Recorder {
	rec := new(recordtest.Recorder)
	rec.FlushWith(flush)
	return rec
}

func wantLines(t *testing.T, rec *recordtest.Recorder, name string, want ...string) {
	t.Helper()
	if got := rec.Lines(); !slices.Equal(got, want) {
		t.Errorf("%s got %q, want %q", name, got, want)
	}
}

// suppressedMessage is the message of lines that report suppressed ones.
const suppressedMessage = "lines suppressed"

// quiet is a branch that discards all lines and never logs.
type quiet struct{ contract.TraitSet }

func (quiet) WriteRecord(*nib.Record) error { return nil }

func newQuiet() quiet { return quiet{contract.TraitsFor(nil, contract.NeverLogs)} }

func neverLogs(s nib.Sink) bool { return contract.TraitsOf(s)&contract.NeverLogs != 0 }

func record(level nib.Level, line string) *nib.Record {
	return &nib.Record{Level: level, Line: []byte(line + "\n")}
}

var (
	errOne = errors.New("one")
	errTwo = errors.New("two")
)

func TestTeeGivesEveryBranchEveryRecord(t *testing.T) {
	var a, b recordtest.Recorder
	s := sink.Tee(&a, &b)
	for _, line := range []string{`{"n":1}`, `{"n":2}`} {
		must.Succeed(t, s.WriteRecord(record(nib.LevelInfo, line)))
	}
	wantLines(t, &a, "a", "{\"n\":1}", "{\"n\":2}")
	wantLines(t, &b, "b", "{\"n\":1}", "{\"n\":2}")
}

func TestTeeGoesOnAfterABranchThat(t *testing.T) {
	for _, tt := range []struct {
		name  string
		write func(*nib.Record) error
		err   string // "" if WriteRecord does not return
	}{
		{"fails", func(*nib.Record) error { return errOne }, "nib/sink: branch 1: one"},
		{"panics", func(*nib.Record) error { panic("boom") }, "nib/sink: branch 1: panicked: boom"},
		{"panics with a loop", func(*nib.Record) error { panic(loop()) }, "nib/sink: branch 1: panicked: map[string]interface {}"},
		{"ends the goroutine", func(*nib.Record) error { runtime.Goexit(); return nil }, ""},
		{"panics with an error that ends the goroutine", func(*nib.Record) error { panic(endingError{}) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var first, last recordtest.Recorder
			s := sink.Tee(&first, writingWith(tt.write), &last)
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				err = s.WriteRecord(record(nib.LevelInfo, "{}"))
			}()
			<-done
			wantLines(t, &first, "first", "{}")
			wantLines(t, &last, "last", "{}")
			if got := text(err); got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
		})
	}
}

type endingError struct{}

func (endingError) Error() string { runtime.Goexit(); return "" }

func TestTeeJoinsErrors(t *testing.T) {
	s := sink.Tee(
		writingWith(func(*nib.Record) error { return errOne }),
		writingWith(func(*nib.Record) error { panic(errTwo) }),
		writingWith(func(*nib.Record) error { return linewriter.ErrReentrant }),
	)
	err := s.WriteRecord(record(nib.LevelInfo, "{}"))
	want := "nib/sink: branch 0: one\nnib/sink: branch 1: panicked: two\nnib/sink: branch 2: " +
		linewriter.ErrReentrant.Error()
	if text(err) != want {
		t.Errorf("error %q, want %q", text(err), want)
	}
	if !errors.Is(err, errOne) || !errors.Is(err, linewriter.ErrReentrant) {
		t.Errorf("errors.Is does not find the parts of %v", err)
	}
}

func TestTeeKeepsItsOwnListOfBranches(t *testing.T) {
	var a, b recordtest.Recorder
	list := []nib.Sink{&a}
	s := sink.Tee(list...)
	list[0] = &b
	_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
	wantLines(t, &a, "a", "{}")
	wantLines(t, &b, "b")
}

func TestRouteChoosesByLevel(t *testing.T) {
	for _, tt := range []struct {
		level nib.Level
		want  string
	}{
		{nib.LevelTrace - 1, "low"},
		{nib.LevelTrace, "low"},
		{nib.LevelInfo - 1, "low"},
		{nib.LevelInfo, "middle"},
		{nib.LevelInfo + 2, "middle"},
		{nib.LevelWarn, "middle"},
		{nib.LevelWarn + 1, "otherwise"},
		{nib.LevelError - 1, "otherwise"},
		{nib.LevelError, "high"},
		{nib.LevelFatal + 1000, "high"},
	} {
		t.Run(tt.level.String(), func(t *testing.T) {
			branches := map[string]*recordtest.Recorder{
				"low": {}, "middle": {}, "high": {}, "otherwise": {}, "shadowed": {}}
			s := sink.Route(branches["otherwise"],
				sink.AtLeast(nib.LevelError, branches["high"]),
				sink.RouteRule{From: nib.LevelTrace - 1000, To: nib.LevelInfo - 1,
					Sink: branches["low"]},
				sink.RouteRule{From: nib.LevelInfo, To: nib.LevelWarn, Sink: branches["middle"]},
				sink.RouteRule{From: nib.LevelInfo, To: nib.LevelWarn, Sink: branches["shadowed"]},
			)
			must.Succeed(t, s.WriteRecord(record(tt.level, "{}")))
			for name, b := range branches {
				if got, want := b.Len(), map[bool]int{true: 1}[name == tt.want]; got != want {
					t.Errorf("%s got %d lines, want %d", name, got, want)
				}
			}
		})
	}
}

func TestFilterForwardsSelectedRecords(t *testing.T) {
	var p recordtest.Recorder
	s := sink.Filter(&p, func(r *nib.Record) bool { return r.Level >= nib.LevelWarn })
	_ = s.WriteRecord(record(nib.LevelInfo, `{"n":1}`))
	_ = s.WriteRecord(record(nib.LevelError, `{"n":2}`))
	wantLines(t, &p, "sink", "{\"n\":2}")
}

func TestFilterLetsTheRecordThroughWhenKeep(t *testing.T) {
	for name, keep := range map[string]func(*nib.Record) bool{
		"panics":             func(*nib.Record) bool { panic("boom") },
		"ends the goroutine": func(*nib.Record) bool { runtime.Goexit(); return false },
	} {
		t.Run(name, func(t *testing.T) {
			var p recordtest.Recorder
			s := sink.Filter(&p, keep)
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				err = s.WriteRecord(record(nib.LevelInfo, "{}"))
			}()
			<-done
			wantLines(t, &p, "sink", "{}")
			if err != nil {
				t.Errorf("error %v: the line is not lost", err)
			}
		})
	}
}

func TestFilterLeavesAPanicOfTheSinkAlone(t *testing.T) {
	calls := 0
	s := sink.Filter(writingWith(func(*nib.Record) error { calls++; panic("sink") }),
		func(*nib.Record) bool { return true })
	defer func() {
		if p := recover(); p != "sink" || calls != 1 {
			t.Errorf("got panic %v after %d calls, want sink after 1", p, calls)
		}
	}()
	_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
}

func TestMarkNeverLogs(t *testing.T) {
	keep := func(*nib.Record) bool { return true }
	for _, tt := range []struct {
		name string
		sink nib.Sink
		want bool
	}{
		{"Discard", sink.Discard(), true},
		{"Tee of none", sink.Tee(), true},
		{"Tee of quiet", sink.Tee(newQuiet(), newQuiet()), true},
		{"Tee of quiet and loud", sink.Tee(newQuiet(), new(recordtest.Recorder)), false},
		{"Route of quiet", sink.Route(newQuiet(), sink.AtLeast(nib.LevelWarn, newQuiet())), true},
		{"Route otherwise loud",
			sink.Route(new(recordtest.Recorder), sink.AtLeast(nib.LevelWarn, newQuiet())), false},
		{"Route with a loud rule",
			sink.Route(newQuiet(), sink.AtLeast(nib.LevelWarn, new(recordtest.Recorder))), false},
		{"Filter of quiet", sink.Filter(newQuiet(), keep), false},
		{"Tee of a Tee of quiet", sink.Tee(sink.Tee(newQuiet()), sink.Discard()), true},
	} {
		if got := neverLogs(tt.sink); got != tt.want {
			t.Errorf("%s: never logs %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWrongUsePanics(t *testing.T) {
	keep := func(*nib.Record) bool { return true }
	for name, f := range map[string]func(){
		"Tee with nil":        func() { sink.Tee(newQuiet(), nil) },
		"Route otherwise nil": func() { sink.Route(nil) },
		"Route to nil":        func() { sink.Route(newQuiet(), sink.AtLeast(nib.LevelWarn, nil)) },
		"Route upside down": func() {
			sink.Route(newQuiet(), sink.RouteRule{From: nib.LevelWarn, Sink: newQuiet()})
		},
		"Filter of nil":           func() { sink.Filter(nil, keep) },
		"Filter without function": func() { sink.Filter(newQuiet(), nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestWriteRecordDoesNotAllocate(t *testing.T) {
	keep := func(r *nib.Record) bool { return r.Level >= nib.LevelInfo }
	r := record(nib.LevelWarn, `{"level":"warn"}`)
	for name, s := range map[string]nib.Sink{
		"Tee": sink.Tee(newQuiet(), accept{}, sink.Tee(newQuiet(), newQuiet())),
		"Route": sink.Route(accept{}, sink.AtLeast(nib.LevelError, newQuiet()),
			sink.AtLeast(nib.LevelWarn, newQuiet())),
		"Filter":               sink.Filter(accept{}, keep),
		"Discard":              sink.Discard(),
		"Tee with one failing": sink.Tee(newQuiet(), newFailing()),
	} {
		t.Run(name, func(t *testing.T) {
			alloctest.Zero(t, func() { _ = s.WriteRecord(r) })
		})
	}
}

// newFailing returns a sink that writes nothing.
func newFailing() *recordtest.Recorder {
	var rec recordtest.Recorder
	rec.FailWith(errOne)
	return &rec
}

func TestManyGoroutines(t *testing.T) {
	var a, b, c recordtest.Recorder
	s := sink.Tee(&a, sink.Route(&b, sink.AtLeast(nib.LevelError, sink.Filter(&c, func(r *nib.Record) bool {
		return r.Level != nib.LevelPanic
	}))))
	log := nib.NewSink(s, nib.WithErrorHandler(func(err error) { t.Error(err) }))
	await.Goroutines(8, func(int) {
		for range 100 {
			log.Info().Msg("i")
			log.Error().Msg("e")
			log.At(nib.LevelPanic).Msg("p")
		}
	})
	if got := [3]int{a.Len(), b.Len(), c.Len()}; got != [3]int{2400, 800, 800} {
		t.Errorf("lines %v, want [2400 800 800]", got)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// loop returns a value that package fmt would follow until the stack is full.
func loop() any {
	m := map[string]any{}
	m["m"] = m
	return m
}
