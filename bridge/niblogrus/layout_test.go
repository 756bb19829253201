// SPDX-License-Identifier: Apache-2.0

package niblogrus_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bridge/niblogrus"
	"github.com/nib-log/nib/layout"
	"github.com/sirupsen/logrus"
)

// topic returns the fixed format of a Kafka topic.
func topic() *niblogrus.Formatter {
	return &niblogrus.Formatter{
		Service: "billing",
		Layout:  nib.Layout{TimeKey: "log_date", TimeFormat: "2006-01-02 15:04:05.000", TimeZone: tokyo},
		First:   []string{"service", "msg", "task_id", "log_date"},
		Always:  []string{"task_id"},
	}
}

// noTime leaves out the fields that are the same in all lines of these tests.
func noTime(l nib.Layout) nib.Layout {
	l.TimeKey = nib.OmitKey
	return l
}

type lineCase struct {
	name string
	f    *niblogrus.Formatter
	data logrus.Fields
	want string
}

func checkLines(t *testing.T, cases []lineCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // maps have no order
				if got, _ := format(t, c.f, entryOf(c.data)); got != c.want+"\n" {
					t.Fatalf("got  %swant %s\n", got, c.want)
				}
			}
		})
	}
}

func TestFixedFormat(t *testing.T) {
	const head = `{"service":"billing","msg":"request handled",`
	const date = `"log_date":"2026-01-02 12:30:05.123"`
	checkLines(t, []lineCase{
		{"no fields", topic(), nil, head + `"task_id":"",` + date + `,"level":"info"}`},
		{"task", topic(), logrus.Fields{"task_id": "7f3a"}, head + `"task_id":"7f3a",` + date + `,"level":"info"}`},
		{"other fields", topic(), logrus.Fields{"user": 7, "a": []int{1}}, head + `"task_id":"",` + date + `,"a":[1],"level":"info","user":7}`},
		{"task that is a number", topic(), logrus.Fields{"task_id": 42}, head + `"task_id":42,` + date + `,"level":"info"}`},
		{"task that is nil", topic(), logrus.Fields{"task_id": nil}, head + `"task_id":null,` + date + `,"level":"info"}`},
		{"task that is an error", topic(), logrus.Fields{"task_id": io.EOF}, head + `"task_id":"EOF",` + date + `,"level":"info"}`},
		{"keys in use", topic(), logrus.Fields{"service": "x", "log_date": 1, "msg": 2},
			head + `"task_id":"",` + date + `,"fields.log_date":1,"fields.msg":2,"fields.service":"x","level":"info"}`},
	})
}

func TestOnlyLeavesOtherFieldsOut(t *testing.T) {
	fixed := topic()
	fixed.Only = []string{"task_id"}
	renamed := &niblogrus.Formatter{Layout: noTime(nib.Layout{}), Only: []string{"a"}, First: []string{"b"}, Rename: map[string]string{"a": "b"}}
	data := &niblogrus.Formatter{Layout: noTime(nib.Layout{}), Only: []string{"a"}, DataKey: "data"}
	const rest = `"level":"info","msg":"request handled"`
	checkLines(t, []lineCase{
		{"fixed format", fixed, logrus.Fields{"task_id": "7f3a", "user": 7, "error": io.EOF, "msg": 1, "service": "x"},
			`{"service":"billing","msg":"request handled","task_id":"7f3a","log_date":"2026-01-02 12:30:05.123","level":"info"}`},
		{"fixed format, no field", fixed, logrus.Fields{"user": 7},
			`{"service":"billing","msg":"request handled","task_id":"","log_date":"2026-01-02 12:30:05.123","level":"info"}`},
		{"the key is the entry's", renamed, logrus.Fields{"a": 1, "b": 2}, `{"b":1,` + rest + `}`},
		{"an error", &niblogrus.Formatter{Layout: noTime(nib.Layout{ErrorKey: "err"}), Only: []string{"error"}},
			logrus.Fields{"error": io.EOF, "b": 2}, `{"err":"EOF",` + rest + `}`},
		{"within DataKey", data, logrus.Fields{"a": 1, "b": 2}, `{"data":{"a":1},` + rest + `}`},
		{"nothing within DataKey", data, logrus.Fields{"b": 2}, `{` + rest + `}`},
		{"none", &niblogrus.Formatter{Layout: noTime(nib.Layout{}), Only: []string{}}, logrus.Fields{"b": 2}, `{` + rest + `}`},
	})
}

