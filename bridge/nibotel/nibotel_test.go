// SPDX-License-Identifier: Apache-2.0

package nibotel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/bridge/nibotel"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibtest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/embedded"
	"go.opentelemetry.io/otel/trace"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

// withSpan returns a context with an active span.
func withSpan(ctx context.Context, span string) context.Context {
	t, _ := trace.TraceIDFromHex(traceID)
	s, _ := trace.SpanIDFromHex(span)
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s}))
}

func TestIDsOfTheActiveSpan(t *testing.T) {
	var rec recordtest.Recorder
	l := nib.NewSink(&rec, nib.WithContextFields(nibotel.ContextFields))
	ctx := withSpan(t.Context(), spanID)
	bound := l.With(func(e *nib.Event) { e.Ctx(ctx) })
	l.Info().Ctx(ctx).Msg("with")
	bound.LogAttrs(ctx, nib.LevelInfo, "bound")
	bound.LogAttrs(withSpan(ctx, "1111111111111111"), nib.LevelInfo, "child")
	l.LogAttrs(t.Context(), nib.LevelInfo, "without")
	for _, tt := range []struct {
		msg           string
		traces, spans int
		last          any
	}{{"with", 1, 1, spanID}, {"bound", 1, 1, spanID}, {"child", 1, 2, "1111111111111111"}, {"without", 0, 0, nil}} {
		i := slices.IndexFunc(rec.Lines(), func(s string) bool { return strings.Contains(s, `"`+tt.msg+`"`) })
		line := rec.Lines()[i]
		if strings.Count(line, `"trace_id"`) != tt.traces || strings.Count(line, `"span_id"`) != tt.spans || rec.Find(tt.msg)["span_id"] != tt.last {
			t.Errorf("%s: got %s", tt.msg, line)
		}
	}
}

func TestMallocsOfContextFields(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	l, ctx := nib.NewSink(discard{}, nib.WithContextFields(nibotel.ContextFields)), withSpan(t.Context(), spanID)
	alloctest.Zero(t, func() { l.Info().Ctx(ctx).Msg("m") })
}

type discard struct{}

func (discard) WriteRecord(*nib.Record) error { return nil }

// attributes has one of each kind, with its JSON.
var attributes = []struct {
	attribute.KeyValue
	want string
}{
	{attribute.Bool("bool", true), `"bool":true`},
	{attribute.Int64("int", -7), `"int":-7`},
	{attribute.Float64("float", 1.5), `"float":1.5`},
	{attribute.String("text", "a\"b\n"), `"text":"a\"b\n"`},
	{attribute.KeyValue{Key: "empty"}, `"empty":null`},
	{attribute.Slice("list", attribute.StringValue("a"), attribute.Int64Value(2), attribute.MapValue(attribute.Bool("b", false)),
		attribute.SliceValue(attribute.Float64Value(0.5)), attribute.Value{}), `"list":["a",2,{"b":false},[0.5],null]`},
	{attribute.Map("map", attribute.String("k", "v"), attribute.Map("m", attribute.Int("n", 1))), `"map":{"k":"v","m":{"n":1}}`},
	{attribute.ByteSlice("bytes", []byte("ab")), `"bytes":"YWI="`},
	{attribute.StringSlice("strings", []string{"a", "b"}), `"strings":["a","b"]`},
	{attribute.Int64Slice("ints", []int64{1, 2}), `"ints":[1,2]`},
	{attribute.BoolSlice("bools", []bool{true}), `"bools":[true]`},
	{attribute.Float64Slice("floats", []float64{0.5}), `"floats":[0.5]`},
}

// record returns a record with all attributes.
func record(severity log.Severity) (r log.Record) {
	r.SetTimestamp(recordtest.Epoch)
	r.SetSeverity(severity)
	r.SetBody(attribute.StringValue("order \"placed\""))
	for _, a := range attributes {
		r.AddAttributes(a.KeyValue)
	}
	return r
}

func TestRecordsOfOpenTelemetryBecomeLines(t *testing.T) {
	var rec recordtest.Recorder
	l := nib.NewSink(&rec, nib.WithContextFields(nibotel.ContextFields))
	scope := nibotel.NewLoggerProvider(l).Logger("shop", log.WithInstrumentationVersion("v1"),
		log.WithInstrumentationAttributes(attribute.String("zone", "z")))
	scope.Emit(withSpan(t.Context(), spanID), record(log.SeverityWarn))
	want := `{"time":"2026-01-02T15:04:05.000Z","level":"warn","logger":"shop","scope_version":"v1","zone":"z","trace_id":"` +
		traceID + `","span_id":"` + spanID + `"`
	for _, a := range attributes {
		want += "," + a.want
	}
	if want += `,"message":"order \"placed\""}`; rec.Last() != want {
		t.Errorf("\n got %s\nwant %s", rec.Last(), want)
	}

	var r log.Record
	r.SetObservedTimestamp(recordtest.Epoch.Add(time.Hour))
	r.SetEventName("paid")
	r.SetBody(attribute.Int64Value(5))
	r.SetErr(errors.New("broken"))
	scope.Emit(t.Context(), r)
	if got := rec.Last(); !strings.Contains(got, `"time":"2026-01-02T16:04:05.000Z","level":"info"`) ||
		!strings.Contains(got, `"event":"paid","body":5,"error":"broken"`) {
		t.Errorf("got %s", got)
	}
}

