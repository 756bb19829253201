// SPDX-License-Identifier: Apache-2.0

package nibotel

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"
)

type sink struct {
	to log.Logger

	// The keys are "" if the layout leaves the field out.
	timeKey, levelKey, messageKey, traceKey, spanKey string
}

// NewSink returns a sink that emits lines as records of an OpenTelemetry
// log.Logger, for programs that have an SDK with other processors:
//
//	log := nib.NewSink(nibotel.NewSink(otel.Logger("shop")))
//
// The message is the body and the level the severity. Fields are attributes,
// except nib's own time and level; trace_id and span_id, or the keys of the
// Layout for these, become the ids of the record. A number without fraction and
// exponent is an int64, or a string if it is too large for one, and durations
// are in the format of the Layout. A line that is not a JSON object is the
// body. Emit allocates, and reports no error: the SDK is responsible for the
// record. The sink is safe for concurrent use.
//
// layout is the Layout of the loggers that write to the sink, by default nib's
// own: its keys show which fields are nib's time, level and message and the ids
// of a trace.
func NewSink(l log.Logger, layout ...nib.Layout) nib.Sink {
	s := &sink{
		to: l, timeKey: "time", levelKey: "level", messageKey: "message",
		traceKey: "trace_id", spanKey: "span_id",
	}
	for _, x := range layout {
		s.timeKey, s.levelKey = keyOf(x.TimeKey, s.timeKey), keyOf(x.LevelKey, s.levelKey)
		s.messageKey = keyOf(x.MessageKey, s.messageKey)
		s.traceKey, s.spanKey = keyOf(x.TraceKey, s.traceKey), keyOf(x.SpanKey, s.spanKey)
	}
	return s
}

// keyOf returns the key of a field in a Layout, "" if it is left out.
func keyOf(key, otherwise string) string {
	switch key {
	case "":
		return otherwise
	case nib.OmitKey:
		return ""
	}
	return key
}

// isKey reports whether key is the key of a field that the layout does not
// leave out.
func isKey(key, of string) bool { return key == of && of != "" }

// WriteRecord implements nib.Sink. It returns nil.
func (s *sink) WriteRecord(r *nib.Record) error {
	var out log.Record
	out.SetTimestamp(time.Unix(0, r.Time))
	out.SetSeverity(severityOf(r.Level))
	out.SetSeverityText(r.Level.String())
	if r.Message == nil && !isObject(r.Line) { // a line of another logger, by sink.Writer
		text := strings.ToValidUTF8(strings.TrimSuffix(string(r.Line), "\n"), "\uFFFD")
		out.SetBody(attribute.StringValue(text))
		s.to.Emit(context.Background(), out)
		return nil
	}
	var span trace.SpanContextConfig
	line := copied{line: r.Line, text: string(r.Line)}
	var some [12]attribute.KeyValue
	attributes := some[:0]
	for rawKey, rawValue := range r.Fields() {
		key, raw := unquote(line.part(rawKey)), line.part(rawValue)
		switch {
		case len(r.Message) > 0 && len(rawValue) > 2 && &rawValue[1] == &r.Message[0]:
			out.SetBody(attribute.StringValue(unquote(raw[1 : len(raw)-1])))
		case len(r.Message) == 0 && isKey(key, s.messageKey) && raw == `""`:
			out.SetBody(attribute.StringValue(""))
		case isKey(key, s.timeKey), isKey(key, s.levelKey): // fields of the program have others
		case isKey(key, s.traceKey) && span.TraceID == trace.TraceID{} && setTrace(&span, raw):
		case isKey(key, s.spanKey) && setSpan(&span, raw):
		default:
			attributes = append(attributes,
				attribute.KeyValue{Key: attribute.Key(key), Value: valueOf(raw)})
		}
	}
	out.AddAttributes(attributes...)
	ctx := context.Background()
	if c := trace.NewSpanContext(span); c.HasTraceID() || c.HasSpanID() {
		ctx = trace.ContextWithSpanContext(ctx, c)
	}
	s.to.Emit(ctx, out)
	return nil
}

// isObject reports whether line is a JSON object.
func isObject(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte{'{'}) && json.Valid(line)
}

// severityOf is the inverse of levelOf, except for levels between panic and
// fatal.
func severityOf(l nib.Level) log.Severity {
	if l >= nib.LevelPanic {
		return min(log.SeverityFatal+log.Severity(max(l-nib.LevelFatal, 0)), log.SeverityFatal4)
	}
	return log.SeverityTrace + log.Severity(max(l-nib.LevelTrace, 0))
}

// A copied line is one string. All texts of a record are parts of it.
type copied struct {
	line []byte
	text string
	at   int // offset of the last part
}

// part returns a part of the line that is not before the last one.
func (c *copied) part(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	for i := c.at; i < len(c.line); i++ {
		if &c.line[i] == &b[0] {
			c.at = i
			return c.text[i : i+len(b)]
		}
	}
	return string(b)
}

// setTrace reports whether raw is a trace id.
func setTrace(c *trace.SpanContextConfig, raw string) bool {
	id, err := trace.TraceIDFromHex(strings.Trim(raw, `"`))
	c.TraceID = id
	return err == nil
}

// setSpan reports whether raw is a span id. Of several the last is the active
// one.
func setSpan(c *trace.SpanContextConfig, raw string) bool {
	id, err := trace.SpanIDFromHex(strings.Trim(raw, `"`))
	if err == nil {
		c.SpanID = id
	}
	return err == nil
}

// unquote returns the text of a JSON string without its quotes.
func unquote(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw
	}
	var text string
	if json.Unmarshal([]byte(`"`+raw+`"`), &text) != nil {
		return raw
	}
	return text
}

// valueOf returns a JSON value as the value of an attribute.
func valueOf(raw string) attribute.Value {
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
	if !strings.ContainsAny(raw, ".eE") { // an error of ParseInt allocates
		n, err := strconv.ParseInt(raw, 10, 64)
		if err != nil {
			return attribute.StringValue(raw) // a float64 would have other digits
		}
		return attribute.Int64Value(n)
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return attribute.StringValue(raw)
	}
	return attribute.Float64Value(f)
}

// containerOf returns an object, whose members keep their order, or an array.
func containerOf(raw string) attribute.Value {
	if raw[0] == '{' {
		var members []attribute.KeyValue
		r := nib.Record{Line: []byte(raw)}
		for key, value := range r.Fields() {
			members = append(members, attribute.KeyValue{Key: attribute.Key(unquote(string(key))),
				Value: valueOf(string(value))})
		}
		return attribute.MapValue(members...)
	}
	var elements []json.RawMessage
	if json.Unmarshal([]byte(raw), &elements) != nil {
		return attribute.StringValue(raw)
	}
	values := make([]attribute.Value, len(elements))
	for i, e := range elements {
		values[i] = valueOf(string(e))
	}
	return attribute.SliceValue(values...)
}
