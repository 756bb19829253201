// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

func parse(t testing.TB, query string) *logread.Query {
	t.Helper()
	q, err := logread.ParseQuery(query, noon)
	must.Succeed(t, err)
	return q
}

const served = `{"time":"2026-11-21T11:30:00Z","level":"warn","method":"GET","path":"/api/v1","status":503,"took":312.5,` +
	`"wait_seconds":0.25,"waitSeconds":1,"waitMicros":2000,"id":9007199254740993,"size":"4096","ok":true,"none":null,"user":{"id":"u-1"},"tags":["a"],"text":"say \"hi\"","message":"served slowly"}`

func TestQueries(t *testing.T) {
	for _, c := range []struct {
		query string
		want  bool
	}{
		{"", true}, {"  ", true},
		{"level = warn", true}, {"level == WARNING", true}, {"level >= info", true}, {"level > warn", false}, {"level < error", true},
		{"level != error", true}, {"level in (info, warn)", true}, {"level >= info+2", true}, {"level ~ ^wa", true},
		{"level >= INFO3", true}, {"level < warn2", true}, {"level in (info, WARN2)", false},
		{"status = 503", true}, {"status = 503.0", true}, {`status = "503"`, true}, {`status = "503.0"`, false}, {"status >= 5e2", true}, {"status < 500", false},
		{"status in (500,502,503)", true}, {"status in (1)", false}, {"status != 200", true},
		{"took > 250ms", true}, {"took > 312.5", false}, {"took >= 312.5", true}, {"took < 1s", true}, {"took = 312500us", true},
		{"wait_seconds = 250ms", true}, {"wait_seconds > 1s", false}, {"waitSeconds = 1s", true}, {"waitMicros = 2ms", true},
		{"id = 9007199254740993", true}, {"id = 9007199254740992", false}, {"id > 9007199254740992", true},
		{"size = 4KiB", true}, {"size > 4KB", true}, {"size > 1MB", false},
		{`path ~ "^/api"`, true}, {`path ~ ^/v1`, false}, {`path !~ "v[2-9]$"`, true}, {`path ~ "v\d$"`, true}, {`path ~ 'API'`, false}, {`path ~ "(?i)API"`, true},
		{"path contains /v1", true}, {"message contains slow", true}, {"msg = 'served slowly'", true}, {`line contains "\"took\":312"`, true},
		{"user.id = u-1", true}, {"exists user.id", true}, {"exists user.name", false}, {"not exists user.name", true},
		{"missing = 1", false}, {"missing != 1", true}, {"missing < 1", false}, {"missing > 1", false}, {"missing ~ x", false}, {"missing !~ x", true}, {"missing > 1s", false},
		{"ok = true", true}, {"none = null", true}, {"exists none", true}, {`tags contains "\"a\""`, true}, {"`method` = GET", true}, {"`level` = warn", true},
		{`text = "say \"hi\""`, true}, {`text contains 'say "h'`, true},
		{"method > GEA and method < GZ", true}, {"method >= GET", true},
		{"time > 11:00", true}, {"time >= -30m", true}, {"time > -29m", false}, {"time < today", false}, {`time < "2026-11-21 11:31"`, true}, {"time = 2026-11-21T12:30:00+01:00", true},
		{"level = warn and status = 1 or method = GET", true}, {"level = warn and (status = 1 or method = PUT)", false},
		{"not (status = 1) && !(status = 2) || status = 3", true}, {"not not status = 503", true}, {"NOT status = 503", false},
		{"level=warn AND status=503 and took>1 and exists time", true},
	} {
		if got := parse(t, c.query).Match(read(served)); got != c.want {
			t.Errorf("%s: got %v, want %v", c.query, got, c.want)
		}
	}
}

