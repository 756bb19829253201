// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// releases returns the Go releases that are measured with.
func releases() []string {
	if list := os.Getenv("NIB_E2E_GO"); list != "" {
		return strings.Fields(list)
	}
	if os.Getenv("NIB_E2E") == "full" {
		return []string{"1.24", "1.25", "1.26", "1.27"}
	}
	return []string{""}
}

func TestHelpersAreNoBenchmarks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m_test.go")
	const text = `package m

func Benchmark(b *testing.B)       {}
func BenchmarkÄ(b *testing.B)      {}
func Benchmark_x(b *testing.B)     {}
func Benchmarked(b *testing.B)     {}
func (s) BenchmarkM(b *testing.B)  {}
func BenchmarkG[T any](*testing.B) {}
`
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o600))
	bench, err := benchmarks(name, regexp.MustCompile("."))
	if got := strings.Join(bench, " "); got != "Benchmark BenchmarkÄ Benchmark_x" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

// measure runs the benchmarks of a small package.
func measure(t *testing.T, o Options, test string) []Result {
	t.Helper()
	b, _ := build(t, "", o, test)
	return run(t, b, o)
}

func run(t *testing.T, b *Binary, o Options) []Result {
	t.Helper()
	results, err := b.Run(t.Context(), o)
	must.Succeed(t, err)
	return results
}

// visitedBy runs a small package again, with coverage.
func visitedBy(t *testing.T, b *Binary, o Options, results []Result) Visited {
	t.Helper()
	visits, err := b.Visit(t.Context(), o, results, []string{"example.com/m"}, []string{b.Package.Dir})
	must.Succeed(t, err)
	return visits
}

// build makes the test binary of a small package, and returns its directory.
func build(t *testing.T, release string, o Options, test string) (*Binary, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Succeed(t, err)
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.24\n",
		"m.go":      "package m\n\nvar kept interface{}\nvar calls int\n\nfunc Every2(n int) {\n\tcalls++\n\tif calls%2 == 0 {\n\t\tkept = &[4]int{n}\n\t}\n}\n\nfunc None(n int) int {\n\tif n < 0 {\n\t\tkept = &n\n\t}\n\treturn n\n}\n",
		"m_test.go": test,
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	ctx := t.Context()
	tc, err := toolchain.Find(ctx, dir, release)
	must.Succeed(t, err)
	pkgs, _, err := load.List(ctx, tc, dir, []string{"."})
	must.Succeed(t, err)
	all, err := BuildAll(ctx, tc, pkgs[:1], o, dir, t.TempDir())
	if err != nil || len(all) != 1 {
		t.Fatalf("got %d binaries, %v", len(all), err)
	}
	return all[0], dir
}

func TestMeasureFractions(t *testing.T) {
	o := Options{Bench: regexp.MustCompile("."), Budget: 100 * time.Millisecond}
	b, dir := build(t, "", o, `package m

import "testing"

func BenchmarkEvery2(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Every2(i)
	}
}

func BenchmarkNone(b *testing.B) {
	for b.Loop() {
		None(1)
	}
}
`)
	results := run(t, b, o)
	want := map[string]float64{"BenchmarkEvery2": 0.5, "BenchmarkNone": 0}
	for _, r := range results {
		got := 0.0
		for _, s := range r.Sites {
			for _, f := range s.Stack {
				if f.Func == "example.com/m.Every2" {
					got += s.PerOp
					break
				}
			}
		}
		if w, ok := want[r.Name]; !ok || got != w {
			t.Errorf("%s: got %v, want %v", r.Name, got, w)
		}
		delete(want, r.Name)
	}
	if len(want) > 0 {
		t.Errorf("not run: %v", want)
	}
	visited, file := visitedBy(t, b, o, results), filepath.Join(dir, "m.go")
	for line, want := range map[int]bool{9: true, 15: false, 17: true} {
		if got := visited.Line(file, line); got != want {
			t.Errorf("line %d: got visited %v, want %v", line, got, want)
		}
	}
}

