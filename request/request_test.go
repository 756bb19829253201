// SPDX-License-Identifier: Apache-2.0

package request_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// event runs f as a request and returns its event, nil if there is none.
func event(c request.Config, o request.Outcome, f func(ctx context.Context), opts ...nib.Option) map[string]any {
	var rec recordtest.Recorder
	var r request.Request
	r.Start(context.Background(), request.New(c), nib.NewSink(&rec, opts...), "r1", "")
	f(&r)
	if e := r.End(o); e != nil {
		r.AddFields(e)
		e.Msg("request")
	}
	return rec.Find("request")
}

func TestAddedFieldsFollowTheRulesOfALine(t *testing.T) {
	for _, tt := range []struct {
		name string
		add  func(ctx context.Context)
		opt  nib.Option
		want map[string]any
	}{
		{"two additions", func(ctx context.Context) {
			request.Add(ctx, func(e *nib.Event) { e.Str("a", "1").Dur("d", time.Second) })
			request.AddAttrs(ctx, slog.Group("g", "b", 2))
		}, nib.Option{}, map[string]any{"a": "1", "d": 1000.0, "g": map[string]any{"b": 2.0}}},
		{"a key with an escape", func(ctx context.Context) {
			request.AddAttrs(ctx, slog.Int("a\n\"b", 1))
		}, nib.Option{}, map[string]any{"a\n\"b": 1.0}},
		{"a reserved key", func(ctx context.Context) {
			request.AddAttrs(ctx, slog.String("level", "forged"))
		}, nib.Option{}, map[string]any{"level": "info", "field.level": "forged"}},
		{"the same key twice, the first wins", func(ctx context.Context) {
			request.AddAttrs(ctx, slog.Int("n", 1))
			request.AddAttrs(ctx, slog.Int("n", 2))
		}, nib.WithDuplicateKeys(nib.DuplicatesFirstWins), map[string]any{"n": 1.0}},
		{"the same key twice, renamed", func(ctx context.Context) {
			request.AddAttrs(ctx, slog.Int("n", 1))
			request.AddAttrs(ctx, slog.Int("n", 2))
		}, nib.WithDuplicateKeys(nib.DuplicatesRename), map[string]any{"n": 1.0, "n#2": 2.0}},
		{"redaction", func(ctx context.Context) {
			request.AddAttrs(ctx, slog.String("token", "secret"))
		}, nib.WithRedact("token"), map[string]any{"token": "***"}},
		{"the layout", func(ctx context.Context) {
			request.Add(ctx, func(e *nib.Event) { e.Dur("d", time.Second) })
		}, nib.WithLayout(nib.Layout{Duration: nib.DurationString}), map[string]any{"d": "1s"}},
		{"an error", func(ctx context.Context) {
			request.Add(ctx, func(e *nib.Event) { e.Err(errors.New("broken")) })
		}, nib.Option{}, map[string]any{"error": "broken"}},
		{"a panic", func(ctx context.Context) {
			request.Add(ctx, func(e *nib.Event) { e.Int("a", 1); panic("p") })
		}, nib.Option{}, map[string]any{"a": 1.0, "panic": "!PANIC: p"}},
		{"an addition within an addition", func(ctx context.Context) {
			request.Add(ctx, func(e *nib.Event) { request.AddAttrs(ctx, slog.Int("inner", 1)); e.Int("outer", 2) })
		}, nib.Option{}, map[string]any{"inner": 1.0, "outer": 2.0}},
		{"an end within an addition", func(ctx context.Context) {
			request.Add(ctx, func(e *nib.Event) { e.Int("a", 1).Msg("no") })
		}, nib.WithErrorHandler(func(error) {}), map[string]any{"a": 1.0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := event(request.Config{}, request.Outcome{}, tt.add, tt.opt)
			for k, want := range tt.want {
				if g, ok := want.(map[string]any); ok {
					if sub, _ := got[k].(map[string]any); sub["b"] != g["b"] {
						t.Errorf("%s: got %v, want %v", k, got[k], want)
					}
				} else if got[k] != want {
					t.Errorf("%s: got %v, want %v", k, got[k], want)
				}
			}
		})
	}
}