func TestOrderOfKeys(t *testing.T) {
	data := logrus.Fields{"c": 1, "a": 2, "b": 3, "level": 4}
	checkLines(t, []lineCase{
		{"sorted", &niblogrus.Formatter{Layout: noTime(nib.Layout{})}, data,
			`{"a":2,"b":3,"c":1,"fields.level":4,"level":"info","msg":"request handled"}`},
		{"first", &niblogrus.Formatter{Layout: noTime(nib.Layout{}), First: []string{"msg", "c", "none", "fields.level", "b"}}, data,
			`{"msg":"request handled","c":1,"fields.level":4,"b":3,"a":2,"level":"info"}`},
		{"first twice", &niblogrus.Formatter{Layout: noTime(nib.Layout{}), First: []string{"c", "c", "a"}}, data,
			`{"c":1,"a":2,"b":3,"fields.level":4,"level":"info","msg":"request handled"}`},
		{"always", &niblogrus.Formatter{Layout: noTime(nib.Layout{}), Always: []string{"a", "z", "z", "msg", "logrus_error"}}, data,
			`{"a":2,"b":3,"c":1,"fields.level":4,"level":"info","logrus_error":"","msg":"request handled","z":""}`},
		{"static", &niblogrus.Formatter{Layout: noTime(nib.Layout{Static: func(e *nib.Event) { e.Int("shard", 3) }}), First: []string{"msg"}}, data,
			`{"shard":3,"msg":"request handled","a":2,"b":3,"c":1,"fields.level":4,"level":"info"}`},
	})
	many, want := logrus.Fields{}, `{"last":1,"level":"info","msg":"request handled"`
	for i := range 100 {
		many[fmt.Sprintf("n%02d", i)] = i
		want += fmt.Sprintf(`,"n%02d":%d`, i, i)
	}
	many["last"] = 1
	checkLines(t, []lineCase{{"many", &niblogrus.Formatter{Layout: noTime(nib.Layout{})}, many, want + "}"}})
}

func TestRename(t *testing.T) {
	f := &niblogrus.Formatter{
		Layout: noTime(nib.Layout{LevelKey: nib.OmitKey}),
		Rename: map[string]string{"taskId": "task_id", "task": "task_id", "secret": nib.OmitKey, "text": "msg"},
		Always: []string{"task_id", "secret"},
		First:  []string{"task_id"},
	}
	checkLines(t, []lineCase{
		{"renamed", f, logrus.Fields{"taskId": 1}, `{"task_id":1,"msg":"request handled","secret":""}`},
		{"left out", f, logrus.Fields{"secret": 1}, `{"task_id":"","msg":"request handled","secret":""}`},
		{"to a key in use", f, logrus.Fields{"taskId": 1, "task_id": 2}, `{"task_id":2,"fields.task_id":1,"msg":"request handled","secret":""}`},
		{"two to one key", f, logrus.Fields{"taskId": 1, "task": 2}, `{"task_id":2,"fields.task_id":1,"msg":"request handled","secret":""}`},
		{"to a key of the formatter's", f, logrus.Fields{"text": 1}, `{"task_id":"","fields.msg":1,"msg":"request handled","secret":""}`},
	})
}

func TestClashesLoseNothing(t *testing.T) {
	f := &niblogrus.Formatter{Layout: noTime(nib.Layout{})}
	checkLines(t, []lineCase{
		{"one", f, logrus.Fields{"msg": 1, "fields.msg": 2},
			`{"fields.fields.msg":1,"fields.msg":2,"level":"info","msg":"request handled"}`},
		{"two", f, logrus.Fields{"msg": 1, "fields.msg": 2, "fields.fields.msg": 3, "level": 4},
			`{"fields.fields.fields.msg":1,"fields.fields.msg":3,"fields.level":4,"fields.msg":2,"level":"info","msg":"request handled"}`},
		{"one name for two", &niblogrus.Formatter{Layout: noTime(nib.Layout{LevelKey: "x", MessageKey: "x"})}, logrus.Fields{"x": 1},
			`{"fields.fields.x":1,"fields.x":"request handled","x":"info"}`},
	})
}

