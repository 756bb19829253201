// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/layout"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// read returns the line text.
func read(text string) *logread.Line {
	l := new(logread.Line)
	l.Reset([]byte(text))
	return l
}

func TestEveryLayoutIsRecognised(t *testing.T) {
	for name, l := range map[string]nib.Layout{
		"default": {}, "ecs": layout.ECS(), "gcp": layout.GCP(), "datadog": layout.Datadog(), "otel": layout.OTel(),
		"zap": layout.Zap(), "zerolog": layout.Zerolog(), "slog": layout.Slog(), "logrus": layout.Logrus(),
	} {
		var out bytes.Buffer
		log := nib.New(&out, nib.WithLayout(l), nib.WithClock(func() time.Time { return noon }))
		log.Warn().Int("status", 500).Str("t", "x").Dur("took", 1500*time.Microsecond).Msg("served")
		got := read(out.String())
		at, hasTime := got.Time()
		level, hasLevel := got.Level()
		message := got.Text(got.Message())
		if !hasTime || !at.Equal(noon) || !hasLevel || level != nib.LevelWarn || string(message) != "served" {
			t.Errorf("%s: got %v %v, %v %v, %q of %s", name, at, hasTime, level, hasLevel, message, &out)
		}
		if !parse(t, "took = 1500us").Match(got) {
			t.Errorf("%s: the duration has another unit in %s", name, &out)
		}
	}
}

func TestLinesOfOtherLoggers(t *testing.T) {
	const none = nib.Level(-100)
	for _, c := range []struct {
		line    string
		format  logread.Format
		time    time.Time
		level   nib.Level
		message string
	}{
		{`{"level":"error","ts":1795262400.5,"caller":"a.go:1","msg":"m"}`, logread.FormatJSON, noon.Add(500 * time.Millisecond), nib.LevelError, "m"},
		{`{"time":"2026-11-21T12:00:00Z","level":"WARN+1","msg":"a\"b"}`, logread.FormatJSON, noon, nib.LevelWarn + 1, `a"b`},
		{`{"level":40,"time":1795262400000,"pid":1,"msg":"pino"}`, logread.FormatJSON, noon, nib.LevelWarn, "pino"},
		{`{"level":"info","ts":1795262400,"msg":"sent","body":"{}"}`, logread.FormatJSON, noon, nib.LevelInfo, "sent"},
		{`{"body":"{}","severity_text":"INFO","timestamp":"2026-11-21T12:00:00Z","message":"sent"}`, logread.FormatJSON, noon, nib.LevelInfo, "sent"},
		{`{"severity_text":"INFO","body":"a","body":"sent"}`, logread.FormatJSON, time.Time{}, nib.LevelInfo, "sent"},
		{`{"MESSAGE":"j","PRIORITY":"3","__REALTIME_TIMESTAMP":"1795262400000000"}`, logread.FormatJSON, noon, nib.LevelError, "j"},
		{`time="2026-11-21T12:00:00Z" level=warning msg="a b" n=1`, logread.FormatLogfmt, noon, nib.LevelWarn, "a b"},
		{`ts=2026-11-21T12:00:00.000Z lvl=debug msg=x`, logread.FormatLogfmt, noon, nib.LevelDebug, "x"},
		{`web-1  | {"time":"2026-11-21T12:00:00Z","level":"info","message":"m"}`, logread.FormatJSON, noon, nib.LevelInfo, "m"},
		{`  {"level":"info","message":"m"}`, logread.FormatJSON, time.Time{}, nib.LevelInfo, "m"},
		{
			`2026-11-21 12:00:00 ERROR it failed: {"user":1}`,
			logread.FormatText, noon, nib.LevelError, `it failed: {"user":1}`,
		},
		{`[2026-11-21T12:00:00Z] [WARN] disk`, logread.FormatText, noon, nib.LevelWarn, "disk"},
		{`goroutine 1 [running]:`, logread.FormatText, time.Time{}, none, `goroutine 1 [running]:`},
		{`x=1`, logread.FormatText, time.Time{}, none, `x=1`},
		{`the error is x = 1 and y=2`, logread.FormatText, time.Time{}, none, `the error is x = 1 and y=2`},
		{`{"status":200,"level":"info"}`, logread.FormatJSON, time.Time{}, nib.LevelInfo, ""},
		{`{"t":12,"time":"later","ts":"2026-11-21T12:00:00Z"}`, logread.FormatJSON, noon, none, ""},
		{`{"level":"info","level":"error"}`, logread.FormatJSON, time.Time{}, nib.LevelInfo, ""},
		{`{"level":"info","message":"cut of`, logread.FormatJSON, time.Time{}, nib.LevelInfo, ""},
		{``, logread.FormatText, time.Time{}, none, ""},
		{`{`, logread.FormatJSON, time.Time{}, none, ""},
		{`=`, logread.FormatText, time.Time{}, none, "="},
		{"level=\"info", logread.FormatText, time.Time{}, none, `level="info`},
	} {
		l := read(c.line + "\r\n")
		if got := string(l.Bytes()); got != c.line {
			t.Errorf("got line %q, want %q", got, c.line)
		}
		at, _ := l.Time()
		level, ok := l.Level()
		if !ok {
			level = none
		}
		message := string(l.Text(l.Message()))
		if l.Format() != c.format || !at.Equal(c.time) || level != c.level || message != c.message {
			t.Errorf("%s\n got %v %v %v %q\nwant %v %v %v %q", c.line, l.Format(), at, level, message, c.format, c.time, c.level, c.message)
		}
	}
}

