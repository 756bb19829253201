// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/seed"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"
)

// A field is a member of a line, as encoding/json reads it.
type field struct {
	key   string
	value any // string, json.Number, bool, nil, []any or []field
}

// parse reads an object and keeps the order and equal keys.
func parse(dec *json.Decoder) any {
	token, err := dec.Token()
	if err != nil {
		panic(err)
	}
	switch token {
	case json.Delim('{'):
		list := []field{}
		for dec.More() {
			key, _ := dec.Token()
			list = append(list, field{key.(string), parse(dec)})
		}
		_, _ = dec.Token()
		return list
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			list = append(list, parse(dec))
		}
		_, _ = dec.Token()
		return list
	}
	return token
}

// want returns the AnyValue of a value.
func want(v any, depth int) *commonpb.AnyValue {
	switch v := v.(type) {
	case string:
		return text(v)
	case bool:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v}}
	case json.Number:
		return number(string(v))
	case []any:
		if depth == maxDepth {
			return nil
		}
		list := &commonpb.ArrayValue{}
		for _, e := range v {
			list.Values = append(list.Values, want(e, depth+1))
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
	case []field:
		if depth == maxDepth {
			return nil
		}
		list := &commonpb.KeyValueList{}
		for _, f := range v {
			list.Values = append(list.Values, &commonpb.KeyValue{Key: f.key, Value: want(f.value, depth+1)})
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: list}}
	}
	return &commonpb.AnyValue{}
}

// maxDepth is above the depth of the lines here.
const maxDepth = 24

