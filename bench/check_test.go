// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/bench/measure"
)

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
	const good = `{"time":"now","level":"info","message":"m","took":2000000,"n":[15e-1]}`
	const line = `{"ts":"NOW","level":"INFO","msg":"m","took":2.0,"n":[1.50]}` + "\n"
	check := func(want, line string) error {
		line = strings.ReplaceAll(line, "NOW", time.Now().UTC().Format(time.RFC3339))
		p := Peer{Name: "p", DurationUnit: time.Millisecond}
		return compare(want, "x", &p, []byte(line))
	}
	if err := check(good, line); err != nil {
		t.Errorf("the good line: %v", err)
	}
	for name, change := range map[string][2]string{
		"missing field":       {`,"took":2.0`, ``},
		"extra field":         {`2.0,`, `2.0,"x":1,`},
		"wrong value":         {`"m"`, `"other"`},
		"wrong level":         {`INFO`, `WARN`},
		"wrong type":          {`1.50`, `"1.50"`},
		"wrong duration unit": {`2.0`, `2000000`},
		"key twice":           {`2.0`, `2.0,"took":2.0`},
		"reserved key twice":  {`"m"`, `"m","message":"m"`},
		"array":               {line, "[1]\n"},
		"empty line more":     {"\n", "\n\n"},
		"cut":                 {"}", ""},
		"no time":             {`"ts":"NOW",`, ``},
		"old time":            {`NOW`, `2001-03-14T09:26:53Z`},
		"no JSON":             {`"m"`, "\"\x1b\""},
		"two lines":           {"\n", "\n{}\n"},
		"two objects":         {"\n", "{}\n"},
		"nothing":             {line, ""},
	} {
		if bad := strings.Replace(line, change[0], change[1], 1); bad == line ||
			check(good, bad) == nil {
			t.Errorf("%s passes: %s", name, bad)
		}
	}
	aside := &measure.Contestant{Aside: true}
	if check("", "{}\n") == nil || Same(good)(aside, []byte("{}")) == nil {
		t.Error("a line where none is wanted passes")
	}
}