func TestAddKeepsNothingOfItsArguments(t *testing.T) {
	b := []byte("before")
	got := event(request.Config{}, request.Outcome{}, func(ctx context.Context) {
		request.Add(ctx, func(e *nib.Event) { e.Bytes("b", b) })
		copy(b, "after!")
	})
	if got["b"] != "before" {
		t.Errorf("got %v, want the bytes at the time of Add", got["b"])
	}
}

func TestAdditionsAreBounded(t *testing.T) {
	p := request.New(request.Config{MaxBytes: 100})
	var rec recordtest.Recorder
	var r request.Request
	r.Start(context.Background(), p, nib.NewSink(&rec), "", "")
	request.AddAttrs(&r, slog.String("big", strings.Repeat("x", 1<<20)))
	request.AddAttrs(&r, slog.String("a", strings.Repeat("x", 50)))
	request.AddAttrs(&r, slog.String("b", strings.Repeat("x", 50)))
	request.AddAttrs(&r, slog.Int("c", 1))
	e := r.End(request.Outcome{})
	r.AddFields(e)
	e.Msg("request")
	got := rec.Find("request")
	if got["big"] != nil || got["a"] == nil || got["b"] != nil || got["c"] != 1.0 || got["additions_dropped"] != 2.0 {
		t.Errorf("got %v", got)
	}
	if s := p.Stats(); s.TooLarge != 2 {
		t.Errorf("got %+v, want 2 too large", s)
	}
}

func TestAdditionsAfterTheEndAreDroppedAndCounted(t *testing.T) {
	p := request.New(request.Config{})
	var rec recordtest.Recorder
	var r request.Request
	r.Start(context.Background(), p, nib.NewSink(&rec), "", "")
	r.End(request.Outcome{}).Msg("request")
	request.AddAttrs(&r, slog.Int("late", 1))
	request.Keep(&r)
	if e := r.End(request.Outcome{Failed: true}); e != nil {
		t.Error("the second End returned an event")
	}
	if s := p.Stats(); s.Late != 2 || s.Ended != 1 || s.Written != 1 || rec.Len() != 1 {
		t.Errorf("got %+v and %d lines", s, rec.Len())
	}
}

func TestAddWithoutARequestDoesNothing(t *testing.T) {
	request.Add(context.Background(), func(*nib.Event) { t.Error("f ran") })
	var none context.Context
	request.AddAttrs(none, slog.Int("a", 1))
	request.Keep(context.Background())
	r := request.FromContext(context.Background())
	if r != nil || r.ID() != "" || r.Traceparent() != "" {
		t.Error("there is a request")
	}
}

func TestWhichRequestsHaveAnEvent(t *testing.T) {
	rare := request.Config{Sample: 1 << 30, Slow: time.Second}
	keep := request.Keep
	none := func(context.Context) {}
	for _, tt := range []struct {
		name   string
		config request.Config
		o      request.Outcome
		f      func(ctx context.Context)
		weight any // nil: no field
		want   bool
	}{
		{"without a Sample", request.Config{}, request.Outcome{}, none, nil, true},
		{"not chosen", rare, request.Outcome{Took: time.Second - 1}, none, nil, false},
		{"failed", rare, request.Outcome{Failed: true}, none, 1.0, true},
		{"slow", rare, request.Outcome{Took: time.Second}, none, 1.0, true},
		{"marked", rare, request.Outcome{}, keep, 1.0, true},
		{"skipped", rare, request.Outcome{Skip: true, Failed: true}, keep, nil, false},
		{"level off", rare, request.Outcome{Level: nib.LevelDebug, Failed: true}, keep, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := event(tt.config, tt.o, tt.f)
			if (got != nil) != tt.want || got["sample_weight"] != tt.weight {
				t.Errorf("got %v, want an event: %v, with weight %v", got, tt.want, tt.weight)
			}
		})
	}
}