// The changes of the standard library keep its lines, and fail where the code
// is another.
func TestRewriteTheStandardLibrary(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		change           func(*ast.File) []edit
	}{
		{
			"stacks of Go 1.25", "package runtime\n\nfunc mProf_Malloc() {\n\tn := callers(5, s[:2])\n}\n",
			"package runtime\n\nfunc mProf_Malloc() {\n\tn := callers(3, s[:2])\n}\n", whole,
		},
		{"stacks of another function", "package runtime\n\nfunc saveg() { callers(5, s) }\n", "",
			whole},
		{
			"small objects", "package runtime\n\nfunc mallocgc() {\n\tif noscan && size < maxTinySize {\n\t}\n}\n",
			"package runtime\n\nfunc mallocgc() {\n" +
				"\tif noscan && (false && size < maxTinySize) {\n\t}\n}\n", oneByOne,
		},
		{"no small objects", "package runtime\n\nfunc mallocgc() { _ = size < other }\n", "",
			oneByOne},
		{"a method is missing", "package testing\n\nfunc (b *B) run1() {}\n", "", hooked},
	} {
		got, err := rewrite([]byte(c.text), c.change)
		if string(got) != c.want || errors.Is(err, errUnchanged) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestOldResultsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		"old": keepAge + time.Hour, "young": keepAge - time.Hour, "used": keepAge + time.Hour,
	} {
		place, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := os.WriteFile(place, []byte(`{"Visited":{}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		must.Succeed(t, os.Chtimes(place, at, at))
	}
	b := &Binary{Package: new(load.Package)}
	if _, ok := b.Load(filepath.Join(dir, "used")); !ok {
		t.Error("the result is not valid")
	}
	write(filepath.Join(dir, "new"), Kept{Visited: Visited{}})
	for name, want := range map[string]bool{
		"old": false, "young": true, "used": true, "new": true,
	} {
		if _, ok := b.Load(filepath.Join(dir, name)); ok != want {
			t.Errorf("%s: got %v, want %v", name, ok, want)
		}
	}
	write(filepath.Join(dir, "cannot", "be\x00made", "x"), Kept{}) // no panic
}

// A line is executed in each operation if each of its blocks is: an allocation
// can be in any of them. A function is if its first block is, wherever its
// literals are.
func TestLinesAreExecutedIfAllBlocksAre(t *testing.T) {
	at := func(file string, line, column int) block {
		return block{file: file, from: line, to: line, columns: [2]int{column, column + 1}}
	}
	both, once := at("m.org/m/a.go", 3, 1), at("m.org/m/a.go", 3, 9)
	setUp, literal := at("m.org/m/a.go", 4, 1), at("m.org/m/a.go", 5, 1)
	other, idle := at("m.org/other/b.go", 7, 1), at("m.org/m/c.go", 7, 1)
	v := Visited{}
	v.compare([2]map[block]int{
		{both: 2, once: 1, setUp: 1, literal: 2, other: 2, idle: 1},
		{both: 4, once: 1, setUp: 1, literal: 4, other: 4, idle: 1},
	}, []string{"m.org/m"}, []string{"m"})
	a := filepath.Join("m", "a.go")
	if len(v) != 1 {
		t.Errorf("got files %v, want only a.go", v)
	}
	for line, want := range map[int]bool{2: false, 3: false, 4: false, 5: true} {
		if got := v.Line(a, line); got != want {
			t.Errorf("line %d: got %v, want %v", line, got, want)
		}
	}
	for lines, want := range map[[2]int]bool{
		{2, 3}: true, {3, 3}: true, {4, 6}: false, {5, 6}: true, {6, 9}: false,
	} {
		if got := v.Function(a, lines[0], lines[1]); got != want {
			t.Errorf("function on lines %v: got %v, want %v", lines, got, want)
		}
	}
}