func TestSeveritiesAreLevels(t *testing.T) {
	var rec recordtest.Recorder
	out := nib.NewSink(nibotel.NewSink(nibotel.NewLoggerProvider(nib.NewSink(&rec, nib.WithLevel(nib.LevelTrace))).Logger("")), nib.WithLevel(nib.LevelTrace))
	for _, level := range []nib.Level{nib.LevelTrace, nib.LevelDebug, nib.LevelInfo, nib.LevelInfo + 2, nib.LevelWarn, nib.LevelError, nib.LevelError + 3, nib.LevelFatal} {
		out.At(level).Msg("m")
		if got := rec.Records()[rec.Len()-1].Level; got != level {
			t.Errorf("%v came back as %v", level, got)
		}
	}
	s := nibotel.NewLoggerProvider(nib.NewSink(&rec, nib.WithLevel(nib.LevelWarn))).Logger("")
	n := rec.Len()
	s.Emit(t.Context(), record(log.SeverityInfo4))
	if s.Enabled(t.Context(), log.EnabledParameters{Severity: log.SeverityInfo4}) ||
		!s.Enabled(t.Context(), log.EnabledParameters{Severity: log.SeverityWarn1}) || rec.Len() != n {
		t.Error("the level does not apply")
	}
}

// A fakeLogger records its calls.
type fakeLogger struct {
	embedded.Logger
	records []log.Record
	spans   []trace.SpanContext
}

func (f *fakeLogger) Enabled(context.Context, log.EnabledParameters) bool { return true }
func (f *fakeLogger) Emit(ctx context.Context, r log.Record) {
	f.records = append(f.records, r.Clone())
	f.spans = append(f.spans, trace.SpanContextFromContext(ctx))
}

func TestLinesBecomeRecordsOfOpenTelemetry(t *testing.T) {
	var to fakeLogger
	var clock nibtest.Clock
	l := nib.NewSink(nibotel.NewSink(&to), nib.WithClock(clock.Now), nib.WithContextFields(nibotel.ContextFields))
	e := l.Warn().Ctx(withSpan(t.Context(), spanID))
	for _, a := range attributes[:7] {
		key, raw, _ := strings.Cut(a.want, ":")
		e.RawJSON(strings.Trim(key, `"`), []byte(raw))
	}
	e.Msg("order \"placed\"")
	l.Info().Str("trace_id", "no id").Msg("")

	got := to.records[0]
	if !got.Timestamp().Equal(recordtest.Epoch) || got.Severity() != log.SeverityWarn || got.SeverityText() != "warn" || got.Body().AsString() != "order \"placed\"" {
		t.Errorf("got %v %v %v %v", got.Timestamp(), got.Severity(), got.SeverityText(), got.Body())
	}
	i := 0
	got.WalkAttributes(func(a attribute.KeyValue) bool {
		if want := attributes[i].KeyValue; a.Key != want.Key || a.Value != want.Value {
			t.Errorf("got %v, want %v", a, want)
		}
		i++
		return true
	})
	if c := to.spans[0]; i != 7 || c.TraceID().String() != traceID || c.SpanID().String() != spanID {
		t.Errorf("got %d attributes and %v", i, c)
	}
	if r := to.records[1]; r.AttributesLen() != 1 || to.spans[1].IsValid() {
		t.Errorf("got %d attributes, want what is no id as an attribute", r.AttributesLen())
	}
}

// attributesOf returns the attributes of a record as text.
func attributesOf(r log.Record) (list []string) {
	r.WalkAttributes(func(a attribute.KeyValue) bool {
		list = append(list, fmt.Sprintf("%s=%s %s", a.Key, a.Value.String(), a.Value.Type()))
		return true
	})
	return list
}

// A message without text has no bytes by which it could be found in the line.
func TestEmptyMessageIsTheBody(t *testing.T) {
	empty := func(l *nib.Logger) { l.Info().Msg("") }
	field := func(l *nib.Logger) { l.Info().Str("message", "").Send() }
	for _, c := range []struct {
		name string
		key  string
		log  func(*nib.Logger)
		body attribute.Type
		want []string
	}{
		{"nib's own key", "", empty, attribute.STRING, nil},
		{"another key", "msg", empty, attribute.STRING, nil},
		{"a field with nib's key", "msg", field, attribute.EMPTY, []string{"message= STRING"}},
		{"no key", nib.OmitKey, field, attribute.EMPTY, []string{"message= STRING"}},
	} {
		var to fakeLogger
		layout := nib.Layout{MessageKey: c.key}
		c.log(nib.NewSink(nibotel.NewSink(&to, layout), nib.WithLayout(layout)))
		r := to.records[0]
		if got := attributesOf(r); r.Body().Type() != c.body || !slices.Equal(got, c.want) {
			t.Errorf("%s: got a body of type %v and %q, want %v and %q",
				c.name, r.Body().Type(), got, c.body, c.want)
		}
	}
}

