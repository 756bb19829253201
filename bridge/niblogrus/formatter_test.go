// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/sirupsen/logrus"
)

var (
	tokyo = time.FixedZone("JST", 9*3600)
	noon  = time.Date(2026, 1, 2, 12, 30, 5, 123456789, tokyo)
)

// entryOf makes an entry as logrus passes it to formatters.
func entryOf(data logrus.Fields) *logrus.Entry {
	e := logrus.NewEntry(logrus.New()).WithFields(data)
	e.Time, e.Level, e.Message = noon, logrus.InfoLevel, "request handled"
	e.Buffer = new(bytes.Buffer)
	return e
}

// format returns the line for entry, which must be valid.
func format(t testing.TB, f logrus.Formatter, entry *logrus.Entry) (line string, fields map[string]any) {
	t.Helper()
	b, err := f.Format(entry)
	if err != nil {
		t.Fatalf("got error %v, want a line", err)
	}
	line = string(b)
	if entry.Buffer != nil {
		entry.Buffer.Reset()
	}
	if fields, err = recordtest.Decode([]byte(line)); err != nil {
		t.Fatalf("got %q: %v", line, err)
	}
	return line, fields
}

type point struct {
	X, Y int
	Note string `json:"note,omitempty"`
}

type named string

// TestFormatterWritesWhatLogrusWrites compares keys, values and the order of
// keys with logrus.JSONFormatter.
func TestFormatterWritesWhatLogrusWrites(t *testing.T) {
	text := "text"
	for name, data := range map[string]logrus.Fields{
		"no fields":     nil,
		"strings":       {"a": "b", "empty": "", "quotes": `"\/`, "html": "<a href='x'>&</a>", "unicode": "日本語🙂\u2028", "controls": "\x00\n\t\x1b[31m\x7f"},
		"invalid UTF-8": {"a": "\xff\xfe", "k\xff": "v", "cut": "\xe6\x97"},
		"integers": {"int": -1, "i8": int8(math.MinInt8), "i16": int16(1), "i32": int32(2), "i64": int64(math.MinInt64), "u": uint(1),
			"u8": uint8(255), "u16": uint16(3), "u32": uint32(4), "u64": uint64(math.MaxUint64)},
		"floats":           {"f": 0.1, "f32": float32(0.1), "large": 1e300, "small": 5e-324, "whole": 3.0, "minus zero": math.Copysign(0, -1)},
		"bool and nil":     {"yes": true, "no": false, "nil": nil},
		"bytes":            {"b": []byte("hi\xff"), "nil": []byte(nil), "raw": json.RawMessage(`{"a": [1, 2]}`), "number": json.Number("12.50")},
		"times":            {"t": noon, "utc": noon.UTC(), "whole": noon.Truncate(time.Second), "pointer": &noon},
		"durations":        {"d": 1500 * time.Microsecond, "negative": -time.Second},
		"error":            {"error": errors.New("refused"), "cause": fmt.Errorf("x: %w", errors.New("y"))},
		"error as text":    {"error": "just text"},
		"struct":           {"p": point{1, 2, ""}, "pp": &point{3, 4, "n"}, "nil": (*point)(nil)},
		"slices":           {"s": []string{"a", "b"}, "i": []int{1}, "any": []any{1, "a", nil, true, 1.5, []any(nil), []any{}}, "nil": []string(nil), "nil any": []any(nil), "empty": []any{}},
		"maps":             {"m": map[string]int{"b": 1, "a": 2}, "any": map[string]any{"b": nil, "a": 1}, "nil": map[string]any(nil), "keys": map[int]string{2: "x"}},
		"nested":           {"a": logrus.Fields{"b": logrus.Fields{"c": []any{logrus.Fields{"d": noon}, []any{noon}}}, "t": noon, "d": time.Second}},
		"slices of maps":   {"f": []logrus.Fields{{"b": 1, "a": 2}, nil}, "m": []map[string]any{{"x": time.Second}}, "nil": []logrus.Fields(nil)},
		"pointers":         {"s": &text, "nil": (*string)(nil)},
		"text marshalers":  {"ip": net.ParseIP("192.0.2.7"), "level": logrus.WarnLevel},
		"named types":      {"n": named("x"), "l": recordtest.Epoch.Weekday()},
		"taken keys":       {"time": 1, "level": 2, "msg": 3, "logrus_error": 4},
		"func without use": {"func": "f", "file": "g"},
		"odd keys":         {"": 1, " ": 2, "a.b": 3, `"`: 4, "\n": 5},
		"sorting": {"a": 1, "ab": 2, "abc": 3, "abcdefg": 4, "abcdefgh": 5, "abcdefgi": 6, "abcdefghi": 7, "ABC": 8, "é": 9, "\x00": 10, "a\x00": 11,
			"abcdef": 12, "abcdef\x00": 13, "zz": 14},
	} {
		t.Run(name, func(t *testing.T) {
			compareWithLogrus(t, &niblogrus.Formatter{}, &logrus.JSONFormatter{}, entryOf(data))
		})
	}
}

