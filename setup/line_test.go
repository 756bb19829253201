// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// A line has the fields of a line that tests check.
type line struct {
	N                     *int
	Level, Message, Stack string
	PID                   int
	Build                 struct{ ID, Path, Go string }
}

// parse reads lines. Each has to be valid JSON.
func parse(t *testing.T, text string) (numbered int, others []line) {
	t.Helper()
	for l := range strings.Lines(text) {
		var x line
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatalf("line %q: %v", l, err)
		}
		if x.N == nil {
			others = append(others, x)
		} else if *x.N != numbered {
			t.Fatalf("line %q is not number %d", l, numbered)
		} else {
			numbered++
		}
	}
	return numbered, others
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must.Succeed(t, err)
	return string(text)
}