// A time and a level that are no text of a field have the text that is shown.
func TestTextsOfTimesAndLevels(t *testing.T) {
	q := parse(t, `level ~ "^err" and level contains rr and time ~ "^2026-11-2.T10"`)
	for _, line := range []string{
		`E1121 10:00:00.000000       1 a.go:10] klog`,
		`2026-11-26 10:00:00,250 ERROR [main] com.shop.API - log4j`,
		`{"level":50,"time":"2026-11-26T10:00:00.000Z","msg":"bunyan"}`,
		`{"level":"error","time":"2026-11-26T10:00:00Z","message":"nib"}`,
		`<11>1 2026-11-26T10:00:00Z h app 1 - - {"n":1}`,
	} {
		l := read(line)
		l.SetNow(evening)
		if !q.Match(l) {
			t.Errorf("no match: %s", line)
		}
	}
	if l := read(`{"level":50,"msg":"pino"}`); !parse(t, "level = 50 and level > 40").Match(l) {
		t.Error("the number of a level is another level")
	}
	if q := parse(t, "level ~ . or time ~ ."); q.Match(read("a line")) {
		t.Error("a line of text without a time and a level matches")
	}
}

func TestUnitsOfDurationsFollowTheLogger(t *testing.T) {
	q := parse(t, "took = 1500ms")
	for _, line := range []string{
		`{"time":"2026-11-21T11:30:00Z","level":"info","took":1500,"message":"nib, zerolog"}`,
		`{"level":"info","ts":1795262400,"msg":"zap","took":1.5}`,
		`{"time":"2026-11-21T11:30:00Z","level":"INFO","msg":"slog","took":1500000000}`,
		`{"level":30,"time":1795262400000,"pid":1,"msg":"pino","took":1500}`,
		`{"name":"bunyan","level":30,"msg":"x","time":"2026-11-21T11:30:00Z","took":1500,"v":0}`,
		`{"level":"info","message":"text","took":"1.5s"}`,
		`level=info msg=x took=1.5s`,
		"level=info took=1500",
		"@timestamp=2026-11-21T11:30:00Z log.level=info message=x took=1500000000",
		"Timestamp=2026-11-21T11:30:00Z SeverityText=INFO took=1.5",
		`{"timestamp":"2026-11-21T11:30:00Z","status":503,"level":"info","took":1500,"message":"not Datadog"}`,
		`{"time":"2026-11-21T11:30:00Z","status":"error","took":1500,"message":"not Datadog"}`,
	} {
		if !q.Match(read(line)) {
			t.Errorf("no match: %s", line)
		}
	}
}

// A number of milliseconds times a million is not always a whole number in
// binary.
func TestDurationsAreComparedInNanoseconds(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 23 // the sample has numbers of all digits
	}
	for us := int(seed.Of(t) % uint64(step)); us < 100_000; us += step {
		var l logread.Line
		l.Reset(fmt.Appendf(nil, `{"took":%v,"wait_seconds":%v}`, float64(us)/1e3, float64(us)/1e6))
		query := fmt.Sprintf("took = %dus and wait_seconds = %dus and not took > %dus and wait_seconds <= %dus", us, us, us, us)
		if !parse(t, query).Match(&l) {
			t.Fatalf("%s: no match: %s", query, l.Bytes())
		}
	}
}