func TestSampleChoosesOneOfEachNInARow(t *testing.T) {
	const n, rows = 7, 1000
	p := request.New(request.Config{Sample: n})
	log := nib.NewSink(new(recordtest.Recorder))
	var places [n]int
	for row := range rows {
		chosen := 0
		for i := range n {
			var r request.Request
			r.Start(context.Background(), p, log, "", "")
			if e := r.End(request.Outcome{}); e != nil {
				e.Discard().Send()
				chosen++
				places[i]++
			}
		}
		if chosen != 1 {
			t.Fatalf("row %d: %d events, want 1", row, chosen)
		}
	}
	for i, got := range places {
		if want := rows / n; got < want/2 || got > want*2 {
			t.Errorf("place %d was chosen %d times of %d, want about %d", i, got, rows, want)
		}
	}
}

func TestBacktraceHoldsLinesBackWhateverTheLevelOfTheLogger(t *testing.T) {
	rules, err := nib.ParseRules("info,db=warn")
	must.Succeed(t, err)
	for _, failed := range []bool{false, true} {
		var rec recordtest.Recorder
		log := nib.NewSink(&rec, nib.WithRules(rules))
		bt := sink.Backtrace(log.Sink(), sink.BacktraceConfig{})
		var r request.Request
		r.Start(context.Background(), request.New(request.Config{Backtrace: bt}), log, "r1", "")
		nib.FromContext(&r).Named("db").Debug().Msg("query")
		nib.FromContext(&r).Trace().Msg("below")
		nib.FromContext(&r).Info().Msg("info")
		r.End(request.Outcome{Failed: failed}).Msg("request")
		nib.FromContext(&r).Debug().Msg("late")
		want := "info request"
		if failed {
			want = "info query request late"
		}
		var got []string
		for _, rec := range rec.Records() {
			got = append(got, string(rec.Message))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("failed %v: got %v, want %s", failed, got, want)
		}
		if q := rec.Find("query"); failed && (q["request_id"] != "r1" || q["backtrace"] != true) {
			t.Errorf("got %v", q)
		}
	}
}

func TestIDsOfARequestWithinAnother(t *testing.T) {
	var outer, inner, own, bad request.Request
	log := nib.NewSink(new(recordtest.Recorder))
	outer.Start(context.Background(), nil, log, "bad id", traceparent)
	inner.Start(&outer, nil, log, "", "")
	own.Start(&outer, nil, log, "own", "")
	bad.Start(&outer, nil, log, "own", "not a traceparent")
	if len(outer.ID()) != 32 || inner.ID() != outer.ID() || inner.Traceparent() != traceparent {
		t.Errorf("got %q and %q, want the id of the outer request in both", outer.ID(), inner.ID())
	}
	if own.ID() != "own" || own.Traceparent() != traceparent {
		t.Errorf("got %q with %q, want the id of the client with the trace of the outer request", own.ID(), own.Traceparent())
	}
	if bad.ID() != "own" || bad.Traceparent() != traceparent {
		t.Errorf("got %q with %q, want the trace of the outer request in place of the invalid one",
			bad.ID(), bad.Traceparent())
	}
	if request.FromContext(&inner) != &inner {
		t.Error("the context belongs to the outer request")
	}
}

