// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
)

// guided is a library in which a function is too large to be inlined, unless a
// profile shows that the call of it is hot: then its result stays on the stack.
const guided = `package lib

type point struct{ x, y int }

func newPoint(n int) *point {
	p := &point{n, n}
	for i := range 8 {
		if p.x%2 == 0 {
			p.x, p.y = p.x/2+i, p.y*3-i
		} else {
			p.x, p.y = p.x*3+1, p.y/2+p.x
		}
		if p.y > 1000 {
			p.y -= p.x * 7
		}
		if p.x > 1000 {
			p.x -= p.y * 5
		}
	}
	return p
}

//alloc:none
//
//go:noinline
func Hot(n int) int {
	p := newPoint(n)
	return p.x + p.y
}
`

const hotCall = 28 // line of the call, and the first of Hot
const hotStart = 27

// guidedModule writes the library, and a program that uses it, and returns the
// directory and a CPU profile in which the call is all there is.
func guidedModule(t *testing.T) (dir, profileName string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it compiles with a profile")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":          "module example.com/guided\n\ngo 1.24\n",
		"lib/lib.go":      guided,
		"cmd/app/main.go": "package main\n\nimport \"example.com/guided/lib\"\n\nfunc main() { println(lib.Hot(3)) }\n",
		"cpu.pprof":       cpuProfile(t),
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "cpu.pprof")
}

// cpuProfile returns the profile that a run of the program would leave.
func cpuProfile(t *testing.T) string {
	t.Helper()
	hot := &profile.Function{ID: 1, Name: "example.com/guided/lib.Hot", SystemName: "example.com/guided/lib.Hot", Filename: "lib.go", StartLine: hotStart}
	callee := &profile.Function{ID: 2, Name: "example.com/guided/lib.newPoint", SystemName: "example.com/guided/lib.newPoint", Filename: "lib.go", StartLine: 5}
	m := &profile.Mapping{ID: 1, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	locations := []*profile.Location{
		{ID: 1, Mapping: m, Address: 1, Line: []profile.Line{{Function: callee, Line: 8}}},
		{ID: 2, Mapping: m, Address: 2, Line: []profile.Line{{Function: hot, Line: hotCall}}},
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10000000,
		Sample:  []*profile.Sample{{Location: locations, Value: []int64{1000, 10000000000}}},
		Mapping: []*profile.Mapping{m}, Location: locations, Function: []*profile.Function{hot, callee},
	}
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checked returns the worst of Hot.
func checked(t *testing.T, o check.Options) string {
	t.Helper()
	r, err := check.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	d := findings.New(r)
	if len(d.Roots) != 1 {
		t.Fatalf("got %d roots, want 1", len(d.Roots))
	}
	return worst(d.Roots[0])
}

func TestProfileTakesAnAllocationAway(t *testing.T) {
	dir, cpu := guidedModule(t)
	for _, c := range []struct {
		name, pattern, flags string
		ownToo               bool // the program has a default.pgo
		want                 string
	}{
		{"no profile", "./...", "", false, "any run"},
		{"a profile", "./...", "-pgo=" + cpu, false, "none"},
		{"default.pgo, in the program", "./...", "", true, "none"},
		{"default.pgo, the library alone", "./lib", "", true, "any run"},
		{"default.pgo, but off", "./...", "-pgo=off", true, "any run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.ownToo {
				if err := os.WriteFile(filepath.Join(dir, "cmd", "app", "default.pgo"), []byte(cpuProfile(t)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("GOFLAGS", c.flags)
			if got := checked(t, check.Options{Dir: dir, Patterns: []string{c.pattern}}); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