func TestOneNameForTwoTextsOfTheFormatter(t *testing.T) {
	f := &niblogrus.Formatter{
		Layout:   noTime(nib.Layout{LevelKey: nib.OmitKey}),
		FieldMap: logrus.FieldMap{logrus.FieldKeyLogrusError: "msg"},
	}
	for _, msg := range []string{"a", "z"} {
		e := entryOf(logrus.Fields{"f": func() {}})
		e.Message = msg
		want := `{"fields.msg":"skipping unsupported field \"f\"","msg":"` + msg + "\"}\n"
		if got, _ := format(t, f, e); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

func TestErrorsInTheWayOfTheLayout(t *testing.T) {
	wrapped := fmt.Errorf("query: %w", io.EOF)
	causes := noTime(nib.Layout{Error: layout.ErrorCauses, LevelKey: nib.OmitKey, MessageKey: nib.OmitKey})
	named := causes
	named.ErrorKey = "err"
	omit := noTime(nib.Layout{ErrorKey: nib.OmitKey, LevelKey: nib.OmitKey, MessageKey: nib.OmitKey})
	prefixed, plain := causes, causes
	prefixed.ErrorKey, plain.ErrorKey, plain.Error = "field.err", "field.err", nil // keys that nib.WithLayout refuses
	panics := named
	panics.Error = func(*nib.Event, string, error) { panic("oh") }
	checkLines(t, []lineCase{
		{"causes", &niblogrus.Formatter{Layout: causes}, logrus.Fields{"error": wrapped, "other": wrapped},
			`{"error":"query: EOF","error_causes":["EOF"],"other":"query: EOF"}`},
		{"other key", &niblogrus.Formatter{Layout: named}, logrus.Fields{"error": wrapped, "a": 1},
			`{"a":1,"err":"query: EOF","err_causes":["EOF"]}`},
		{"key with a prefix of nib", &niblogrus.Formatter{Layout: plain}, logrus.Fields{"error": wrapped, "a": 1},
			`{"a":1,"field.err":"query: EOF"}`},
		{"key with a prefix, causes", &niblogrus.Formatter{Layout: prefixed}, logrus.Fields{"error": wrapped, "field.err": 1},
			`{"field.err":1,"fields.field.err":"query: EOF"}`},
		{"other key in use", &niblogrus.Formatter{Layout: named}, logrus.Fields{"error": wrapped, "err": 1},
			`{"err":1,"fields.err":"query: EOF"}`},
		{"not an error", &niblogrus.Formatter{Layout: named}, logrus.Fields{"error": "text"}, `{"error":"text"}`},
		{"left out", &niblogrus.Formatter{Layout: omit}, logrus.Fields{"error": wrapped, "a": 1}, `{"a":1}`},
		{"left out, but not an error", &niblogrus.Formatter{Layout: omit}, logrus.Fields{"error": "text"}, `{"error":"text"}`},
		{"panics", &niblogrus.Formatter{Layout: panics}, logrus.Fields{"error": wrapped}, `{"panic":"!PANIC: oh"}`},
	})
}

func TestTimesOfTheLayout(t *testing.T) {
	at := func(l nib.Layout) *niblogrus.Formatter {
		l.LevelKey, l.MessageKey = nib.OmitKey, nib.OmitKey
		return &niblogrus.Formatter{Layout: l}
	}
	checkLines(t, []lineCase{
		{"zero", at(nib.Layout{}), nil, `{"time":"2026-01-02T12:30:05+09:00"}`},
		{"zone", at(nib.Layout{TimeZone: time.UTC}), nil, `{"time":"2026-01-02T03:30:05Z"}`},
		{"zone, but kept", at(nib.Layout{TimeZone: time.UTC, KeepZone: true}), nil, `{"time":"2026-01-02T12:30:05+09:00"}`},
		{"milliseconds", at(nib.Layout{TimeFormat: "2006-01-02T15:04:05.000Z07:00"}), nil, `{"time":"2026-01-02T12:30:05.123+09:00"}`},
		{"own layout", at(nib.Layout{TimeFormat: "02.01.2006 15:04:05,000"}), nil, `{"time":"02.01.2026 12:30:05,123"}`},
		{"own layout in a zone", at(nib.Layout{TimeFormat: time.ANSIC, TimeZone: time.UTC}), nil, `{"time":"Fri Jan  2 03:30:05 2026"}`},
		{"Unix", at(nib.Layout{TimeFormat: nib.TimeUnix}), nil, `{"time":1767324605}`},
		{"UnixMilli", at(nib.Layout{TimeFormat: nib.TimeUnixMilli}), nil, `{"time":1767324605123}`},
		{"UnixMicro", at(nib.Layout{TimeFormat: nib.TimeUnixMicro}), nil, `{"time":1767324605123456}`},
		{"UnixNano", at(nib.Layout{TimeFormat: nib.TimeUnixNano}), nil, `{"time":1767324605123456789}`},
		{"fields stay", at(nib.Layout{TimeFormat: nib.TimeUnix, TimeZone: time.UTC}), logrus.Fields{"t": noon, "s": []any{noon}},
			`{"s":["2026-01-02T12:30:05.123456789+09:00"],"t":"2026-01-02T12:30:05.123456789+09:00","time":1767324605}`},
		{"durations", at(nib.Layout{TimeFormat: nib.TimeUnix, Duration: nib.DurationString}), logrus.Fields{"d": time.Second}, `{"d":"1s","time":1767324605}`},
	})
}

func TestUnixTimesAreExact(t *testing.T) {
	far := time.Unix(9223372036825516800, 1).UTC() // as late as there are dates
	for _, c := range []struct {
		at     time.Time
		format string
		want   string
	}{
		{time.Time{}, nib.TimeUnix, "-62135596800"},
		{time.Time{}, nib.TimeUnixNano, "-62135596800000000000"},
		{time.Unix(-1, 1), nib.TimeUnixNano, "-999999999"},
		{time.Unix(-1, 999_999_999), nib.TimeUnixMilli, "-1"},
		{time.Unix(1<<33, 5), nib.TimeUnixNano, "8589934592000000005"},
		{time.Unix(1<<33-1, 5), nib.TimeUnixNano, "8589934591000000005"},
		{time.Unix(-1<<33, 5), nib.TimeUnixNano, "-8589934591999999995"},
		{far, nib.TimeUnixMicro, "9223372036825516800000000"},
		{far, nib.TimeUnixNano, "9223372036825516800000000001"},
	} {
		l := nib.Layout{TimeFormat: c.format, LevelKey: nib.OmitKey, MessageKey: nib.OmitKey}
		e := entryOf(nil)
		e.Time = c.at
		want := `{"time":` + c.want + "}\n"
		if got, _ := format(t, &niblogrus.Formatter{Layout: l}, e); got != want {
			t.Errorf("%v: got %swant %s", c.at, got, want)
		}
	}
}

func TestLevelNames(t *testing.T) {
	f := &niblogrus.Formatter{Layout: nib.Layout{LevelName: func(l nib.Level) string { return "L:" + l.String() }}}
	broken := &niblogrus.Formatter{Layout: nib.Layout{LevelName: func(nib.Level) string { panic("oh") }}}
	for l, want := range map[logrus.Level]string{
		logrus.PanicLevel: "L:panic", logrus.FatalLevel: "L:fatal", logrus.ErrorLevel: "L:error", logrus.WarnLevel: "L:warn",
		logrus.InfoLevel: "L:info", logrus.DebugLevel: "L:debug", logrus.TraceLevel: "L:trace", 8: "L:trace-2", 1<<32 - 1: "L:trace-1024",
	} {
		e := entryOf(nil)
		e.Level = l
		if _, got := format(t, f, e); got["level"] != want {
			t.Errorf("level %d: got %v, want %v", l, got["level"], want)
		}
		if _, got := format(t, broken, e); got["level"] != l.String() {
			t.Errorf("level %d with names that panic: got %v, want %v", l, got["level"], l)
		}
	}
}

func TestCallSiteOfTheLayout(t *testing.T) {
	at := func(l nib.Layout) *niblogrus.Formatter {
		l.LevelKey, l.MessageKey, l.TimeKey = nib.OmitKey, nib.OmitKey, nib.OmitKey
		return &niblogrus.Formatter{Layout: l}
	}
	short := func(e *nib.Event, key string, f runtime.Frame) { e.Str(key, f.Function) }
	for _, c := range []struct {
		name string
		f    *niblogrus.Formatter
		want string
	}{
		{"zero", at(nib.Layout{}), `{"caller":1,"file":"/src/app/main.go:7","func":"main.f"}`},
		{"key", at(nib.Layout{CallerKey: "at"}), `{"at":"app/main.go:7","caller":1}`},
		{"key in use", at(nib.Layout{CallerKey: "caller"}), `{"caller":"app/main.go:7","fields.caller":1}`},
		{"left out", at(nib.Layout{CallerKey: nib.OmitKey}), `{"caller":1}`},
		{"function", at(nib.Layout{Caller: short}), `{"caller":"main.f","fields.caller":1}`},
		{"function and key", at(nib.Layout{Caller: short, CallerKey: "at"}), `{"at":"main.f","caller":1}`},
		{"function that panics", at(nib.Layout{Caller: func(*nib.Event, string, runtime.Frame) { panic(errors.New("oh")) }}),
			`{"panic":"!PANIC: oh","fields.caller":1}`},
		{"CallerPrettyfier that panics", &niblogrus.Formatter{
			Layout:           nib.Layout{LevelKey: nib.OmitKey, MessageKey: nib.OmitKey, TimeKey: nib.OmitKey},
			CallerPrettyfier: func(*runtime.Frame) (string, string) { panic("oh") },
		}, `{"caller":1,"func":"!PANIC: oh"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := entryOf(logrus.Fields{"caller": 1})
			e.Caller = &runtime.Frame{Function: "main.f", File: "/src/app/main.go", Line: 7}
			if got, _ := format(t, c.f, e); got != c.want+"\n" {
				t.Errorf("got  %swant %s\n", got, c.want)
			}
		})
	}
}