func TestQueryErrors(t *testing.T) {
	for _, c := range []struct {
		query, want string
		column      int
	}{
		{"level >> warn", "want a value", 7},
		{"level", "want a comparison", 5},
		{"user.id exists", "want a comparison", 8},
		{"level = loud", `"loud" is not a level: write trace, debug`, 8},
		{"time > soon", `"soon" is not a time: write 2026`, 7},
		{"a = 1 b = 2", "want and, or, or the end", 6},
		{"(a = 1", "want a closing parenthesis, not the end", 6},
		{"a = 1)", "want and, or", 5},
		{"a in 1", "want an opening parenthesis", 5},
		{"a in (1", "want a comma", 7},
		{"a in ()", "want a value", 6},
		{`a = "x`, "the quote is not closed", 4},
		{`a = 'x\'`, "the quote is not closed", 4},
		{`a = 'x\`, "the quote is not closed", 4},
		{"`` = 1", `want the name of a field, not ""`, 0},
		{"`a = 1", "the backquote is not closed", 0},
		{`a ~ "("`, "not a regular expression", 4},
		{"ä = 1 and | = 2", `"|" has no meaning`, 10},
		{"and = 1", "want the name of a field", 0},
		{"a = ", "want a value, not the end", 4},
		{"not", "want the name of a field, not the end", 3},
		{strings.Repeat("(", 300), "more than 200", 200},
	} {
		_, err := logread.ParseQuery(c.query, noon)
		var e *logread.QueryError
		if !errors.As(err, &e) || !strings.Contains(e.Problem, c.want) {
			t.Errorf("%s: got %v, want %s", c.query, err, c.want)
			continue
		}
		if query, caret := e.Caret(); query != c.query || caret != strings.Repeat(" ", c.column)+"^" {
			t.Errorf("%v:\n%s\n%s want column %d", err, query, caret, c.column)
		}
	}
}

func TestAndKeepsTheFieldsOfItsQueriesApart(t *testing.T) {
	q := logread.And(nil, parse(t, ""), parse(t, "status = 503"), parse(t, "method = GET"))
	if !q.Match(read(served)) || logread.And(q, parse(t, "method = PUT")).Match(read(served)) {
		t.Error("the queries share fields")
	}
	if !logread.And().Match(read(served)) {
		t.Error("no query has to select all")
	}
}

func TestMoments(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"2026-11-21T09:30:00Z": "2026-11-21T10:30:00+01:00", "2026-11-21 09:30": "2026-11-21T09:30:00+01:00", "2026-11-20": "2026-11-20T00:00:00+01:00",
		"2026-11-21T09:30:00.25+01:00": "2026-11-21T09:30:00.25+01:00", "2026-11-21 09:30:00,5": "2026-11-21T09:30:00.5+01:00",
		"14:30": "2026-11-21T14:30:00+01:00", "14:30:05": "2026-11-21T14:30:05+01:00", "yesterday": "2026-11-20T00:00:00+01:00", "today": "2026-11-21T00:00:00+01:00",
		"yesterday 14:30": "2026-11-20T14:30:00+01:00", "-3h": "2026-11-21T09:00:00+01:00", "10m": "2026-11-21T11:50:00+01:00", "2d": "2026-11-19T12:00:00+01:00",
		"-1w": "2026-11-14T12:00:00+01:00", "now": "2026-11-21T12:00:00+01:00", "@1795262400": "2026-11-21T13:00:00+01:00",
		"36499d": "1926-12-17T12:00:00+01:00", "5214w": "1926-12-18T12:00:00+01:00",
		"36500d": "", "5215w": "", "36499w": "", "1e300d": "",
		"": "", "soon": "", "25:00": "", "2dd": "", "d": "", "--0.5d": "", "--1ns": "",
		"0d": "2026-11-21T12:00:00+01:00", "0s": "2026-11-21T12:00:00+01:00",
		"@99999999999":  "5138-11-16T09:46:39Z",
		"@100000000000": "", "@-100000000000": "",
		"--1h": "", "@x": "", "yesterday 25:00": "", "2026-13-01": "",
	} {
		got, err := logread.ParseMoment(text, now)
		if want == "" {
			if err == nil {
				t.Errorf("%q: got %v, want an error", text, got)
			}
			continue
		}
		if at, _ := time.Parse(time.RFC3339Nano, want); err != nil || !got.Equal(at) {
			t.Errorf("%q: got %v, %v, want %s", text, got, err, want)
		}
	}
	const least int64 = -99999999999 // in a year that RFC 3339 does not have
	got, err := logread.ParseMoment(fmt.Sprintf("@%d", least), now)
	if err != nil || got.Unix() != least {
		t.Errorf("got %v, %v, want %d", got, err, least)
	}
}