func TestTimesWithoutAZoneAreInThatOfTheLine(t *testing.T) {
	l := read(`{"time":"2026-11-21 12:00:00"}`)
	l.SetZone(time.FixedZone("", 3600))
	if at, _ := l.Time(); !at.Equal(noon.Add(-time.Hour)) {
		t.Errorf("got %v", at)
	}
}

func TestLookupByPath(t *testing.T) {
	const line = `{"a":{"b":{"c":1},"b.c":2},"a.x":3,"n":1,"n":2,"\u0065":4,"o":{"k":null}}`
	for path, want := range map[string]string{
		"a.b.c": "2", "a.b": `{"c":1}`, "a.x": "3", "n": "2", "e": "4", "o.k": "null", "a.y": "", "n.x": "", "": "", ".": "",
	} {
		if got, _ := read(line).Lookup(path); string(got) != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	l := read(`level=info user.id=7 q="a\"b" e= last="x y"`)
	for path, want := range map[string]string{"user.id": "7", "q": `a"b`, "e": "", "last": "x y", "y": ""} {
		got, _ := l.Lookup(path)
		if string(l.Text(got)) != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestKeyIsTheOneInTheLine(t *testing.T) {
	l := read(`{"ts":1795262400,"lvl":"info","msg":"m"}`)
	if got := []string{l.Key("time"), l.Key("level"), l.Key("message"), l.Key("other")}; fmt.Sprint(got) != "[ts lvl msg ]" {
		t.Errorf("got %q", got)
	}
	l.Reset([]byte(`{"n":1}`))
	if got := []string{l.Key("time"), l.Key("level"), l.Key("message")}; fmt.Sprint(got) != "[  ]" {
		t.Errorf("after another line: got %q", got)
	}
}

func TestLinesAreWhole(t *testing.T) {
	long := strings.Repeat("x", 600<<10)
	want := []string{"a", "", long, `{"b":1}`, "no line break"}
	text := strings.Join(want, "\n")
	for name, r := range map[string]io.Reader{
		"at once": strings.NewReader(text), "halves": iotest.HalfReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text)),
		"small": iotest.HalfReader(iotest.HalfReader(strings.NewReader(text))),
	} {
		var got []string
		for l, err := range logread.Lines(r) {
			must.Succeed(t, err)
			got = append(got, string(l.Bytes()))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %d lines, want %d", name, len(got), len(want))
		}
	}
	broken := errors.New("broken")
	var got []string
	for l, err := range logread.Lines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken))) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, string(l.Bytes()))
	}
	if fmt.Sprint(got) != "[a b broken]" {
		t.Errorf("got %q", got)
	}
}

// breaks is a reader that fills each buffer, with line breaks at these offsets.
type breaks []int

func (b breaks) Read(p []byte) (int, error) {
	for _, at := range b {
		p[at] = '\n'
	}
	return len(p), nil
}

// The lines of a block are whole even if the block is longer than the longest
// line. One line of that length becomes several.
func TestLinesAreWholeInALargeBlock(t *testing.T) {
	const longest = 64 << 20
	buf := make([]byte, longest+32)
	for _, tt := range []struct {
		breaks breaks
		size   int
		whole  int
	}{
		{breaks{10, longest}, longest + 32, longest + 1}, {breaks{10}, longest + 32, 11},
		{nil, longest - 1, 0}, {nil, longest, longest}, {nil, longest + 32, longest + 32},
	} {
		clear(buf)
		block, next, err := logread.ReadBlock(tt.breaks, buf[:tt.size], nil)
		if err != nil || len(block) != tt.whole || len(next) != tt.size-tt.whole {
			t.Errorf("breaks at %v: got %d bytes, then %d, and error %v, want %d first", tt.breaks, len(block), len(next), err, tt.whole)
		}
	}
}

