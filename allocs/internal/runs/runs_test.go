// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

func TestCorrectTiny(t *testing.T) {
	user := []binary.Frame{{Func: "m.F"}}
	for _, c := range []struct {
		name  string
		total float64
		sites []Site
		want  []float64
	}{
		{"half of the boxes", 1, []Site{{Stack: user, PerOp: 0.5, Bytes: 8}}, []float64{1}},
		{"with a larger one", 3, []Site{{Stack: user, PerOp: 2, Bytes: 96}, {Stack: user, PerOp: 0.5, Bytes: 8}}, []float64{2, 1}},
		{"nothing is missing", 2, []Site{{Stack: user, PerOp: 2, Bytes: 32}}, []float64{2}},
		{"others allocate", 5, []Site{{Stack: user, PerOp: 1, Bytes: 64}}, []float64{1}},
	} {
		r := Result{PerOp: c.total, Sites: c.sites}
		r.correct()
		for i, want := range c.want {
			if got := r.Sites[i].PerOp; got < want-0.01 || got > want+0.01 {
				t.Errorf("%s: site %d: got %.2f, want %.2f", c.name, i, got, want)
			}
		}
	}
}

// measure runs the benchmarks and tests of a small package.
func measure(t *testing.T, o Options, test string) ([]Result, Visited, string, error) {
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
		"m.go":      "package m\n\nvar kept any\nvar calls int\n\nfunc Every2(n int) {\n\tcalls++\n\tif calls%2 == 0 {\n\t\tkept = &[4]int{n}\n\t}\n}\n\nfunc None(n int) int {\n\tif n < 0 {\n\t\tkept = &n\n\t}\n\treturn n\n}\n",
		"m_test.go": test,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	tc, err := toolchain.Find(ctx, dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := load.List(ctx, tc, dir, nil, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Build(ctx, tc, pkgs[0], o, dir, t.TempDir())
	if err != nil || b == nil {
		t.Fatalf("got %v, %v", b, err)
	}
	results, err := b.Run(ctx, tc, o, "")
	if err != nil {
		return nil, nil, dir, err
	}
	visited, err := b.Visit(ctx, tc, o, results, []string{"example.com/m"}, []string{dir}, "")
	return results, visited, dir, err
}

// Two and three of the smallest objects of one operation share blocks, of which the
// profile knows only who has begun them.
func TestMeasureShared(t *testing.T) {
	results, _, _, err := measure(t, Options{Bench: regexp.MustCompile("."), Timeout: time.Minute, Budget: 100 * time.Millisecond}, `package m

import "testing"

func BenchmarkEqual(b *testing.B) {
	for i := 0; i < b.N; i++ {
		kept = i + 1000
		kept = &[4]int{i}
		kept = i + 2000
	}
}

func BenchmarkUnequal(b *testing.B) {
	for i := 0; i < b.N; i++ {
		kept = int32(i + 1000)
		kept = [3]int32{int32(i)}
	}
}
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 {
		t.Fatalf("got %d results, want 2", len(results))
	}
	for _, r := range results {
		lines := map[int]float64{}
		for _, s := range r.Sites {
			for _, f := range s.Stack {
				if strings.HasSuffix(f.Func, r.Name) {
					lines[f.Line] += s.PerOp
				}
			}
		}
		for line, n := range lines {
			if n < 0.01 {
				delete(lines, line)
			} else if n < 0.95 || n > 1.05 {
				t.Errorf("%s: got %.2f per operation on line %d, want 1", r.Name, n, line)
			}
		}
		if want := map[string]int{"BenchmarkEqual": 3, "BenchmarkUnequal": 2}[r.Name]; len(lines) != want {
			t.Errorf("%s: got lines %v, want %d", r.Name, lines, want)
		}
	}
}

func TestMeasureFractions(t *testing.T) {
	results, visited, dir, err := measure(t, Options{Bench: regexp.MustCompile("."), Tests: regexp.MustCompile("."), Timeout: time.Minute, Budget: 100 * time.Millisecond}, `package m

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

func TestEvery2(t *testing.T) {
	Every2(1)
	Every2(1)
}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"BenchmarkEvery2": 0.5, "BenchmarkNone": 0, "TestEvery2": 1}
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
	lines := visited[filepath.Join(dir, "m.go")]
	for line, want := range map[int]bool{9: true, 17: true, 15: false} {
		if lines[line] != want {
			t.Errorf("line %d: got visited %v, want %v", line, lines[line], want)
		}
	}
}

func TestFailuresAreTold(t *testing.T) {
	o := Options{Bench: regexp.MustCompile("."), Timeout: time.Minute, Budget: 50 * time.Millisecond}
	_, _, _, err := measure(t, o, "package m\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { panic(\"out of cheese\") }\n")
	if !errors.Is(err, ErrRun) || !strings.Contains(err.Error(), "out of cheese") {
		t.Errorf("panic: got %v", err)
	}
	results, _, _, err := measure(t, o, "package m\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { b.Skip(\"no\") }\n")
	if err != nil || len(results) != 1 || results[0].Failed == "" {
		t.Errorf("skip: got %+v, %v, want one that failed", results, err)
	}
	o.Budget = time.Millisecond
	results, _, _, err = measure(t, o, "package m\n\nimport \"testing\"\n\nvar many []*int\n\nfunc BenchmarkX(b *testing.B) {\n\tfor i := 0; i < b.N*1_000_000; i++ {\n\t\tmany = append(many[:0], new(int))\n\t}\n}\n")
	if err != nil || len(results) != 1 || !strings.Contains(results[0].Failed, "one iteration takes") {
		t.Errorf("slow: got %+v, %v, want one that was not measured", results, err)
	}
}
