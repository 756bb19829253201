// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/layout"
)

var tokyo = time.FixedZone("JST", 9*3600)

var renderTests = []struct {
	name   string
	config Config
	line   string
	want   string
}{
	{"message only", Config{}, `{"message":"m"}`, "                   m"},
	{"no message", Config{}, `{"level":"info","a":1}`, "             INFO  a=1"},
	{"empty message", Config{}, `{"level":"info","a":1,"message":""}`, "             INFO  a=1"},
	{"level alone", Config{}, `{"level":"info"}`, "             INFO"},
	{"message that is no string", Config{}, `{"message":{"a":"b c"}}`, `                   {a="b c"}`},
	{"alignment", Config{MessageWidth: 8}, `{"level":"info","message":"m","a":1}`, "             INFO  m         a=1"},
	{"alignment behind a logger", Config{MessageWidth: 8}, `{"logger":"db","message":"m","a":1}`, "                   db: m     a=1"},
	{"alignment of wide characters", Config{MessageWidth: 8}, `{"message":"米🍊e\u0301","a":1}`, "                   米🍊e\u0301     a=1"},
	{"long message", Config{MessageWidth: 2}, `{"message":"long","a":1}`, "                   long  a=1"},
	{"no alignment", Config{MessageWidth: -1}, `{"message":"m","a":1}`, "                   m  a=1"},
	{"logger without message", Config{MessageWidth: 5}, `{"logger":"db","a":1}`, "                   db:   a=1"},
	{"caller", Config{MessageWidth: 2}, `{"caller":"a/b.go:1","message":"m","a":1}`, "                   m   a=1 a/b.go:1"},
	{"time zone", Config{TimeZone: tokyo}, `{"time":"2026-01-02T20:04:05.678Z","message":"m"}`, "05:04:05.678       m"},
	{"time format", Config{TimeFormat: time.RFC3339, TimeZone: tokyo}, `{"time":"2026-01-02T20:04:05Z"}`, "2026-01-03T05:04:05+09:00"},
	{"time left out", Config{TimeFormat: "-"}, `{"time":"2026-01-02T20:04:05Z","level":"warn","a":1}`, "WARN  a=1"},
	{"time that is none", Config{}, `{"time":"noon","level":"warn"}`, "noon WARN"},
	{"time with words", Config{}, `{"time":"at noon","level":"warn"}`, `"at noon" WARN`},
	{"no time in the layout", Config{Layout: nib.Layout{TimeKey: "-"}}, `{"level":"warn","time":"x"}`, "WARN  time=x"},
	{"no level in the layout", Config{Layout: nib.Layout{LevelKey: "-"}}, `{"level":"warn"}`, "             level=warn"},
	{"a key named as what leaves out", Config{Layout: nib.Layout{LevelKey: "-"}}, `{"-":"warn"}`, "             -=warn"},
	{"keys of the layout", Config{Layout: nib.Layout{TimeKey: "@t", LevelKey: "severity", MessageKey: "a\"b"}},
		`{"@t":1,"severity":"WARNING","a\"b":"m"}`, "00:00:01.000 WARN  m"},
	{"two times, levels, messages", Config{MessageWidth: 1}, `{"time":1,"level":"info","time":2,"level":"debug","message":"old","message":"new"}`,
		"00:00:01.000 INFO  new  time=2 level=debug message=old"},
	{"two messages, first in front", Config{MessageWidth: 1, Layout: nib.Layout{MessageFirst: true}}, `{"message":"a","message":"b"}`,
		"                   a  message=b"},
	{"two stacks", Config{}, `{"stack":"a","stack":"b"}`, "                   stack=b\n    │ a"},
	{"renamed fields", Config{MessageWidth: 1}, `{"level":"info","field.level":"fatal","message":"m"}`, "             INFO  m  field.level=fatal"},
	{"error", Config{MessageWidth: 1}, `{"error":"e f","message":"m","error":null}`, `                   m  error="e f" error=null`},
	{"error of two lines", Config{MessageWidth: 1}, `{"error":"a\n\tb\r\nc\u001b\n","message":"m","x":1}`,
		"                   m  x=1\n    │ error: a\n    │     b\n    │ c\\u001b"},
	{"error with a backslash n", Config{MessageWidth: 1}, `{"error":"a\\nb","message":"m"}`, `                   m  error=a\nb`},
	{"error with the newline as a number", Config{}, `{"error":"a\u000ab"}`, "\n    │ error: a\n    │ b"},
	{"error and stack", Config{MessageWidth: 1}, `{"stack":"s\n","error":"a\nb","message":"m"}`,
		"                   m\n    │ error: a\n    │ b\n    │ s"},
	{"newline elsewhere", Config{MessageWidth: 1}, `{"message":"m","x":"c\nd"}`, `                   m  x="c\nd"`},
	{"message of several lines", Config{MessageWidth: 1}, `{"message":"a b\r\nc\u001b\n\n\td\n","x":1}`,
		"                   a b  x=1\n    │ c\\u001b\n    │ \n    │     d"},
	{"message of several lines that is to be quoted", Config{}, `{"message":"a=b\nc"}`, "                   \"a=b\"\n    │ c"},
	{"message that begins with a line break", Config{}, `{"message":"\na","x":1}`, "                   x=1\n    │ a"},
	{"message that ends with a line break", Config{MessageWidth: 1}, `{"message":"m\r\n","x":1}`, "                   m  x=1"},
	{"message of line breaks", Config{}, `{"message":"\n\n","x":1}`, "                   x=1"},
	{"message, error and stack of several lines", Config{MessageWidth: 1}, `{"stack":"s\n","error":"a\nb","message":"m\nn"}`,
		"                   m\n    │ n\n    │ error: a\n    │ b\n    │ s"},
	{"panic", Config{MessageWidth: 1}, `{"message":"m","panic":"a\nb"}`, "                   m\n    │ panic: a\n    │ b"},
	{"stack with empty lines behind it", Config{}, `{"stack":"a\n\nb\r\n\n"}`, "\n    │ a\n    │ \n    │ b"},
	{"message that ends with a space", Config{}, `{"message":"m "}`, `                   "m "`},
	{"odd spaces", Config{MessageWidth: 1}, "{\"message\":\"a\u00a0b\",\"k\":\"a\u00a0b\"}", "                   a\u00a0b  k=\"a\u00a0b\""},
	{"empty stack", Config{}, `{"stack":""}`, `                   stack=""`},
	{"stack that is no string", Config{}, `{"stack":["a"]}`, `                   stack=[a]`},
	{"nested", Config{}, `{"a":{"b":[1,"x y",{}],"c d":null},"e":[]}`, `                   a={b=[1 "x y" {}] "c d"=null} e=[]`},
	{"white space", Config{}, " { \"a\" : { \"b\" : [ 1 , 2 ] } , \"c\":\td } ", ` { "a" : { "b" : [ 1 , 2 ] } , "c":\td } `},
	{"white space in JSON", Config{}, " { \"a\" :\t{ \"b\" : [ 1 , 2 ] } }\r\n", "                   a={b=[1 2]}"},
	{"surrogates", Config{}, `{"a":"\ud83c\udf4a"}`, "                   a=🍊"},
	{"half a surrogate", Config{}, `{"a":"\ud83c"}`, "                   a=\ufffd"},
	{"not JSON", Config{}, "\tpanic: \x1b[1m\ttab\r", `    panic: \u001b[1m\ttab`},
	{"empty", Config{}, "", ""},
	{"empty object", Config{}, "{}", "{}"},
	{"half an object", Config{}, `{"a":1,"b`, `{"a":1,"b`},
	{"object and more", Config{}, `{"a":1} {"b":2}`, `{"a":1} {"b":2}`},
	{"array", Config{}, `["a"]`, `["a"]`},
}

