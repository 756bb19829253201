// SPDX-License-Identifier: Apache-2.0

package roots_test

import (
	"fmt"
	"testing"

	"github.com/nib-log/nib/allocs/internal/roots"
)

func TestUnion(t *testing.T) {
	set := func(rs ...roots.Root) *roots.Set {
		return &roots.Set{Roots: rs, Waivers: map[roots.Place]string{{File: rs[0].File, Line: 1}: "so it is"}, Cold: map[string]bool{rs[0].Func: true}}
	}
	fn := func(name, file string, limit int) roots.Root {
		return roots.Root{Kind: roots.Annotated, Func: name, File: file, Line: 3, Max: limit}
	}
	call := func(file string, line int) roots.Root {
		return roots.Root{Kind: roots.LogCall, Func: "m.F", File: file, Line: line, Max: roots.Unlimited, Text: "log()"}
	}
	u := roots.Union([]*roots.Set{
		set(fn("m.F", "f_linux.go", 2), fn("m.Linux", "f_linux.go", 0), call("m.go", 4), call("m.go", 5)),
		set(fn("m.F", "f_windows.go", 1), fn("m.Windows", "f_windows.go", 0), call("m.go", 4), call("m.go", 5), call("f_windows.go", 9)),
	})
	var got []string
	for _, r := range u.Roots {
		got = append(got, fmt.Sprintf("%s %s:%d max=%d", r.ID, r.File, r.Line, r.Max))
	}
	want := []string{
		"m.F f_linux.go:3 max=1", "m.Linux f_linux.go:3 max=0", "m.Windows f_windows.go:3 max=0",
		"m.F › log() f_windows.go:9 max=-1", "m.F › log() #2 m.go:4 max=-1", "m.F › log() #3 m.go:5 max=-1",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(u.Waivers) != 2 || len(u.Cold) != 1 {
		t.Errorf("got %d waivers and %d cold functions, want 2 and 1", len(u.Waivers), len(u.Cold))
	}
}