// Other loggers write text, and JSON that nothing else checks.
func TestALineThatIsNoObjectIsTheBody(t *testing.T) {
	for line, want := range map[string]string{
		"plain text\n":               "plain text",
		"{\"a\":1} and text\n":       "{\"a\":1} and text",
		"{\"msg\":\"cut off\n":       "{\"msg\":\"cut off",
		"[1,2]\n":                    "[1,2]",
		"\xff\n":                     "\uFFFD",
		" {\"msg\":\"an object\"}\n": "",
	} {
		var to fakeLogger
		r := nib.Record{Level: nib.LevelWarn, Line: []byte(line)}
		must.Succeed(t, nibotel.NewSink(&to).WriteRecord(&r))
		got := to.records[0]
		attributes := 0
		if want == "" {
			attributes = 1
		}
		if got.Body().AsString() != want || got.AttributesLen() != attributes {
			t.Errorf("%q: got the body %q and %d attributes, want %q and %d",
				line, got.Body().AsString(), got.AttributesLen(), want, attributes)
		}
	}
}

// Whatever fields the layout has, nib's own are no attributes, and fields of
// the program are.
func TestNoFieldOfALineIsLost(t *testing.T) {
	const none = nib.OmitKey
	own := []string{"time=noon STRING", "level=low STRING", "message=hello STRING"}
	for name, c := range map[string]struct {
		layout nib.Layout
		want   []string
	}{
		"nib's own": {nib.Layout{}, []string{
			"field.time=noon STRING", "field.level=low STRING", "field.message=hello STRING",
		}},
		"other keys": {nib.Layout{TimeKey: "ts", LevelKey: "sev", MessageKey: "msg"}, own},
		"no time":    {nib.Layout{TimeKey: none, LevelKey: "sev", MessageKey: "msg"}, own},
		"nothing":    {nib.Layout{TimeKey: none, LevelKey: none, MessageKey: none}, own},
		"the level first": {nib.Layout{TimeKey: none, MessageKey: "msg"}, []string{
			"time=noon STRING", "field.level=low STRING", "message=hello STRING",
		}},
	} {
		var to fakeLogger
		l := nib.NewSink(nibotel.NewSink(&to, c.layout), nib.WithLayout(c.layout))
		bound := l.With(func(e *nib.Event) { e.Str("time", "noon").Str("level", "low") })
		l.Info().Str("time", "noon").Str("level", "low").Str("message", "hello").Send()
		bound.Info().Str("message", "hello").Send()
		for _, r := range to.records {
			if got := attributesOf(r); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
	}
}

func TestNumbersOfAttributes(t *testing.T) {
	var to fakeLogger
	l := nib.NewSink(nibotel.NewSink(&to))
	l.Info().Uint64("max", math.MaxUint64).Int64("min", math.MinInt64).Msg("m")
	want := []string{"max=18446744073709551615 STRING", "min=-9223372036854775808 INT64"}
	if got := attributesOf(to.records[0]); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A record without a timestamp becomes a line of the time at which it came.
func TestRecordWithoutATimestamp(t *testing.T) {
	var rec recordtest.Recorder
	before := time.Now().Truncate(time.Millisecond)
	var r log.Record
	r.SetBody(attribute.StringValue("m"))
	nibotel.NewLoggerProvider(nib.NewSink(&rec)).Logger("").Emit(t.Context(), r)
	text, _ := rec.Find("m")["time"].(string)
	if at, err := time.Parse(time.RFC3339Nano, text); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("got the time %q, want about %v", text, before)
	}
}

// The field of an id that is alone is the record's, too.
func TestOneIDWithoutTheOther(t *testing.T) {
	var to fakeLogger
	l := nib.NewSink(nibotel.NewSink(&to))
	l.Info().Str("trace_id", traceID).Msg("m")
	l.Info().Str("span_id", spanID).Msg("m")
	if got := to.spans[0]; got.TraceID().String() != traceID || got.HasSpanID() {
		t.Errorf("got %v, want the trace id alone", got)
	}
	if got := to.spans[1]; got.SpanID().String() != spanID || got.HasTraceID() {
		t.Errorf("got %v, want the span id alone", got)
	}
}

func Example() {
	var clock nibtest.Clock
	l := nib.New(os.Stdout, nib.WithClock(clock.Now), nib.WithContextFields(nibotel.ContextFields))
	ctx := withSpan(context.Background(), spanID) // in place of a span of a tracer
	l.LogAttrs(ctx, nib.LevelInfo, "cart shown")
	library := nibotel.NewLoggerProvider(l).Logger("a/library")
	var r log.Record
	r.SetTimestamp(clock.Now())
	r.SetBody(attribute.StringValue("connected"))
	library.Emit(ctx, r)
	_ = nib.NewSink(nibotel.NewSink(library))
	// Output:
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","message":"cart shown"}
	// {"time":"2026-01-02T15:04:05.000Z","level":"info","logger":"a/library","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","message":"connected"}
}