func TestRender(t *testing.T) {
	for _, tt := range renderTests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.config
			c.Color = ColorNever
			if c.TimeZone == nil {
				c.TimeZone = time.UTC
			}
			s := New(new(bytes.Buffer), c)
			for _, end := range []string{"", "\n"} {
				if got, want := string(s.Render([]byte("> "), []byte(tt.line+end))), "> "+tt.want+"\n"; got != want {
					t.Errorf("\n got %q\nwant %q", got, want)
				}
			}
		})
	}
}

func TestDurationsOfLinesThatAreReadBack(t *testing.T) {
	for _, tt := range []struct {
		format nib.DurationFormat
		value  string
		want   string
	}{
		{nib.DurationMillis, `18.25`, "18.25ms"},
		{nib.DurationMillis, `0.010094`, "10.094µs"},
		{nib.DurationMillis, `-0.5`, "-500µs"},
		{nib.DurationMillis, `-1500.5`, "-1.5005s"},
		{nib.DurationMillis, `0`, "0s"},
		{nib.DurationMillis, `3600000`, "1h0m0s"},
		{nib.DurationMillis, `9223372036854`, "9223372036854"}, // beyond a time.Duration
		{nib.DurationMillis, `-9223372036854`, "-9223372036854"},
		{nib.DurationMillis, `9223372036853`, "2562047h47m16.853s"},
		{nib.DurationMillis, `-9223372036853`, "-2562047h47m16.853s"},
		{nib.DurationMillis, `9`, "9ms"},
		{nib.DurationMillis, `1e3`, "1e3"},
		{nib.DurationMillis, `"1s"`, "1s"},
		{nib.DurationMillis, `null`, "null"},
		{nib.DurationMillis, `[1,2]`, "[1 2]"},
		{nib.DurationSeconds, `0.0015`, "1.5ms"},
		{nib.DurationSeconds, `-1.000000001`, "-1.000000001s"},
		{nib.DurationNanos, `1500000`, "1.5ms"},
		{nib.DurationString, `5`, "5"},
	} {
		s := New(new(bytes.Buffer), Config{Color: ColorNever, Durations: []string{"x", "took"}, Layout: nib.Layout{Duration: tt.format}})
		got := strings.TrimSpace(string(s.Render(nil, []byte(`{"took":`+tt.value+`}`))))
		if want := "took=" + tt.want; got != want {
			t.Errorf("%s in format %d: got %s, want %s", tt.value, tt.format, got, want)
		}
	}
}

