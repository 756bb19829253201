// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"io"
	"strings"
	"testing"
)

func TestAllContestantsWriteTheSame(t *testing.T) {
	for _, s := range Scenarios() {
		if err := Check(&s); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	writes := func(text string) func(w io.Writer) func(n int) {
		return func(w io.Writer) func(n int) { return func(int) { show(w, []byte(text)) } }
	}
	for _, test := range []struct{ name, text, want string }{
		{"another value", `{"a":1}`, `{"a":2}`},
		{"a value too few", `{"a":1}`, `{"a":1,"b":2}`},
		{"a value too many", `{"a":1,"b":2}`, `{"a":1}`},
		{"another type", `{"a":"1"}`, `{"a":1}`},
		{"an old time", `{"a":"2006-01-02 15:04:05"}`, `{"a":"now"}`},
		{"two lines", "{}\n{}", `{}`},
		{"no JSON", "{", `{}`},
		{"a line too many", `{}`, ""},
	} {
		c := Contestant{New: writes(test.text), Want: test.want}
		if err := c.check(""); err == nil {
			t.Errorf("%s passes", test.name)
		}
	}
	c := Contestant{New: writes(`{"b":[1.50],"a":"x"}`), Want: `{"a":"x", "b":[15e-1]}`}
	if err := c.check(""); err != nil {
		t.Errorf("what may differ: %v", err)
	}
}

func TestScenariosAreComplete(t *testing.T) {
	seen := map[string]map[string]bool{}
	for _, s := range Scenarios() {
		if seen[s.Name] != nil || s.Title == "" || strings.ContainsAny(s.Name, " /") {
			t.Errorf("scenario %q: twice, no title, or not a name", s.Name)
		}
		names := map[string]bool{}
		seen[s.Name] = names
		for _, c := range s.Contestants {
			if names[c.Name] || strings.Contains(c.Name, " ") || Own(c.Name) != strings.HasPrefix(c.Name, Nib) {
				t.Errorf("%s: contestant %q twice, or not a name", s.Name, c.Name)
			}
			names[c.Name] = true
		}
		if s.Versus != "" && !names[s.Versus] {
			t.Errorf("%s: no %s to compare with", s.Name, s.Versus)
		}
	}
	for _, l := range Limits {
		in := l.In
		if in == "" {
			in = l.Scenario
		}
		if !seen[l.Scenario][l.Contestant] || seen[in] == nil || l.Versus != "" && !seen[in][l.Versus] || l.Most <= 0 {
			t.Errorf("a limit that nobody can be measured by: %+v", l)
		}
	}
}
