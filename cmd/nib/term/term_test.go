// SPDX-License-Identifier: Apache-2.0

package term_test

import (
	"strings"
	"testing"

	"github.com/nib-log/nib/cmd/nib/term"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 12: "12", 999: "999", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567"} {
		if got := term.Count(n); got != want {
			t.Errorf("Count(%d): got %s, want %s", n, got, want)
		}
	}
}

func TestColoursFollowTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		noColor, force, term string
		want                 bool
	}{
		{"", "", "xterm", false}, // no terminal
		{"", "1", "xterm", true},
		{"", "1", "dumb", true},
		{"", "0", "xterm", false},
		{"1", "1", "xterm", false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("CLICOLOR_FORCE", c.force)
		t.Setenv("TERM", c.term)
		if got := term.StyleFor(new(strings.Builder)).On; got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
