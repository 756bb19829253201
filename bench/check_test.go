// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"strings"
	"testing"
	"time"
)

func TestPeersPrintEquivalentLines(t *testing.T) {
	set := Set()
	for _, x := range set.Tables[0].Scenarios {
		if err := x.Verify(); err != nil {
			t.Error(err)
		}
	}
	if err := set.Complete(); err != nil {
		t.Error(err)
	}
}

func TestEveryExceptionNamesAPeerAndAScenario(t *testing.T) {
	for _, e := range Exceptions {
		found := false
		for _, x := range Set().Tables[0].Scenarios {
			for _, c := range x.Contestants {
				found = found || c.Name == e.Peer && x.Name == e.Scenario
			}
		}
		if !found || e.Reason == "" {
			t.Errorf("exception %+v: no such row, or no reason", e)
		}
	}
}

// The check itself must be able to fail.
func TestCheckRefuses(t *testing.T) {
	const good = `{"time":"now","level":"info","message":"m","took":2000000}`
	for _, test := range []struct{ name, line string }{
		{"missing field", `{"time":"2026-03-14T09:26:53Z","level":"info","message":"m"}`},
		{"extra field", `{"time":"NOW","level":"info","message":"m","took":2,"x":1}`},
		{"wrong value", `{"time":"NOW","level":"info","message":"other","took":2}`},
		{"wrong level", `{"time":"NOW","level":"warn","message":"m","took":2}`},
		{"wrong duration unit", `{"time":"NOW","level":"info","message":"m","took":2000000}`},
		{"key twice", `{"time":"NOW","level":"info","message":"m","took":2,"took":2}`},
		{"reserved key twice", `{"time":"NOW","level":"info","message":"m","msg":"m","took":2}`},
		{"array", `[1]`},
		{"empty line more", `{"time":"NOW","level":"info","message":"m","took":2}` + "\n"},
		{"cut", `{"time":"NOW","level":"info","message":"m","took":2`},
		{"no time", `{"level":"info","message":"m","took":2}`},
		{"old time", `{"time":"2001-03-14T09:26:53Z","level":"info","message":"m","took":2}`},
		{"no JSON", `{"time":"NOW","level":"info","message":"` + "\x1b" + `"}`},
		{"two lines", `{"time":"NOW","level":"info","message":"m","took":2}` + "\n{}"},
		{"nothing", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if check(good, test.line+"\n") == nil {
				t.Errorf("line %s passes", test.line)
			}
		})
	}
	t.Run("but not the good line", func(t *testing.T) {
		line := `{"ts":"NOW","level":"INFO","msg":"m","took":2.0}`
		if err := check(good, line+"\n"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a line where none is wanted", func(t *testing.T) {
		if check("", "{}\n") == nil {
			t.Error("passes")
		}
	})
}

func check(want, line string) error {
	line = strings.ReplaceAll(line, "NOW", time.Now().UTC().Format(time.RFC3339))
	return compare(want, "x", &Peer{Name: "p", File: "check.go", DurationUnit: time.Millisecond}, []byte(line))
}
