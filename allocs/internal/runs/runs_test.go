// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/allocs/internal/load"
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
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// visitedBy runs a small package again, with coverage.
func visitedBy(t *testing.T, b *Binary, o Options, results []Result) Visited {
	t.Helper()
	visits, err := b.Visit(t.Context(), o, results, []string{"example.com/m"}, []string{b.Package.Dir})
	if err != nil {
		t.Fatal(err)
	}
	return visits
}

// build makes the test binary of a small package, and returns its directory.
func build(t *testing.T, release string, o Options, test string) (*Binary, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.24\n",
		"m.go":      "package m\n\nvar kept interface{}\nvar calls int\n\nfunc Every2(n int) {\n\tcalls++\n\tif calls%2 == 0 {\n\t\tkept = &[4]int{n}\n\t}\n}\n\nfunc None(n int) int {\n\tif n < 0 {\n\t\tkept = &n\n\t}\n\treturn n\n}\n",
		"m_test.go": test,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	tc, err := toolchain.Find(ctx, dir, release)
	if err != nil {
		t.Fatal(err)
	}
	pkgs, _, err := load.List(ctx, tc, dir, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
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