// Each line of a request within another one has the ids of that request, each
// once, and the other fields of the context.
func TestLinesOfARequestWithinAnotherHaveItsIDsOnce(t *testing.T) {
	const otherTrace = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	const other = "00-" + otherTrace + "-bbbbbbbbbbbbbbbb-01"
	for _, tt := range []struct {
		id, traceparent     string
		ownLogger           bool
		want, trace, spanID string
	}{
		{"", "", false, "outer", traceID, "00f067aa0ba902b7"},
		{"", "", true, "outer", traceID, "00f067aa0ba902b7"},
		{"inner", "", false, "inner", traceID, "00f067aa0ba902b7"},
		{"inner", other, false, "inner", otherTrace, "bbbbbbbbbbbbbbbb"},
		{"", other, false, "outer", otherTrace, "bbbbbbbbbbbbbbbb"},
	} {
		var rec recordtest.Recorder
		log := nib.NewSink(&rec).With(func(e *nib.Event) { e.Str("service", "shop") })
		var outer, inner request.Request
		outer.Start(t.Context(), nil, log, "outer", traceparent)
		ctx := nib.NewContext(&outer, nib.FromContext(&outer).With(func(e *nib.Event) {
			e.Str("tenant", "t1")
		}))
		if tt.ownLogger {
			log = nib.FromContext(ctx)
		}
		inner.Start(request.WithIDs(ctx, tt.id, tt.traceparent), nil, log, "", "")
		nib.FromContext(&inner).Info().Msg("line")
		e := inner.End(request.Outcome{})
		inner.AddIDs(e)
		e.Msg("request")
		for _, line := range rec.Lines() {
			for key, want := range map[string]string{
				"request_id": tt.want, "trace_id": tt.trace, "span_id": tt.spanID,
				"tenant": "t1", "service": "shop",
			} {
				if strings.Count(line, `"`+key+`":`) != 1 ||
					!strings.Contains(line, `"`+key+`":"`+want+`"`) {
					t.Errorf("%+v: got %s, want %s once, %s", tt, line, key, want)
				}
			}
		}
	}
}

func TestWithIDs(t *testing.T) {
	var rec recordtest.Recorder
	log := nib.NewSink(&rec)
	var outer request.Request
	outer.Start(t.Context(), nil, log, "outer", traceparent)
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		own    string
		id     string
		traced bool
	}{
		{"no request", request.WithIDs(t.Context(), "own", ""), "", "own", false},
		{"within a request", request.WithIDs(&outer, "own", ""), "", "own", true},
		{"invalid within a request", request.WithIDs(&outer, "not an id", "no trace"), "", "outer", true},
		{"a trace alone", request.WithIDs(request.WithIDs(t.Context(), "own", ""), "", traceparent), "", "own", true},
		{"id of a client", request.WithIDs(t.Context(), "own", traceparent), "client", "client", true},
	} {
		var r request.Request
		r.Start(tt.ctx, nil, log, tt.own, "")
		if r.ID() != tt.id || strings.Contains(r.Traceparent(), traceID) != tt.traced {
			t.Errorf("%s: got %s of trace %q, want %s, of the trace: %v", tt.name, r.ID(), r.Traceparent(), tt.id, tt.traced)
		}
		if request.FromContext(tt.ctx) != nil && request.FromContext(tt.ctx) != &outer {
			t.Errorf("%s: the context belongs to another request", tt.name)
		}
	}
	ctx := request.WithIDs(t.Context(), "", "")
	var first, second, line request.Request
	line.Start(request.WithIDs(t.Context(), "own", traceparent), nil, log, "", "")
	nib.FromContext(&line).Info().Msg("line")
	if got := rec.Find("line"); got["request_id"] != "own" || got["trace_id"] != traceID {
		t.Errorf("got %v", got)
	}
	first.Start(ctx, nil, log, "", "")
	second.Start(ctx, nil, log, "", "")
	if len(first.ID()) != 32 || first.ID() != second.ID() {
		t.Errorf("got the ids %q and %q, want one generated id", first.ID(), second.ID())
	}
}

