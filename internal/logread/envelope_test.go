// SPDX-License-Identifier: Apache-2.0

package logread_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/internal/seed"
)

// A line may be cut anywhere, at its end or by a reader that begins within it.
func TestLinesThatAreCut(t *testing.T) {
	l := new(logread.Line)
	for _, c := range loggers {
		for n := range len(c.line) {
			for _, text := range []string{c.line[:n], c.line[n:]} {
				record(l, text)
				message := string(l.Message())
				if l.Format() == logread.FormatText && !strings.Contains(text, message) {
					t.Errorf("%s: got the message %q of %q", c.logger, message, text)
				}
			}
		}
	}
}

// The time of package log is the time of an object that it prints, which is an
// envelope of its own.
func TestTimesBeforeObjects(t *testing.T) {
	c := logged{
		"log", `2026/11/26 10:00:00 {"level":"error","message":"boom"}`,
		"2026-11-26T10:00:00Z", nib.LevelError, "boom",
	}
	if got := record(new(logread.Line), c.line); got != c.want() {
		t.Errorf("got %s, want %s", got, c.want())
	}
}

// An envelope carries a line.
type envelope struct {
	name string
	wrap func(line string) string
}

func quoted(line string) string {
	text, _ := json.Marshal(line) // a string cannot fail to encode
	return string(text)
}

var envelopes = []envelope{
	{"journal", func(line string) string {
		return `{"__CURSOR":"c","MESSAGE":` + quoted(line) +
			`,"PRIORITY":"6","_HOSTNAME":"h","__REALTIME_TIMESTAMP":"1"}`
	}},
	{"journal, bytes", func(line string) string {
		list := strings.Join(strings.Fields(strings.Trim(fmt.Sprint([]byte(line)), "[]")), ",")
		return `{"_HOSTNAME":"h","MESSAGE":[` + list + `],"__REALTIME_TIMESTAMP":"1"}`
	}},
	{"Docker", func(line string) string {
		return `{"log":` + quoted(line+"\n") +
			`,"stream":"stdout","time":"1999-11-26T12:00:00.000000001Z"}`
	}},
	{"CRI", func(line string) string { return "1999-11-26T12:00:00.000000001Z stdout F " + line }},
	{"kubectl", func(line string) string { return "1999-11-26T12:00:00.000000001Z " + line }},
	{"kubectl, prefix", func(line string) string { return "[pod/shop-6f7c-abcde/shop] " + line }},
	{"stern", func(line string) string { return "shop-6f7c-abcde shop " + line }},
	{"compose", func(line string) string { return "web-1  | " + line }},
	{"RFC 3164", func(line string) string { return "Nov 26 12:00:00 h app[1]: " + line }},
	{"RFC 3164, priority", func(line string) string { return "<14>Nov 26 12:00:00 h app: " + line }},
	{"RFC 3164, no host", func(line string) string {
		return "<14>Nov 26 12:00:00 app[1]: " + line
	}},
	{"Heroku", func(line string) string {
		return "1999-11-26T12:00:00.000003+00:00 app[web.1]: " + line
	}},
	{"rsyslog", func(line string) string {
		return "1999-11-26T12:00:00.000003+00:00 h app[1]: " + line
	}},
	{"rsyslog, no process", func(line string) string {
		return "1999-11-26T12:00:00.000003+00:00 h kernel: " + line
	}},
	{"journalctl, full", func(line string) string {
		return "Fri 1999-11-26 12:00:00 UTC h app[1]: " + line
	}},
	{"BusyBox", func(line string) string { return "Nov 26 12:00:00 h user.err app[1]: " + line }},
	{"RFC 5424", func(line string) string {
		return `<165>1 1999-11-26T12:00:00.003Z h app 1 - [a@1 k="v]"][b x="\""] ` + line
	}},
}

