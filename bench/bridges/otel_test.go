// SPDX-License-Identifier: Apache-2.0

package bridges

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/contrib/bridges/otelslog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/logtest"
	"go.opentelemetry.io/otel/trace"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/nibotel"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/nibslog"
)

// programs is how many random calls the comparisons make.
func programs() int {
	if os.Getenv("NIB_E2E") == "full" {
		return 50_000
	}
	return 2_000
}

// out returns a logger whose lines become records of r.
func out(r *logtest.Recorder) *nib.Logger {
	return nib.NewSink(nibotel.NewSink(r.Logger("shop")), nib.WithLevel(nib.LevelTrace), nib.WithLayout(nib.Layout{Duration: nib.DurationNanos}),
		nib.WithContextFields(nibotel.ContextFields))
}

// settled removes parts that may differ: the name of a level in upper case, and
// the context. The ids of its active span become an attribute.
func settled(r logtest.Record) logtest.Record {
	r.SeverityText = strings.ToLower(r.SeverityText)
	if c := trace.SpanContextFromContext(r.Context); c.IsValid() {
		r.Attributes = append(r.Attributes, attribute.String("span", c.TraceID().String()+c.SpanID().String()))
	}
	r.Context = nil
	return r
}

func equal(t *testing.T, what string, want, got *logtest.Recorder) {
	t.Helper()
	if !logtest.AssertEqual(t, want.Result(), got.Result(), logtest.Transform(settled)) {
		t.Fatal(what)
	}
}

var words = []string{"", "tea", "a\"b\\c", "line\nbreak", "ünï 漢字", "true", "12", "trace"}

func word(rnd *rand.Rand) string { return words[rnd.IntN(len(words))] }

// slogValue returns a value that otelslog and nib write alike: times and bytes
// are texts in a line.
func slogValue(rnd *rand.Rand, depth int) slog.Value {
	switch n := rnd.IntN(7); {
	case n == 0:
		return slog.Int64Value(rnd.Int64() - rnd.Int64())
	case n == 1:
		return slog.BoolValue(rnd.IntN(2) == 0)
	case n == 2:
		return slog.Float64Value(float64(rnd.IntN(1000)) + 0.5)
	case n == 3:
		return slog.DurationValue(time.Duration(rnd.Int64N(1e12)))
	case n == 4 && depth < 3:
		return slog.GroupValue(slogAttrs(rnd, 1+rnd.IntN(3), depth+1)...)
	}
	return slog.StringValue(word(rnd))
}

func slogAttrs(rnd *rand.Rand, n, depth int) (all []slog.Attr) {
	for i := range n {
		all = append(all, slog.Attr{Key: fmt.Sprintf("k%d", i), Value: slogValue(rnd, depth)})
	}
	return all
}

func TestRecordsAreThoseOfOtelslog(t *testing.T) {
	rnd := rand.New(rand.NewPCG(seed.Of(t), 19))
	for i := range programs() {
		theirs, own := logtest.NewRecorder(), logtest.NewRecorder()
		ctx, bound, attrs, message := t.Context(), slogAttrs(rnd, rnd.IntN(3), 0), slogAttrs(rnd, rnd.IntN(9), 0), word(rnd)
		if rnd.IntN(2) == 0 {
			ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, byte(i)}, SpanID: trace.SpanID{2}}))
		}
		r := slog.NewRecord(time.Unix(1767366245, rnd.Int64N(1e9)), slog.Level(4*rnd.IntN(4)-4), message, 0)
		for j := range attrs { // keys of their own, since a line keeps equal ones
			attrs[j].Key = "c" + attrs[j].Key
		}
		r.AddAttrs(attrs...)
		for _, h := range []slog.Handler{otelslog.NewHandler("shop", otelslog.WithLoggerProvider(theirs)), nibslog.NewHandler(out(own))} {
			if err := h.WithAttrs(bound).Handle(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, fmt.Sprintf("program %d: %v %q %v", i, bound, message, attrs), theirs, own)
	}
}

// otelValue returns a value that is the same after its way through a line.
func otelValue(rnd *rand.Rand, depth int) attribute.Value {
	switch n := rnd.IntN(8); {
	case n == 0:
		return attribute.Int64Value(rnd.Int64() - rnd.Int64())
	case n == 1:
		return attribute.BoolValue(rnd.IntN(2) == 0)
	case n == 2:
		return attribute.Float64Value(float64(rnd.IntN(1000)) + 0.5)
	case n == 3:
		return attribute.Value{}
	case n == 4 && depth < 3:
		return attribute.SliceValue(otelValue(rnd, depth+1), otelValue(rnd, depth+1))
	case n == 5 && depth < 3:
		return attribute.MapValue(otelAttributes(rnd, 1+rnd.IntN(3), depth+1)...)
	}
	return attribute.StringValue(word(rnd))
}

func otelAttributes(rnd *rand.Rand, n, depth int) (all []attribute.KeyValue) {
	for i := range n {
		all = append(all, attribute.KeyValue{Key: attribute.Key(fmt.Sprintf("k%d", i)), Value: otelValue(rnd, depth)})
	}
	return all
}

// A record that becomes a line, and that line a record, is the same again.
func TestRecordsAreTheSameAfterBothDirections(t *testing.T) {
	rnd := rand.New(rand.NewPCG(seed.Of(t), 20))
	for i := range programs() {
		want, got := logtest.NewRecorder(), logtest.NewRecorder()
		var r log.Record
		r.SetTimestamp(time.Unix(1767366245, rnd.Int64N(1e9)))
		r.SetSeverity(log.SeverityTrace1 + log.Severity(rnd.IntN(20)))
		r.SetSeverityText(nib.Level(int(r.Severity()) - 9).String())
		r.SetBody(attribute.StringValue(word(rnd)))
		attributes := otelAttributes(rnd, rnd.IntN(9), 0)
		r.AddAttributes(attributes...)
		want.Logger("shop").Emit(t.Context(), r)
		nibotel.NewLoggerProvider(out(got)).Logger("").Emit(t.Context(), r)
		equal(t, fmt.Sprintf("program %d: %v", i, attributes), want, got)
	}
}