func TestContextFieldsStandInPlaceOfTheTraceparent(t *testing.T) {
	for _, trace := range []string{"", "from the context"} {
		var rec recordtest.Recorder
		log := nib.NewSink(&rec, nib.WithContextFields(func(ctx context.Context, e *nib.Event) {
			if trace != "" {
				e.Str("trace_id", trace)
			}
		}))
		var r request.Request
		r.Start(t.Context(), nil, log, "r1", traceparent)
		nib.FromContext(&r).Info().Msg("line")
		e := r.End(request.Outcome{})
		r.AddIDs(e)
		e.Msg("request")
		want := trace
		if want == "" {
			want = traceID
		}
		for _, line := range rec.Lines() {
			if strings.Count(line, `"trace_id"`) != 1 || !strings.Contains(line, want) {
				t.Errorf("got %s, want one trace_id, %s", line, want)
			}
		}
	}
}

// An endsGoroutine is an error whose Error method ends the goroutine.
type endsGoroutine struct{}

func (endsGoroutine) Error() string {
	runtime.Goexit()
	return ""
}

func TestOnFailureRunsOnceForARequest(t *testing.T) {
	runs := 0
	var r request.Request
	p := request.New(request.Config{OnFailure: func(context.Context) { runs++ }})
	r.Start(context.Background(), p, nib.NewSink(new(recordtest.Recorder)), "r1", "")
	for n := range 3 {
		if e := r.End(request.Outcome{Failed: true}); e != nil {
			if n > 0 {
				t.Errorf("End %d returned an event", n+1)
			}
			e.Send()
		}
	}
	if runs != 1 {
		t.Errorf("OnFailure ran %d times, want once", runs)
	}
}

// TestOnFailureMayEndItsGoroutine checks that a request whose OnFailure calls
// runtime.Goexit ends as others do.
func TestOnFailureMayEndItsGoroutine(t *testing.T) {
	var got map[string]any
	done := make(chan struct{})
	go func() {
		defer close(done)
		got = event(request.Config{OnFailure: func(ctx context.Context) {
			request.AddAttrs(ctx, slog.Int("n", 1))
			runtime.Goexit()
		}}, request.Outcome{Failed: true}, func(context.Context) {})
	}()
	<-done
	if got["n"] != 1.0 {
		t.Errorf("got event %v, want one with the field of OnFailure", got)
	}
}

func TestRunWritesOneEvent(t *testing.T) {
	boom := errors.New("boom")
	for _, tt := range []struct {
		name string
		f    func(ctx context.Context) error
		want map[string]any
	}{
		{"that returns", func(context.Context) error { return nil }, map[string]any{"level": "info", "error": nil, "aborted": nil}},
		{"that fails", func(context.Context) error { return boom }, map[string]any{"level": "error", "error": "boom", "aborted": nil}},
		{"that panics", func(context.Context) error { panic(boom) }, map[string]any{"level": "error", "panic": "boom", "aborted": true}},
		{"that panics without a text", func(context.Context) error { panic(endsGoroutine{}) }, map[string]any{"level": "error", "panic": "request_test.endsGoroutine", "aborted": true}},
		{"that ends its goroutine", func(context.Context) error { runtime.Goexit(); return nil }, map[string]any{"level": "error", "aborted": true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rec recordtest.Recorder
			var err, panicked any
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { panicked = recover() }()
				err = request.New(request.Config{}).Run(t.Context(), nib.NewSink(&rec), "tidy", func(ctx context.Context) error {
					request.AddAttrs(ctx, slog.Int("rows", 3))
					return tt.f(ctx)
				})
			}()
			<-done
			got := rec.Find("job")
			if rec.Len() != 1 || got["job"] != "tidy" || got["rows"] != 3.0 {
				t.Fatalf("got %q", rec.Lines())
			}
			for k, want := range tt.want {
				if got[k] != want {
					t.Errorf("%s: got %v, want %v", k, got[k], want)
				}
			}
			if stack, _ := got["stack"].(string); (panicked != nil) != strings.Contains(stack, "github.com/nib-log/nib/request_test.Test") ||
				tt.name == "that panics" && !strings.HasPrefix(stack, "github.com/nib-log/nib/request_test.Test") {
				t.Errorf("the stack does not begin with the function that panicked: %q", stack)
			}
			if tt.name == "that fails" && err != boom || tt.name == "that panics" && panicked != boom ||
				tt.name == "that panics without a text" && panicked != (endsGoroutine{}) {
				t.Errorf("got error %v and panic %T, want what the job returned or panicked with", err, panicked)
			}
		})
	}
}

