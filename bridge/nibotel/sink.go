// SPDX-License-Identifier: Apache-2.0

package nibotel

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/nib-log/nib"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"
)

var _ nib.Sink = (*Sink)(nil)

// A Sink emits the lines of nib as records of an OpenTelemetry log.Logger, for
// programs that have an SDK with other processors:
//
//	log := nib.NewSink(nibotel.NewSink(global.Logger("shop")))
//
// The message is the body and the level the severity. Fields are attributes,
// except time and level; trace_id and span_id are those of the record. A number
// without fraction and exponent is an int64, and durations are in the format of
// the Layout. Emit allocates, and reports no error: what happens to a record is
// up to the SDK. A Sink is safe for concurrent use.
type Sink struct{ to log.Logger }

// NewSink returns a Sink that emits to l.
func NewSink(l log.Logger) *Sink { return &Sink{l} }

// WriteRecord implements nib.Sink. It returns nil.
func (s *Sink) WriteRecord(r *nib.Record) error {
	var out log.Record
	out.SetTimestamp(time.Unix(0, r.Time))
	out.SetSeverity(severityOf(r.Level))
	out.SetSeverityText(r.Level.String())
	var span trace.SpanContextConfig
	attributes := make([]attribute.KeyValue, 0, 8)
	for rawKey, raw := range r.Fields() {
		key := unquote(rawKey)
		switch {
		case len(r.Message) > 0 && len(raw) > 2 && &raw[1] == &r.Message[0]:
			out.SetBody(attribute.StringValue(unquote(r.Message)))
		case len(r.Message) == 0 && key == "message", key == "time", key == "level":
		case key == "trace_id" && span.TraceID == trace.TraceID{} && setTrace(&span, raw):
		case key == "span_id" && setSpan(&span, raw):
		default:
			attributes = append(attributes, attribute.KeyValue{Key: attribute.Key(key), Value: valueOf(raw)})
		}
	}
	out.AddAttributes(attributes...)
	ctx := context.Background()
	if c := trace.NewSpanContext(span); c.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, c)
	}
	s.to.Emit(ctx, out)
	return nil
}

// severityOf is the inverse of levelOf, except for levels between panic and
// fatal.
func severityOf(l nib.Level) log.Severity {
	if l >= nib.LevelPanic {
		return min(log.SeverityFatal+log.Severity(max(l-nib.LevelFatal, 0)), log.SeverityFatal4)
	}
	return log.SeverityTrace + log.Severity(max(l-nib.LevelTrace, 0))
}

// setTrace reports whether raw is a trace id.
func setTrace(c *trace.SpanContextConfig, raw []byte) bool {
	id, err := trace.TraceIDFromHex(unquote(bytes.Trim(raw, `"`)))
	c.TraceID = id
	return err == nil
}

// setSpan reports whether raw is a span id. Of several the last is the active
// one.
func setSpan(c *trace.SpanContextConfig, raw []byte) bool {
	id, err := trace.SpanIDFromHex(unquote(bytes.Trim(raw, `"`)))
	if err == nil {
		c.SpanID = id
	}
	return err == nil
}

// unquote returns the text of a JSON string without its quotes.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &text) != nil {
		return string(raw)
	}
	return text
}

// valueOf returns a JSON value as the value of an attribute.
func valueOf(raw []byte) attribute.Value {
	switch raw[0] {
	case '"':
		return attribute.StringValue(unquote(raw[1 : len(raw)-1]))
	case 't', 'f':
		return attribute.BoolValue(raw[0] == 't')
	case 'n':
		return attribute.Value{}
	case '{', '[':
		return containerOf(raw)
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return attribute.Int64Value(n)
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return attribute.StringValue(string(raw))
	}
	return attribute.Float64Value(f)
}

// containerOf returns an object, whose members keep their order, or an array.
func containerOf(raw []byte) attribute.Value {
	if raw[0] == '{' {
		var members []attribute.KeyValue
		r := nib.Record{Line: raw}
		for key, value := range r.Fields() {
			members = append(members, attribute.KeyValue{Key: attribute.Key(unquote(key)), Value: valueOf(value)})
		}
		return attribute.MapValue(members...)
	}
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return attribute.StringValue(string(raw))
	}
	values := make([]attribute.Value, len(elements))
	for i, e := range elements {
		values[i] = valueOf(e)
	}
	return attribute.SliceValue(values...)
}
