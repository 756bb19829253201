// SPDX-License-Identifier: Apache-2.0

package term_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/internal/must"
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

func TestNamesAndTextsAreHarmless(t *testing.T) {
	for _, c := range []struct{ text, name, line string }{
		{"/var/spool/app", "/var/spool/app", "/var/spool/app"},
		{"two words, ä", "two words, ä", "two words, ä"},
		{"", "", ""},
		{`a "b" \c`, `a "b" \c`, `a "b" \c`},
		{"\x1b]0;t\x07", `"\x1b]0;t\a"`, `\x1b]0;t\a`},
		{"a\nb\"", `"a\nb\""`, `a\nb"`},
		{"\u009b1m\u202e\x7f", `"\u009b1m\u202e\x7f"`, `\u009b1m\u202e\x7f`},
		{"\xff", `"\xff"`, `\xff`},
	} {
		if got := term.Name(c.text); got != c.name {
			t.Errorf("Name(%q): got %s, want %s", c.text, got, c.name)
		}
		if got := term.Line(c.text); got != c.line {
			t.Errorf("Line(%q): got %s, want %s", c.text, got, c.line)
		}
	}
}

func TestJSONIsHarmless(t *testing.T) {
	want := "\x1b a\u009b\u202e\x7f\U000e0001ä"
	text, err := json.Marshal(map[string]string{"name": want})
	must.Succeed(t, err)
	var out strings.Builder
	must.Succeed(t, term.WriteJSON(&out, text))
	if got, want := out.String(), `{"name":"\u001b a\u009b\u202e\u007f\udb40\udc01ä"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var v map[string]string
	if err := json.Unmarshal([]byte(out.String()), &v); err != nil || v["name"] != want {
		t.Errorf("got %q, %v, want %q", v["name"], err, want)
	}
}