func TestTheZeroPolicyCollectsFields(t *testing.T) {
	for name, p := range map[string]*request.Policy{"nil": nil, "zero": new(request.Policy)} {
		var rec recordtest.Recorder
		_ = p.Run(t.Context(), nib.NewSink(&rec), "job", func(ctx context.Context) error {
			request.AddAttrs(ctx, slog.Int("a", 1))
			return nil
		})
		if got := rec.Find("job"); got["a"] != 1.0 {
			t.Errorf("%s: got %v, want the field a", name, got)
		}
	}
}

func TestANilPolicyAndANilLogger(t *testing.T) {
	var p *request.Policy
	var rec recordtest.Recorder
	_ = p.Run(t.Context(), nib.NewSink(&rec), "job", func(context.Context) error { return nil })
	_ = p.Run(t.Context(), nil, "job", func(ctx context.Context) error {
		request.AddAttrs(ctx, slog.Int("a", 1))
		nib.FromContext(ctx).Info().Msg("nothing")
		return nil
	})
	if rec.Len() != 1 {
		t.Errorf("got %d lines, want 1", rec.Len())
	}
	rec.Reset()
	var none context.Context
	_ = p.Run(none, nib.NewSink(&rec), "job", func(ctx context.Context) error { return context.Cause(ctx) })
	if got := rec.Find("job"); got["level"] != "info" {
		t.Errorf("without a context: got %v", got)
	}
	before := p.Stats().Ended
	_ = p.Run(t.Context(), nil, "job", func(context.Context) error { return nil })
	if got := p.Stats().Ended - before; got != 1 {
		t.Errorf("got %d requests counted, want 1", got)
	}
	for m := range p.Metrics() {
		if !strings.HasPrefix(m.Name, "nib_request_") {
			t.Errorf("got metric %s", m.Name)
		}
	}
}

func TestOnFailure(t *testing.T) {
	type own struct{}
	var calls []string
	var p *request.Policy
	p = request.New(request.Config{OnFailure: func(ctx context.Context) {
		calls = append(calls, ctx.Value(own{}).(string))
		var nested request.Request
		nested.Start(ctx, p, nil, "", "")
		nested.End(request.Outcome{Failed: true}) // does not call it again
		panic("ignored")
	}})
	for _, name := range []string{"a", "b"} {
		var r request.Request
		r.Start(context.WithValue(t.Context(), own{}, name), p, nil, "", "")
		r.End(request.Outcome{Failed: name != ""})
	}
	var well request.Request
	well.Start(t.Context(), p, nil, "", "")
	well.End(request.Outcome{})
	if strings.Join(calls, "") != "ab" {
		t.Errorf("it was called for %v, want a and b", calls)
	}
}

func TestOnFailureBelongsToTheRequest(t *testing.T) {
	var rec recordtest.Recorder
	var r request.Request
	r.Start(t.Context(), request.New(request.Config{OnFailure: func(ctx context.Context) {
		request.AddAttrs(ctx, slog.String("snapshot", "1.trace"))
		nib.FromContext(ctx).Info().Msg("saved")
	}}), nib.NewSink(&rec), "r1", "")
	e := r.End(request.Outcome{Failed: true})
	r.AddFields(e)
	e.Msg("request")
	if got := rec.Find("request")["snapshot"]; got != "1.trace" {
		t.Errorf("got %v, want the field that OnFailure adds", got)
	}
	if got := rec.Find("saved")["request_id"]; got != "r1" {
		t.Errorf("got request_id %v, want r1", got)
	}
}