func TestLevels(t *testing.T) {
	roman := func(l nib.Level) string {
		names := map[nib.Level]string{
			nib.LevelInfo: "I", nib.LevelWarn: "警告", nib.LevelFatal: "VII",
		}
		return names[l]
	}
	for _, tt := range []struct {
		value string
		name  func(nib.Level) string
		tag   string
		level nib.Level
	}{
		{`"trace"`, nil, "TRACE", nib.LevelTrace},
		{`"INFO"`, nil, "INFO", nib.LevelInfo},
		{`"warning"`, nil, "WARN", nib.LevelWarn},
		{`"CRITICAL"`, nil, "CRIT", nib.LevelPanic},
		{`"info+2"`, nil, "INF+2", nib.LevelInfo + 2},
		{`"ERROR+12"`, nil, "ER+12", nib.LevelError + 12},
		{`"fatal+984"`, nil, "F+984", nib.LevelFatal + 984},
		{`"trace-1"`, nil, "TRA-1", nib.LevelTrace - 1},
		{`"fatal+9999"`, nil, "FATA…", fallback},
		{`"info+x"`, nil, "INFO…", fallback},
		{`"INFO3"`, nil, "INFO3", nib.LevelInfo + 2},
		{`"ERROR2"`, nil, "ERRO2", nib.LevelError + 1},
		{`"INFO1"`, nil, "INFO1", fallback},
		{`"audit2"`, nil, "AUDI…", fallback},
		{`"FATAL4"`, layout.OTel().LevelName, "FATA4", nib.LevelFatal},
		{`"DEBUG-4"`, layout.Slog().LevelName, "DEB-4", nib.LevelTrace},
		{`"audit"`, nil, "AUDIT", fallback},
		{`"backup-start"`, nil, "BACK…", fallback},
		{`"数据库错误"`, nil, "数据…", fallback},
		{`"\u001b[1m"`, nil, `\U00…`, fallback},
		{`""`, nil, "", fallback},
		{`30`, nil, "30", fallback},
		{`"I"`, roman, "I", nib.LevelInfo},
		{`"警告"`, roman, "警告", nib.LevelWarn},
		{`"VII"`, roman, "VII", nib.LevelFatal},
		{`"warn"`, roman, "WARN", nib.LevelWarn},
	} {
		p := &painter{view: newView(Config{Layout: nib.Layout{LevelName: tt.name}}, false)}
		tag, level := p.tagOf([]byte(tt.value), fallback)
		if string(tag) != tt.tag || level != tt.level {
			t.Errorf("%s: got %s, %v, want %s, %v", tt.value, tag, level, tt.tag, tt.level)
		}
	}
}

const fallback = nib.Level(77)

func TestColorIsWanted(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	type env map[string]string
	for _, tt := range []struct {
		name  string
		color Color
		env   env
		want  bool
	}{
		{"auto", ColorAuto, nil, false},
		{"always", ColorAlways, env{"NO_COLOR": "1", "TERM": "dumb"}, true},
		{"never", ColorNever, env{"CLICOLOR_FORCE": "1"}, false},
		{"forced", ColorAuto, env{"CLICOLOR_FORCE": "1"}, true},
		{"forced on a dumb terminal", ColorAuto, env{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, true},
		{"not forced", ColorAuto, env{"CLICOLOR_FORCE": "0"}, false},
		{"forced and unwanted", ColorAuto, env{"CLICOLOR_FORCE": "1", "NO_COLOR": "0"}, false},
	} {
		getenv := func(key string) string { return tt.env[key] }
		for _, w := range []interface{ Write([]byte) (int, error) }{file, null, new(bytes.Buffer), (*os.File)(nil)} {
			if got := wantColor(tt.color, w, getenv); got != tt.want {
				t.Errorf("%s: %T: got %v, want %v", tt.name, w, got, tt.want)
			}
		}
	}
}

func TestValidateJoinsAllFaults(t *testing.T) {
	err := Config{Color: 3, TimeFormat: "\x1b[1m15:04", MessageWidth: 1001}.Validate()
	for _, want := range []string{"Color 3", "control characters", "MessageWidth 1001"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
	if err := (Config{TimeFormat: nib.TimeUnixMilli}).Validate(); err == nil {
		t.Error("a TimeFormat that is no layout is accepted")
	}
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestNewPanicsWithoutAWriterOrWithAFault(t *testing.T) {
	for name, f := range map[string]func(){
		"nil":   func() { New(nil, Config{}) },
		"fault": func() { New(new(bytes.Buffer), Config{Color: 9}) },
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

func TestClockHasTheDefaultFormat(t *testing.T) {
	for _, nanos := range []int64{0, 1_999_999, 36_610_010_000_000, 86_399_999_999_999} {
		at := time.Unix(0, nanos).UTC()
		if got, want := string(appendClock(nil, at)), at.Format(defaultTimeFormat); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