func compareWithLogrus(t *testing.T, f *niblogrus.Formatter, other *logrus.JSONFormatter, e *logrus.Entry) {
	t.Helper()
	wantLine, want := format(t, other, e)
	line, got := format(t, f, e)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %swant %s", line, wantLine)
	}
	if got, want := keys(t, line), keys(t, wantLine); !reflect.DeepEqual(got, want) {
		t.Errorf("got keys  %q\nwant keys %q", got, want)
	}
}

// keys returns the keys of a line in its order.
func keys(t *testing.T, line string) (list []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		must.Succeed(t, err)
		list = append(list, key.(string))
		var value json.RawMessage
		must.Succeed(t, dec.Decode(&value))
	}
	return list
}

func TestFormatterTakesEntriesAsLogrusDoes(t *testing.T) {
	for name, change := range map[string]func(*logrus.Entry){
		"unknown level":       func(e *logrus.Entry) { e.Level = 42 },
		"panic level":         func(e *logrus.Entry) { e.Level = logrus.PanicLevel },
		"fatal level":         func(e *logrus.Entry) { e.Level = logrus.FatalLevel },
		"error level":         func(e *logrus.Entry) { e.Level = logrus.ErrorLevel },
		"warning":             func(e *logrus.Entry) { e.Level = logrus.WarnLevel },
		"debug level":         func(e *logrus.Entry) { e.Level = logrus.DebugLevel },
		"trace level":         func(e *logrus.Entry) { e.Level = logrus.TraceLevel },
		"zero time":           func(e *logrus.Entry) { e.Time = time.Time{} },
		"UTC":                 func(e *logrus.Entry) { e.Time = e.Time.UTC() },
		"local time":          func(e *logrus.Entry) { e.Time = e.Time.Local() },
		"newlines":            func(e *logrus.Entry) { e.Message = "a\nb\r\n" },
		"no message":          func(e *logrus.Entry) { e.Message = "" },
		"nil data":            func(e *logrus.Entry) { e.Data = nil },
		"no buffer":           func(e *logrus.Entry) { e.Buffer = nil },
		"function as a field": func(e *logrus.Entry) { *e = *e.WithFields(logrus.Fields{"f": func() {}, "g": 1}) },
		"caller":              func(e *logrus.Entry) { e.Caller = &runtime.Frame{Function: "main.f", File: "/src/m.go", Line: 7} },
		"caller and fields": func(e *logrus.Entry) {
			e.Caller = &runtime.Frame{Function: "main.f", File: "/src/m.go", Line: 7}
			e.Data = logrus.Fields{"func": 1, "file": 2}
		},
		"caller without a function": func(e *logrus.Entry) { e.Caller = &runtime.Frame{} },
	} {
		t.Run(name, func(t *testing.T) {
			e := entryOf(logrus.Fields{"a": 1})
			change(e)
			compareWithLogrus(t, &niblogrus.Formatter{}, &logrus.JSONFormatter{}, e)
		})
	}
}

