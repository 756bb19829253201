// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const keptBenchmarks = `package m

import (
	"os"
	"testing"
)

var counted *[3]int

// begins notes that a benchmark has begun.
func begins(b *testing.B) {
	f, err := os.OpenFile(os.Getenv("BEGAN"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	f.WriteString(b.Name() + "\n")
	f.Close()
}

func once(b *testing.B) {
	begins(b)
	for i := 0; i < b.N; i++ {
		counted = &[3]int{i}
	}
}

func server(b *testing.B) {
	begins(b)
	if _, err := os.Stat("server"); err != nil {
		b.Fatal("no server")
	}
	once(b)
}

func spin(b *testing.B, n int) {
	begins(b)
	for ; n != 0; n-- {
		counted = nil
	}
}

func BenchmarkA(b *testing.B) { once(b) }

func BenchmarkTable(b *testing.B) {
	b.Run("good", once)
	b.Run("server", server)
	if _, err := os.Stat("server"); err != nil {
		b.Run("instead", once)
	}
	b.Run("slow", func(b *testing.B) { spin(b, 3_000_000_000) })
	b.Run("last", once)
}

func BenchmarkServer(b *testing.B) { server(b) }

func BenchmarkSpins(b *testing.B) { spin(b, -1) }
`

// began returns the benchmarks that have begun since it was last called.
func began(t *testing.T) []string {
	t.Helper()
	name := os.Getenv("BEGAN")
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	os.Remove(name)
	names := strings.Fields(string(text))
	slices.Sort(names)
	return slices.Compact(names)
}

func TestKeptResultsAreNotMeasuredAgain(t *testing.T) {
	o := quick
	o.Budget = 20 * time.Millisecond
	b, dir := build(t, "", o, keptBenchmarks)
	t.Setenv("BEGAN", filepath.Join(t.TempDir(), "began")) // files outside of the module are not an input
	cache := t.TempDir()
	run := func() map[string]string {
		t.Helper()
		results, err := b.Run(t.Context(), o, cache)
		if err != nil {
			t.Fatal(err)
		}
		return leafCounts(t, results)
	}
	want := map[string]string{
		"BenchmarkA": "1", "BenchmarkTable/good": "1", "BenchmarkTable/instead": "1", "BenchmarkTable/last": "1",
		"BenchmarkTable/server": "no server", "BenchmarkServer": "no server",
		"BenchmarkTable/slow": "too slow to measure", "BenchmarkSpins": "processor time",
	}
	compare := func(got map[string]string) {
		t.Helper()
		for name, w := range want {
			if !strings.Contains(got[name], w) {
				t.Errorf("%s: got %q, want %q", name, got[name], w)
			}
		}
		if len(got) != len(want) {
			t.Errorf("got %v, want these only: %v", got, slices.Sorted(maps.Keys(want)))
		}
	}
	first := run()
	compare(first)
	began(t)

	// Only a run that failed for a reason that may be gone is tried again.
	compare(run())
	again := []string{"BenchmarkServer", "BenchmarkTable/server"}
	if got := began(t); !slices.Equal(got, again) {
		t.Errorf("with what was kept: %v began, want %v", got, again)
	}

	// The reason is gone, and with it a leaf of which a result is kept.
	if err := os.WriteFile(filepath.Join(dir, "server"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want["BenchmarkServer"], want["BenchmarkTable/server"] = "1", "1"
	delete(want, "BenchmarkTable/instead")
	compare(run())
	began(t)
	compare(run())
	if got := began(t); len(got) > 0 {
		t.Errorf("with everything kept: %v began", got)
	}
}

// Which packages the lines are of depends on the patterns on the command line.
func TestKeptVisitsAreOfTheSamePackages(t *testing.T) {
	b, dir := build(t, "", quick, "package m\n\nimport (\n\t\"container/ring\"\n\t\"testing\"\n)\n\nfunc BenchmarkX(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tNone(i)\n\t\tring.New(1)\n\t}\n}\n")
	cache := t.TempDir()
	// Nothing else imports the package of the library, which is compiled anew.
	for _, p := range []string{"container/ring", "example.com/m"} {
		v, err := b.Visit(t.Context(), quick, nil, []string{p}, []string{dir}, cache)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(v.Lines[filepath.Join(dir, "m.go")]) > 0; got != (p == "example.com/m") {
			t.Errorf("%s: lines of m.go: %v", p, got)
		}
	}
}

const inputBenchmarks = `package m

import (
	"os"
	"testing"
)

func BenchmarkInput(b *testing.B) {
	text, err := os.ReadFile("testdata/n")
	if err != nil {
		b.Fatal(err)
	}
	n := len(text) + len(os.Getenv("MORE"))
	for i := 0; i < b.N; i++ {
		for j := 0; j < n; j++ {
			None(j)
		}
	}
}
`

// The files that a benchmark reads decide its allocations, as its code does.
func TestKeptResultsAreOfTheSameInputs(t *testing.T) {
	b, dir := build(t, "", quick, inputBenchmarks)
	cache, name := t.TempDir(), filepath.Join(dir, "testdata", "n")
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		text, more, want string
		visited          bool
	}{{"", "", "0", false}, {"1", "", "1", true}, {"123", "", "3", true}, {"123", "45", "5", true}, {"", "", "0", false}} {
		t.Setenv("MORE", step.more)
		if err := os.WriteFile(name, []byte(step.text), 0o644); err != nil {
			t.Fatal(err)
		}
		results, err := b.Run(t.Context(), quick, cache)
		if err != nil {
			t.Fatal(err)
		}
		if got := leafCounts(t, results)["BenchmarkInput"]; got != step.want {
			t.Errorf("%q, %q: got %s, want %s", step.text, step.more, got, step.want)
		}
		v, err := b.Visit(t.Context(), quick, results, []string{"example.com/m"}, []string{dir}, cache)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(v.Lines[filepath.Join(dir, "m.go")]) > 0; got != step.visited {
			t.Errorf("%q, %q: visited: %v, want %v", step.text, step.more, got, step.visited)
		}
	}
}