func text(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func number(s string) *commonpb.AnyValue {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && s != "-0" {
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !strings.ContainsAny(s, ".eE") && s != "-0" {
		return text(s)
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: f}}
}

// wantRecord returns the LogRecord of a line, built from the values that
// encoding/json reads.
func wantRecord(r *nib.Record) *logspb.LogRecord {
	m := &logspb.LogRecord{
		TimeUnixNano: uint64(max(r.Time, 0)), ObservedTimeUnixNano: uint64(max(r.Time, 0)),
		SeverityNumber: logspb.SeverityNumber(min(max(int(r.Level)+9, 1), 24)), SeverityText: r.Level.String(),
	}
	dec := json.NewDecoder(bytes.NewReader(r.Line))
	dec.UseNumber()
	fields, _ := parse(dec).([]field)
	for _, f := range fields {
		s, isText := f.value.(string)
		id, err := hex.DecodeString(s)
		isID := isText && err == nil && len(bytes.Trim(id, "\x00")) > 0
		switch {
		case f.key == "time":
		case f.key == "level":
			m.SeverityText = r.Level.String()
			if isText && s != "" {
				m.SeverityText = s
			}
		case f.key == "logger" && r.Logger != "":
		case f.key == "message":
			m.Body = want(f.value, 0)
		case (f.key == "trace_id" || f.key == "trace.id") && isID && len(id) == 16:
			m.TraceId = id
		case (f.key == "span_id" || f.key == "span.id") && isID && len(id) == 8:
			m.SpanId = id
		case (f.key == "trace_flags" || f.key == "trace.flags") && isText && err == nil && len(id) == 1:
			m.Flags = uint32(id[0])
		case (f.key == "event.name" || f.key == "event_name") && isText && s != "":
			m.EventName = s
		default:
			m.Attributes = append(m.Attributes, &commonpb.KeyValue{Key: f.key, Value: want(f.value, 0)})
		}
	}
	uid := fmt.Sprintf("%016x-%d", r.Spool, r.Seq)
	m.Attributes = append(m.Attributes, &commonpb.KeyValue{Key: "log.record.uid", Value: text(uid)})
	return m
}

// equal compares messages; NaN cannot occur.
func equal(t testing.TB, r *nib.Record, got *logspb.LogRecord) {
	t.Helper()
	if w := wantRecord(r); !proto.Equal(got, w) {
		t.Fatalf("the record of %s\ngot  %v\nwant %v", r.Line, got, w)
	}
}

// A writer makes random lines.
type writer struct{ *rand.Rand }

var words = []string{"", "a", "status", "user.name", "größe", "key with \"quotes\"", "\n\t\x01", "🙂", "\ufffd", "time", "level", "trace_id",
	"span_id", "trace_flags", "event.name", "logger", strings.Repeat("long ", 60), "log.record.id"}

func (w writer) word() string { return words[w.IntN(len(words))] }

func (w writer) value(depth int) any {
	switch n := w.IntN(14 - 4*min(depth/3, 1)); n {
	case 0:
		return w.Int64() - w.Int64()
	case 1:
		return w.IntN(300) - 100
	case 2:
		return math.Float64frombits(w.Uint64()&^(1<<62)) + 0.5
	case 3:
		return w.IntN(2) == 0
	case 4:
		return nil
	case 5:
		return w.Uint64()
	case 6, 7, 8, 9:
		return w.word() + w.word()
	case 10, 11:
		list := make([]any, w.IntN(5))
		for i := range list {
			list[i] = w.value(depth + 1)
		}
		return list
	}
	return w.object(depth + 1)
}

func (w writer) object(depth int) json.RawMessage {
	b := []byte{'{'}
	for i := range w.IntN(6) {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.member(b, w.word(), w.value(depth))
	}
	return append(b, '}')
}

func (w writer) member(b []byte, key string, value any) []byte {
	k, _ := json.Marshal(key)
	v, err := json.Marshal(value)
	if err != nil {
		v = []byte(`1e999`) // a JSON number outside the range of float64
	}
	return append(append(append(b, k...), ':'), v...)
}

func (w writer) line() []byte {
	b := w.member([]byte{'{'}, "time", "2026-01-02T15:04:05Z")
	for range w.IntN(12) {
		key, value := w.word(), w.value(0)
		switch {
		case key == "message" || w.IntN(20) > 0:
		case key == "trace_id":
			value = fmt.Sprintf("%016x%016x", w.Uint64(), w.Uint64())
		default:
			value = fmt.Sprintf("%016x", w.Uint64())
		}
		b = w.member(append(b, ','), key, value)
	}
	for _, key := range []string{"trace_id", "span_id", "trace_flags", "level"} {
		if w.IntN(3) == 0 {
			b = w.member(append(b, ','), key, map[string]string{
				"trace_id": fmt.Sprintf("%016X%016x", w.Uint64(), w.Uint64()), "span_id": fmt.Sprintf("%016x", w.Uint64()),
				"trace_flags": "01", "level": "WARN",
			}[key])
		}
	}
	if w.IntN(8) > 0 {
		b = w.member(append(b, ','), "message", w.word()+w.word())
	}
	return append(b, "}\n"...)
}

// Records decode to the fields of their lines: 200,000 random ones in full
// runs.
func TestRecordsEqualTheirLines(t *testing.T) {
	n := 5000
	if os.Getenv("NIB_E2E") == "full" {
		n = 200000
	}
	s := &receiver{}
	server := httptest.NewServer(s)
	defer server.Close()
	d := open(t, server.URL+"/v1/logs", nil,
		otlp.Config{Resource: map[string]string{"service.name": "größe", "b": "2",
			"a": strings.Repeat("x", 300)}})
	w := writer{rand.New(rand.NewPCG(seed.Of(t), 2))}
	levels := []nib.Level{-100, nib.LevelTrace, nib.LevelDebug, nib.LevelInfo, nib.LevelInfo + 2, nib.LevelWarn, nib.LevelFatal, 100}
	for done := 0; done < n; done += 5000 {
		batch := make([]nib.Record, 5000)
		for i := range batch {
			batch[i] = nib.Record{
				Time: w.Int64() - 1<<60, Level: levels[w.IntN(len(levels))], Logger: []string{"", "", "db", "http"}[w.IntN(4)],
				Line: w.line(), Spool: w.Uint64() | 1, Seq: uint64(done + i),
			}
		}
		if rejected, errs := httpsendtest.DeliverAll(t, d, batch); len(rejected)+len(errs) > 0 {
			t.Fatalf("%.300q, %.300q", rejected, errs)
		}
		s.check(t)
		if len(s.arrived) != len(batch) {
			t.Fatalf("got %d records of %d", len(s.arrived), len(batch))
		}
		for i := range batch {
			equal(t, &batch[i], s.arrived[i])
			if s.scopes[i] != batch[i].Logger {
				t.Fatalf("record %d has the scope %q, want %q", i, s.scopes[i], batch[i].Logger)
			}
		}
		s.arrived, s.scopes = nil, nil
	}
	if len(s.resource) != 3 || s.resource["service.name"] != "größe" || len(s.resource["a"]) != 300 {
		t.Errorf("got the resource %.100v", s.resource)
	}
}

// FuzzRecord compares a record with its line. A line that is not a JSON object
// becomes the body.
func FuzzRecord(f *testing.F) {
	for _, line := range []string{`{}`, `{"a":1}`, `{"message":{"a":[1,2,{}]},"n":-0}`, `not JSON`, `{"a":1e400,"b":18446744073709551615}`, `["a"]`, "\xff", `{"a":1,b}`, "{", `{"a":1}}`,
		`{"trace_id":"00000000000000000000000000000000","span_id":"zz","message":null}`, strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30)} {
		f.Add([]byte(line), int64(1), 0)
	}
	s := &receiver{}
	server := httptest.NewServer(s)
	f.Cleanup(server.Close)
	d := open(f, server.URL+"/v1/logs", nil, otlp.Config{})
	f.Fuzz(func(t *testing.T, line []byte, at int64, level int) {
		r := nib.Record{Time: at, Level: nib.Level(level % 100), Line: append(bytes.ReplaceAll(line, []byte("\n"), nil), '\n'), Spool: 1, Seq: 2}
		s.arrived = nil
		if rejected, errs := httpsendtest.DeliverAll(t, d,
			[]nib.Record{r}); len(rejected)+len(errs)+len(s.faults) > 0 || len(s.arrived) != 1 {
			t.Fatalf("got %d records of %q: %q, %q, %q", len(s.arrived), line, rejected, errs, s.faults)
		}
		got := s.arrived[0]
		switch body := bytes.TrimSuffix(r.Line, []byte("\n")); {
		case len(body) == 0 || body[0] != '{' || !json.Valid(body):
			if got.Body.GetStringValue() != strings.ToValidUTF8(string(body), "\ufffd") || len(got.Attributes) != 1 {
				t.Fatalf("the record of %q is %v", body, got)
			}
		case json.Valid(body) && utf8.Valid(body) && !bytes.Contains(body, []byte(`\u`)) && strings.Count(string(body), "[")+strings.Count(string(body), "{") < maxDepth:
			equal(t, &r, got)
		}
	})
}