func TestFormatterHasTheOptionsOfLogrus(t *testing.T) {
	names := logrus.FieldMap{
		logrus.FieldKeyTime: "@timestamp", logrus.FieldKeyLevel: "@level", logrus.FieldKeyMsg: "@message",
		logrus.FieldKeyFunc: "@func", logrus.FieldKeyFile: "@file", logrus.FieldKeyLogrusError: "@error",
	}
	pretty := func(f *runtime.Frame) (string, string) { return strings.ToUpper(f.Function), "" }
	for name, c := range map[string]struct {
		f    *niblogrus.Formatter
		json *logrus.JSONFormatter
		data logrus.Fields
	}{
		"FieldMap": {&niblogrus.Formatter{FieldMap: names}, &logrus.JSONFormatter{FieldMap: names},
			logrus.Fields{"time": 1, "@level": 2, "@func": 3, "@error": 4, "f": func() {}}},
		"DataKey":                {&niblogrus.Formatter{DataKey: "data"}, &logrus.JSONFormatter{DataKey: "data"}, logrus.Fields{"b": 1, "msg": errors.New("x"), "a": noon}},
		"DataKey without fields": {&niblogrus.Formatter{DataKey: "data"}, &logrus.JSONFormatter{DataKey: "data"}, nil},
		"DataKey that is in use": {&niblogrus.Formatter{DataKey: "msg"}, &logrus.JSONFormatter{DataKey: "msg"}, logrus.Fields{"b": 1}},
		"CallerPrettyfier":       {&niblogrus.Formatter{CallerPrettyfier: pretty}, &logrus.JSONFormatter{CallerPrettyfier: pretty}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := entryOf(c.data)
			e.Caller = &runtime.Frame{Function: "main.f", File: "/src/m.go", Line: 7}
			compareWithLogrus(t, c.f, c.json, e)
		})
	}
}

func TestFormatterAppendsToTheBuffer(t *testing.T) {
	e := entryOf(nil)
	e.Buffer.WriteString("prefix ")
	line, err := (&niblogrus.Formatter{}).Format(e)
	if err != nil || !bytes.HasPrefix(line, []byte("prefix {")) || &line[0] != &e.Buffer.Bytes()[0] {
		t.Errorf("got %q and error %v, want the line behind what the buffer held, in the buffer", line, err)
	}
}

func TestFormatterKeepsLongLinesOutOfThePool(t *testing.T) {
	e := entryOf(logrus.Fields{"a": strings.Repeat("x", 1<<20)})
	before := e.Buffer.Cap()
	line, _ := format(t, &niblogrus.Formatter{}, e)
	if got := e.Buffer.Cap(); got != before || len(line) < 1<<20 {
		t.Errorf("got a line of %d bytes and a buffer of %d, want a buffer of %d", len(line), got, before)
	}
}

func TestFormatterOfNoEntry(t *testing.T) {
	if line, err := (&niblogrus.Formatter{}).Format(nil); err == nil || line != nil {
		t.Errorf("got %q and error %v, want an error", line, err)
	}
}

func TestFormatterForgetsTheEntry(t *testing.T) {
	f := &niblogrus.Formatter{}
	gone := make(chan struct{})
	func() {
		value := &point{X: 1}
		runtime.SetFinalizer(value, func(*point) { close(gone) })
		format(t, f, entryOf(logrus.Fields{"a": value}))
	}()
	for late := time.Now().Add(2 * time.Minute); time.Now().Before(late); {
		format(t, f, entryOf(nil)) // keeps the writer reachable
		runtime.GC()
		select {
		case <-gone:
			return
		default:
			runtime.Gosched() // lets the finalizer run
		}
	}
	t.Error("the value of a field is still held after its line")
}