func TestAnEventHasNoCallSite(t *testing.T) {
	got := event(request.Config{}, request.Outcome{}, func(ctx context.Context) {
		request.AddAttrs(ctx, slog.Int("n", 1))
	}, nib.WithCaller())
	if caller, ok := got["caller"]; ok || got["n"] != 1.0 {
		t.Errorf("got caller %v in %v, want none: it would be in this package", caller, got)
	}
}

func TestValidate(t *testing.T) {
	err := request.Config{Slow: -1, Sample: -2, MaxBytes: -3}.Validate()
	for _, want := range []string{"Slow is -1ns", "Sample is -2", "MaxBytes is -3"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := (request.Config{}).Validate(); err != nil {
		t.Errorf("the zero Config: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("New did not panic")
		}
	}()
	request.New(request.Config{Sample: -1})
}

func TestMetrics(t *testing.T) {
	p := request.New(request.Config{Sample: 2})
	for i := range 4 {
		var r request.Request
		r.Start(t.Context(), p, nib.NewSink(new(recordtest.Recorder)), "", "")
		if e := r.End(request.Outcome{Failed: i == 0}); e != nil {
			e.Discard().Send()
		}
		request.AddAttrs(&r, slog.Int("late", 1))
	}
	var out bytes.Buffer
	must.Succeed(t, metrics.WritePrometheus(&out, p))
	for _, want := range []string{
		`nib_request_kept_total{reason="failed"} 1`, `nib_request_kept_total{reason="slow"} 0`,
		`nib_request_dropped_additions_total{reason="late"} 4`,
		`nib_request_events_total{outcome="sampled_out"} `, `nib_request_events_total{outcome="written"} `,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %s", out.String(), want)
		}
	}
}

func TestMallocsOfAJob(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	log, p, id := nib.NewSink(sink.Discard()), request.New(request.Config{}), "c7"
	job := func(ctx context.Context) error {
		request.Add(ctx, func(e *nib.Event) { e.Str("cart", id) })
		request.AddAttrs(ctx, slog.String("customer", id), slog.Int("items", 3))
		return nil
	}
	ctx := t.Context()
	if got, _ := alloctest.Count(func() { _ = p.Run(ctx, log, "job", job) }, 1000); got != 1 {
		t.Errorf("got %v mallocs a job, want 1", got)
	}
}

func TestIDsOfATraceHaveTheKeysOfTheLayout(t *testing.T) {
	for _, tt := range []struct {
		layout      nib.Layout
		trace, span string
	}{
		{nib.Layout{}, "trace_id", "span_id"},
		{nib.Layout{TraceKey: "trace.id", SpanKey: "span.id"}, "trace.id", "span.id"},
		{nib.Layout{TraceKey: "t", SpanKey: nib.OmitKey}, "t", ""},
		{nib.Layout{TraceKey: nib.OmitKey, SpanKey: nib.OmitKey}, "", ""},
	} {
		var rec recordtest.Recorder
		log := nib.NewSink(&rec, nib.WithLayout(tt.layout))
		var r request.Request
		r.Start(t.Context(), nil, log, "r1", traceparent)
		nib.FromContext(&r).Info().Msg("line")
		e := r.End(request.Outcome{})
		r.AddIDs(e)
		e.Msg("request")
		want := ""
		if tt.trace != "" {
			want = `"` + tt.trace + `":"` + traceID + `",`
		}
		if tt.span != "" {
			want += `"` + tt.span + `":"00f067aa0ba902b7",`
		}
		for _, line := range rec.Lines() {
			if !strings.Contains(line, `"request_id":"r1",`+want+`"message"`) {
				t.Errorf("%+v: got %s, want %s", tt.layout, line, want)
			}
		}
	}
}
