// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

func TestParseKeys(t *testing.T) {
	for text, want := range map[string]Keys{
		"time=ts,level=severity,message=event": {"ts", "severity", "event"},
		"message=a.b":                          {Message: "a.b"},
		" level = sev ":                        {Level: "sev"},
	} {
		if got, err := ParseKeys(text); got != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "time", "time=", "msg=event", "time=a,time=b", "time=a,"} {
		if got, err := ParseKeys(text); err == nil || got != (Keys{}) {
			t.Errorf("%q: got %+v, %v, want an error", text, got, err)
		}
	}
}

// The program's own keys have precedence over the known ones, in each format
// and envelope, and known keys count where a line lacks the own ones.
func TestOwnKeys(t *testing.T) {
	const when = "2026-11-27T09:30:00Z"
	own := Keys{Time: "when", Level: "app.sev", Message: "what"}
	for text, want := range map[string]struct {
		time    string
		level   nib.Level
		message string
	}{
		`{"when":"2026-11-27T09:30:00Z","app":{"sev":"error"},"what":"no"}`: {when, nib.LevelError, `"no"`},
		`{"time":"2000-01-01T00:00:00Z","level":"info","msg":"x","when":"2026-11-27T09:30:00Z",` +
			`"app.sev":50,"what":"no"}`: {when, nib.LevelError, `"no"`},
		`{"time":"2026-11-27T09:30:00Z","level":"warn","msg":"x"}`: {when, nib.LevelWarn, `"x"`},
		`{"when":1795771800,"app":{"sev":"warn"},"what":{"a":1}}`:  {when, nib.LevelWarn, `{"a":1}`},
		`{"when":"soon","time":"2026-11-27T09:30:00Z","app":"x"}`:  {when, 0, ""},
		"when=2026-11-27T09:30:00Z app.sev=error what=no":          {when, nib.LevelError, "no"},
		`{"log":"{\"when\":\"2026-11-27T09:30:00Z\",\"app\":{\"sev\":\"error\"},\"what\":\"no\"}\n",` +
			`"stream":"stdout","time":"2026-11-27T10:00:00Z"}`: {when, nib.LevelError, `"no"`},
	} {
		var l Line
		l.Own = own
		l.Reset([]byte(text))
		got, _ := l.Time()
		level, _ := l.Level()
		if got.UTC().Format("2006-01-02T15:04:05Z") != want.time || level != want.level {
			t.Errorf("%s: got %v, %v", text, got, level)
		}
		if m := string(l.Message()); m != want.message {
			t.Errorf("%s: got message %s, want %s", text, m, want.message)
		}
		if !strings.Contains(text, "app") {
			continue
		}
		if q, err := ParseQuery("level >= warn and message = no", got); err != nil {
			t.Fatal(err)
		} else if got := q.Match(&l); got != (strings.Trim(want.message, `"`) == "no") {
			t.Errorf("%s: the query selects it: %v", text, got)
		}
	}
}