// A line in envelopes is the same as alone.
func TestLinesInEnvelopes(t *testing.T) {
	selected := seed.Sample(t, 4, 8)
	l := new(logread.Line)
	check := func(names string, c logged, text string) {
		if got := record(l, text); got != c.want() {
			t.Errorf("%s in %s: %s\n got %s\nwant %s", c.logger, names, text, got, c.want())
		}
	}
	for _, c := range loggers {
		if c.time == "" || c.level == none {
			continue // the envelope gives what it has not
		}
		for _, e := range envelopes {
			one := e.wrap(c.line)
			check(e.name, c, one)
			for _, f := range envelopes {
				two := f.wrap(one)
				check(e.name+" in "+f.name, c, two)
				for _, g := range envelopes {
					if !selected() {
						continue
					}
					check(e.name+" in "+f.name+" in "+g.name, c, g.wrap(two))
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// Up to the limit, a line is the same in any number of envelopes of two kinds.
// What is in more than that is a line, too.
func TestLinesInManyEnvelopes(t *testing.T) {
	const limit = 4
	l, selected := new(logread.Line), seed.Sample(t, 2, 4)
	for _, c := range loggers {
		if c.time == "" || c.level == none {
			continue
		}
		for _, e := range envelopes {
			for _, f := range envelopes {
				if !selected() {
					continue
				}
				text, inner, other := c.line, e, f
				for n := 1; n <= limit+2 && len(text) < 1<<13; n++ {
					text = inner.wrap(text)
					inner, other = other, inner
					got := record(l, text)
					if n <= limit && got != c.want() {
						t.Fatalf("%s in %d of %s and %s: %s\n got %s\nwant %s",
							c.logger, n, e.name, f.name, text, got, c.want())
					}
				}
			}
		}
	}
}

// An entry of the journal that is no envelope has its host, and a line of a
// logger is not from one.
func TestHostsOfLines(t *testing.T) {
	var l logread.Line
	for text, want := range map[string]string{
		`{"__CURSOR":"c","MESSAGE":"plain text","_HOSTNAME":"h"}`: "h",
		`{"message":"m"}`: "",
		`2026-11-26T12:00:00.123456+00:00 h sudo: root : TTY=x ; USER=y`: "h",
		`2026-11-26T12:00:00.123456+00:00 ERROR shop: it failed`:         "",
		`2026-11-26T12:00:00.123456+00:00 [main] shop: it failed`:        "",
		`2026-11-26T12:00:00.123456Z shop api: it failed`:                "",
	} {
		l.Reset([]byte(text))
		if got, _ := l.Lookup("host"); string(got) != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// A line without a level has the level of its envelope.
func TestLevelsOfBusyBox(t *testing.T) {
	for word, level := range map[string]nib.Level{
		"daemon.err": nib.LevelError, "local7.warn": nib.LevelWarn, "kern.notice": nib.LevelInfo + 2,
	} {
		c := logged{
			"BusyBox", "Nov 26 10:00:00 h " + word + " app[1]: boom",
			"2026-11-26T10:00:00Z", level, "boom",
		}
		if got := record(new(logread.Line), c.line); got != c.want() {
			t.Errorf("%s: got %s", c.line, got)
		}
	}
}

// The priority of syslog is a whole number from 0 to 191.
func TestPrioritiesOfSyslog(t *testing.T) {
	for text, isPriority := range map[string]bool{
		"0": true, "14": true, "191": true, "192": false, "-1": false, "-4": false,
		"4.5": false, "-.5": false, "-0.5": false, "": false, "-": false,
	} {
		l := read("<" + text + ">Nov 26 12:00:00 h app: " + served)
		if l.IsWrapped() != isPriority {
			t.Errorf("<%s>: wrapped is %v, want %v", text, l.IsWrapped(), isPriority)
		}
	}
}

// An envelope without its end is a line.
func TestUnfinishedEnvelopes(t *testing.T) {
	l := new(logread.Line)
	for _, e := range envelopes {
		text := e.wrap(`{"level":"warn","message":"m"}`)
		for n := range len(text) {
			record(l, text[:n])
			if name := l.Prefix(); len(name) == 1 {
				t.Errorf("%s: the prefix %q of %q", e.name, name, text[:n])
			}
		}
	}
}