func TestSlogsOwnHandlersAreRecognised(t *testing.T) {
	var out bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&out, nil), slog.NewTextHandler(&out, nil)} {
		out.Reset()
		slog.New(h).Error("it failed", "took", 1500*time.Millisecond)
		l := read(out.String())
		level, _ := l.Level()
		at, _ := l.Time()
		if level != nib.LevelError || string(l.Text(l.Message())) != "it failed" || time.Since(at) > time.Hour {
			t.Errorf("got %v, %v, %s of %s", at, level, l.Message(), &out)
		}
		if q, err := logread.ParseQuery("took = 1500ms and took > 1s", noon); err != nil || !q.Match(l) {
			t.Errorf("%v: no match: %s", err, &out)
		}
	}
}

// A value of a field of time or level may be anything.
func TestValuesOfTimeAndLevelThatAreNone(t *testing.T) {
	var l logread.Line
	for _, key := range []string{
		"time", "ts", "timestamp", "@timestamp", "Timestamp", "t", "datetime", "__REALTIME_TIMESTAMP",
		"level", "lvl", "log.level", "severity", "SeverityText", "severity_text", "status", "loglevel", "PRIORITY",
	} {
		for _, value := range []string{`""`, `"`, `"\"`, `"\""`, `"-"`, `-`, `+`, `" "`, `.`, `null`, `{}`, `[]`, ``} {
			for _, form := range []string{`{"%s":%s}`, `{"%s":%s`, `%s=%s a=b`, `a=b %s=%s`} {
				l.Reset(fmt.Appendf(nil, form, key, value))
				if at, ok := l.Time(); ok {
					t.Errorf("%s: got %v", l.Bytes(), at)
				}
				if level, ok := l.Level(); ok {
					t.Errorf("%s: got %v", l.Bytes(), level)
				}
			}
		}
	}
}

// Bytes that are not of the line may precede it in a file.
func TestAByteOrderMarkAndHolesAreSkipped(t *testing.T) {
	for _, text := range []string{
		`{"level":"error","message":"m"}`, "level=error msg=m", "ERROR m",
		`{"log":"{\"level\":\"error\",\"message\":\"m\"}\n","stream":"stdout"}`,
	} {
		for _, before := range []string{"\ufeff", "\x00", strings.Repeat("\x00", 10_000)} {
			l := read(before + text)
			level, _ := l.Level()
			message := l.Message()
			if l.Format() != logread.FormatText {
				message = l.Text(message)
			}
			holes := strings.Count(before, "\x00")
			if level != nib.LevelError || string(message) != "m" ||
				string(l.Bytes()) != text || l.Holes() != holes {
				t.Errorf("%.20q before %s: got %v and %q", before, text, level, message)
			}
		}
	}
}

// Whatever line was read before, a line has what it has alone.
func TestALineHasNothingOfTheLineBefore(t *testing.T) {
	lines := []string{
		`{"time":"2026-11-22T09:00:00Z","level":"error","message":"m","a":1}`,
		`{"ts":1763717400,"severity":"WARN","body":"b","msg":"m"}`, `{"msg":"m","body":"b"}`,
		`{"body":"b"}`,
		`{"time":"never","level":"loud","message":null}`, `{}`, ``, `text`,
		`2026-11-22 09:00:00 ERROR text`, `level=warn time=2026-11-22T09:00:00Z msg=m a=1`,
		`a=1 b=2`,
		`web-1 | {"level":"info","message":"m"}`, `web-1 | {"a":1}`,
	}
	read := func(l *logread.Line, text string) string {
		l.Reset([]byte(text))
		at, hasTime := l.Time()
		level, hasLevel := l.Level()
		a, hasA := l.Lookup("a")
		return fmt.Sprintf("%v %v %v %v %v %q %q %v %q %q %q", l.Format(), at, hasTime, level,
			hasLevel, l.Message(), a, hasA, l.Key("time"), l.Key("level"), l.Key("message"))
	}
	for _, before := range lines {
		for _, text := range lines {
			var l, alone logread.Line
			read(&l, before)
			if got, want := read(&l, text), read(&alone, text); got != want {
				t.Errorf("%s after %s:\n got %s\nwant %s", text, before, got, want)
			}
		}
	}
}

// A value of logfmt has no escape sequences, but the message that it fills has.
func TestValuesInTemplatesAreEscaped(t *testing.T) {
	const want = `in C:\temp, "new"`
	for _, line := range []string{
		`@t=2026-11-26T10:00:00Z @mt="in {Path}, {Name}" Path=C:\temp Name="\"new\""`,
		`{"@mt":"in {Path}, {Name}","Path":"C:\\temp","Name":"\"new\""}`,
	} {
		l := read(line)
		if got := string(l.Text(l.Message())); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
