// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSurvivorsOfASample checks that only equivalent mutants survive, and that
// code which no test executes does not count.
func TestSurvivorsOfASample(t *testing.T) {
	p, err := load(filepath.Join("testdata", "sample"), options{short: true, build: build{tests: "."}})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(p.temp)
	var left []string
	count := map[result]int{}
	for i, m := range p.mutants {
		r := p.run(i + 1)
		if count[r]++; r == survived {
			left = append(left, m.key())
		}
	}
	want := []string{"sample.go Clamp: 0 => (0+1)", "sample.go Clamp: n < 0 => n <= 0"} // both are equivalent
	slices.Sort(left)
	if !slices.Equal(left, want) {
		t.Errorf("got survivors\n%s\nwant\n%s", strings.Join(left, "\n"), strings.Join(want, "\n"))
	}
	if count[killed] < 9 || count[uncovered] < 2 {
		t.Errorf("got %v, want some killed and some not covered", count)
	}
}

// TestProcessesOfTestsAreCovered checks that the code of a process counts for
// the test that starts it.
func TestProcessesOfTestsAreCovered(t *testing.T) {
	p, err := load(filepath.Join("testdata", "sample"), options{short: true, run: "End", build: build{tests: "."}})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(p.temp)
	n := 0
	for i, m := range p.mutants {
		if strings.HasPrefix(m.what, "End: ") {
			n++
			if got := p.run(i + 1); got != killed {
				t.Errorf("%s: got result %d, want %d", m, got, killed)
			}
		}
	}
	if n == 0 {
		t.Error("got no mutant")
	}
}

// TestBuilds checks that a build executes the files and tests of its tags, and
// the tests of its directory.
func TestBuilds(t *testing.T) {
	for _, b := range buildsOf([]string{".", "user"}, []string{"", "strict"}) {
		want := killed
		if b == (build{tests: "."}) {
			want = uncovered
		}
		p, err := load(filepath.Join("testdata", "sample"), options{short: true, build: b})
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(p.temp)
		i := slices.IndexFunc(p.mutants, func(m mutant) bool { return m.what == "Never: true => false" })
		if got := p.run(i + 1); got != want {
			t.Errorf("%+v: got result %d, want %d", b, got, want)
		}
	}
}

// TestReportOfSeveralBuilds checks that a mutant counts once, as killed if one
// build kills it, and as survived if the tests of any build execute it.
func TestReportOfSeveralBuilds(t *testing.T) {
	const none = -1 // the build has no such mutant
	for _, c := range []struct{ first, second, want result }{
		{killed, none, killed}, {none, killed, killed}, {survived, killed, killed}, {uncovered, timedOut, timedOut},
		{survived, none, survived}, {none, survived, survived}, {uncovered, survived, survived},
		{survived, uncovered, survived}, {survived, survived, survived}, {uncovered, uncovered, uncovered},
	} {
		m := mutant{file: "a.go", what: "f"}
		r := report{earlier: map[string]result{}}
		for i, got := range []result{c.first, c.second} {
			if r.last = i == 1; got != none && !r.settled(m) {
				r.take(m, got)
				r.mutants = append(r.mutants, m)
			}
		}
		r.finish()
		if r.total != 1 || r.count[c.want] != 1 {
			t.Errorf("%d and %d: got counts %v, want one of %d", c.first, c.second, r.count, c.want)
		}
	}
}

func TestMutants(t *testing.T) {
	const src = `package p

func f(a, b int, ok bool) (int, error) {
	if a < b && !ok {
		g(min(a, 2))
	}
	for a == b {
		a += b
		break
	}
	return a - b, err
}

func (x *t[T]) m() { defer x.n() }
`
	list, err := mutantsOf("p.go", []byte(src), map[string]bool{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.what)
	}
	want := []string{
		"f: a < b && !ok => !(a < b && !ok)", "f: a < b => a <= b", "f: a < b && !ok => a < b", "f: a < b && !ok => !ok",
		"f: g(min(a, 2)) => (dropped)", "f: min => max", "f: 2 => (2+1)",
		"f: a == b => a != b", "f: a += b => (dropped)", "f: break => continue",
		"f: a - b => a + b", "f: return a - b, err => return a - b, nil",
		"t.m: defer x.n() => (dropped)",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNumbersAreLeftOut: numbers, and bounds that are durations or sizes.
func TestNumbersAreLeftOut(t *testing.T) {
	const src = `package p

const (
	wait   = 5 * time.Second
	size   = 64 << 10
	header = 16
)

func f(d time.Duration, n int) bool { return d < wait || n >= size || n < header || d == wait || n > 7 }
`
	consts := map[string]bool{}
	if err := tuningConstants("p.go", []byte(src), consts); err != nil {
		t.Fatal(err)
	}
	list, err := mutantsOf("p.go", []byte(src), consts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		if m.tuning {
			got = append(got, m.what)
		}
	}
	want := []string{"f: d < wait => d <= wait", "f: n >= size => n > size", "f: 7 => (7+1)"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReportFailsForUselessExplanations checks that a mutant that is explained,
// but killed, counts like one that has survived.
func TestReportFailsForUselessExplanations(t *testing.T) {
	r := report{explained: map[string]string{"a.go f": "why", "a.go g": "why"}}
	r.add(mutant{file: "a.go", what: "f"}, survived)
	if r.bad != 0 || r.count[equivalent] != 1 {
		t.Errorf("explained: got %+v, %d bad", r.count, r.bad)
	}
	r.add(mutant{file: "a.go", what: "g"}, killed)
	if r.bad != 1 {
		t.Errorf("explained, but killed: got %+v, %d bad", r.count, r.bad)
	}
	r.add(mutant{file: "a.go", what: "h"}, survived)
	if r.bad != 2 || r.count[survived] != 1 || r.total != 3 {
		t.Errorf("survived: got %+v, %d bad", r.count, r.bad)
	}
}

func TestExplanations(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mutants.txt")
	write := func(text string) (map[string]string, error) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return readExplained(name)
	}
	got, err := write("# a comment\na.go f: 1 => (1+1)\n\ttwo\n\tlines\n\nb.go g: x() => (dropped)\n\twhy\n")
	if err != nil || len(got) != 2 || got["b.go g: x() => (dropped)"] != "why" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, text := range []string{"a.go f: 1 => (1+1)\n", "\twhy\n"} {
		if _, err := write(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
	if n := printStale(got, []mutant{{file: "b.go", what: "g: x() => (dropped)"}}); n != 1 {
		t.Errorf("got %d explanations of no use, want 1", n)
	}
}
