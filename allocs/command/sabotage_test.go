// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/command"
	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/must"
)

// guarded is a module whose baseline is accepted.
var guarded = map[string]string{
	"go.mod": "module example.com/guarded\n\ngo 1.24\n",
	"work/work.go": `package work

import "os"

var Kept any

var tracing = os.Getenv("TRACE") != ""

type record struct{ a, b, c int }

//alloc:none
func Add(buf []byte, n int) []byte {
	if n > 1000 {
		n = 1000
	}
	return append(buf, byte(n))
}

//alloc:max=1
func Store(n int) {
	Kept = &record{a: n}
}

//alloc:max=3
func Fill(n int) {
	for range n {
		Kept = &record{c: n}
	}
}

//alloc:none
func Cold(n int) int {
	if n < 0 {
		Kept = &record{b: n} //alloc:ok it is an error
	}
	return n
}
`,
	"work/work_test.go": `package work

import (
	"os"
	"runtime"
	"testing"
)

var _ = runtime.GC

func BenchmarkFill(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(string(rune('0'+n)), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				Fill(n)
			}
		})
	}
}

func TestMain(m *testing.M) {
	os.Exit(m.Run())
}

func BenchmarkAdd(b *testing.B) {
	buf := make([]byte, 0, 10)
	for i := 0; i < b.N; i++ {
		buf = Add(buf[:0], i)
	}
}

func BenchmarkStore(b *testing.B) {
	for _, name := range []string{"one", "two"} {
		b.Run(name, func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				Store(i)
			}
		})
	}
}

func BenchmarkCold(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Cold(i)
	}
}
`,
}

// sabotage changes a text in a file of the module; with another file instead of
// a text, the whole.
type sabotage struct {
	name, file, from, to string
	env, say             string
	code                 int
	again                bool // the gate runs twice: the failure is kept; it takes as long as it may
}

var sabotages = []sabotage{
	{name: "nothing is changed", file: "work/work.go", from: "package work", to: "package work", code: command.Clean},
	{name: "lines move", file: "work/work.go", from: "var Kept any", to: "// Kept is kept.\nvar Kept any", code: command.Clean},
	{name: "a count rises", file: "work/work.go", from: "	Kept = &record{a: n}\n", to: "	for range 50 {\n	Kept = &record{a: n}\n	}\n", code: command.Worse, say: "was ×1, is ×50"},
	{name: "another allocation", file: "work/work.go", from: "	return append(buf", to: "	Kept = n\n	return append(buf", code: command.Worse},
	{name: "an allocation of a single byte", file: "work/work.go", from: "	return append(buf", to: "	Kept = new(bool)\n	return append(buf", code: command.Worse},
	{name: "a count of one leaf rises to that of another", file: "work/work.go", from: "	for range n {\n", to: "	if n == 1 {\n		n = 3\n	}\n	for range n {\n", code: command.Worse, say: "was ×1, is ×3 in BenchmarkFill/1"},
	{name: "an allocation in every 16th call", file: "work/work.go", from: "	if n < 0 {\n", to: "	if n%16 == 3 {\n		Kept = &record{a: n}\n	}\n	if n < 0 {\n", code: command.Worse},
	{name: "an allocation on a line that is waived", file: "work/work.go", from: "	Kept = &record{b: n} //", to: "	Kept, tracing = &record{b: n}, append([]byte(nil), make([]byte, n)...) != nil //", code: command.Worse, say: "a waiver"},
	{name: "the loop ends early", file: "work/work_test.go", from: "i < b.N; i++ {\n				Store(i)", to: "i < min(b.N, 1000); i++ {\n				Store(i)", code: command.Failure, say: "the runs may end early"},
	{name: "the profile is switched off", file: "work/work_test.go", from: "			for i := 0; i < b.N; i++ {\n				Store(i)", to: "			runtime.MemProfileRate = 0\n			for i := 0; i < b.N; i++ {\n				Store(i)", code: command.Failure},
	{name: "a benchmark is deleted", file: "work/work_test.go", from: "func BenchmarkCold", to: "func benchmarkCold", code: command.Failure, say: "BenchmarkCold was measured"},
	{name: "a benchmark is renamed", file: "work/work_test.go", from: "func BenchmarkCold", to: "func BenchmarkWarm", code: command.Failure, say: "BenchmarkCold was measured"},
	{name: "a benchmark skips by the environment", file: "work/work_test.go", from: "	buf := make", to: "	if os.Getenv(\"CI_FAST\") != \"\" {\n		b.Skip(\"too slow for CI\")\n	}\n	buf := make", env: "CI_FAST=1", code: command.Failure, say: "too slow for CI"},
	{name: "a benchmark panics", file: "work/work_test.go", from: "	buf := make", to: "	panic(\"out of cheese\")\n	buf := make", code: command.Failure, say: "out of cheese"},
	{name: "a benchmark fails", file: "work/work_test.go", from: "	buf := make", to: "	b.Fatal(\"no server\")\n	buf := make", code: command.Failure, say: "no server"},
	{name: "a benchmark blocks", file: "work/work_test.go", from: "	buf := make", to: "	select {}\n	buf := make", code: command.Failure, say: "deadlock"},
	{name: "a benchmark ends the process", file: "work/work_test.go", from: "	buf := make", to: "	os.Exit(0)\n	buf := make", code: command.Failure, say: "os.Exit"},
	{name: "a benchmark becomes too slow", file: "work/work_test.go", from: "	buf := make", to: "	for n := 0; n < 40_000_000_000; n++ {\n	}\n	buf := make", code: command.Failure, say: "too slow to measure", again: true},
	{name: "a leaf is gone", file: "work/work_test.go", from: `"one", "two"`, to: `"one"`, code: command.Failure, say: "BenchmarkStore/two was measured"},
	{name: "a leaf fails", file: "work/work_test.go", from: "b.Run(name, func(b *testing.B) {\n", to: "b.Run(name, func(b *testing.B) {\n			if name == \"two\" {\n				b.Fatal(\"second\")\n			}\n", code: command.Failure, say: "second"},
	{name: "the loop is gone", file: "work/work_test.go", from: "	for i := 0; i < b.N; i++ {\n		Cold(i)\n	}", to: "	Cold(b.N)", code: command.Failure, say: "no run executes it"},
	{name: "the call is gone", file: "work/work_test.go", from: "		Cold(i)\n", to: "		_ = i\n", code: command.Failure, say: "no run executes it"},
	{name: "the main function runs nothing", file: "work/work_test.go", from: "	os.Exit(m.Run())", to: "	_, _ = m, os.Args", code: command.Failure, say: "it was not run"},
	{name: "the main function ends the process", file: "work/work_test.go", from: "	os.Exit(m.Run())", to: "	os.Exit(0)", code: command.Failure, say: "it was not run"},
	{name: "the tests have a build tag", file: "work/work_test.go", from: "package work", to: "//go:build never\n\npackage work", code: command.Failure, say: "it is gone"},
	{name: "the tests are deleted", file: "work/work_test.go", code: command.Failure, say: "it is gone"},
	{name: "the source has a build tag", file: "work/work.go", from: "package work", to: "//go:build never\n\npackage work", code: command.Failure},
	{name: "one of two comments is removed", file: "work/work.go", from: "//alloc:none\nfunc Cold", to: "func Cold", code: command.Failure, say: "work.Cold"},
	{name: "the package is renamed", file: "work", to: "worked", code: command.Failure, say: "work.Add is not there"},
	{name: "a comment is removed", file: "work/work.go", from: "//alloc:max=1\n", to: "", code: command.Failure, say: "work.Store"},
	{name: "a comment allows more", file: "work/work.go", from: "//alloc:max=1\n", to: "//alloc:max=100\n", code: command.Worse, say: "was allowed 1, and is allowed 100"},
	{name: "a line is waived", file: "work/work.go", from: "	Kept = &record{a: n}\n", to: "	Kept = &record{a: n} //alloc:ok for now\n", code: command.Worse, say: "a waiver"},
	{name: "a function is declared cold", file: "work/work.go", from: "//alloc:max=1\n", to: "//alloc:max=1\n//alloc:cold\n", code: command.Worse, say: "a waiver"},
	{name: "the allocation moves behind a flag", file: "work/work.go", from: "	Kept = &record{a: n}\n", to: "	if tracing {\n	Kept = &record{a: n}\n	}\n", code: command.Failure, say: "no run shows whether it still does"},
	{name: "the allocation moves to another function behind a flag", file: "work/work.go", from: "	Kept = &record{a: n}\n}\n", to: "	if tracing {\n	trace(n)\n	}\n}\n\n//go:noinline\nfunc trace(n int) { Kept = &record{c: n} }\n", code: command.Failure, say: "places that no run decides"},
	{name: "the baseline is cut off", file: baseline.Name, from: "\"runs\"", to: "\x00", code: command.Failure, say: "cut off, or was edited"},
	{name: "the baseline is edited", file: baseline.Name, from: "\"count\": 1", to: "\"count\": 99", code: command.Failure, say: "cut off, or was edited"},
	{name: "the baseline is empty", file: baseline.Name, to: "{}", code: command.Failure, say: "cut off, or was edited"},
	{name: "the baseline has another release", file: baseline.Name, from: "\"go1.", to: "\"go0.", code: command.Failure},
}

// A gate must not pass because there is less to see.
func TestSabotagedGatesDoNotPass(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	list := sabotages
	if os.Getenv("NIB_E2E") == "" { // all of them take minutes
		seed, _ := strconv.ParseUint(os.Getenv("NIB_SEED"), 10, 64)
		list = nil
		for i := int(seed % 10); i < len(sabotages); i += 10 {
			if !sabotages[i].again {
				list = append(list, sabotages[i])
			}
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Succeed(t, err)
	reset(t, dir, "")
	if code, out := gate(t, dir, "--accept"); code != command.Clean {
		t.Fatalf("accept: got %d\n%s", code, out)
	}
	accepted, err := os.ReadFile(filepath.Join(dir, baseline.Name))
	must.Succeed(t, err)
	for _, s := range list {
		t.Run(s.name, func(t *testing.T) {
			reset(t, dir, string(accepted))
			s.commit(t, dir)
			if name, value, ok := strings.Cut(s.env, "="); ok {
				t.Setenv(name, value)
			}
			for again := false; ; again = true {
				code, out := gate(t, dir)
				if code != s.code || !strings.Contains(out, s.say) {
					t.Errorf("again %v: got exit code %d, want %d and %q\n%s", again, code, s.code, s.say, out)
				}
				if again == s.again {
					return
				}
			}
		})
	}
}

// gate runs the command on the module.
func gate(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := command.Run(append([]string{"-C", dir, "--plain"}, args...), &out, &out)
	return code, out.String()
}

// reset writes the module as it was accepted.
func reset(t *testing.T, dir, accepted string) {
	t.Helper()
	for _, old := range []string{"work", "worked"} {
		must.Succeed(t, os.RemoveAll(filepath.Join(dir, old)))
	}
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "work"), 0o755))
	files := map[string]string{baseline.Name: accepted}
	for name, text := range guarded {
		files[name] = text
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		must.Succeed(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text),
			0o644))
	}
}

// commit makes the change.
func (s sabotage) commit(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(s.file))
	var err error
	switch {
	case s.file == "work":
		err = os.Rename(path, filepath.Join(dir, s.to))
	case s.from == "" && s.to == "":
		err = os.Remove(path)
	case s.from == "":
		err = os.WriteFile(path, []byte(s.to), 0o644)
	default:
		var text []byte
		if text, err = os.ReadFile(path); err != nil {
			break
		}
		before, after, ok := strings.Cut(string(text), s.from)
		if !ok {
			t.Fatalf("%q is not in %s", s.from, s.file)
		}
		if s.to == "\x00" {
			s.to, after = "", ""
		}
		err = os.WriteFile(path, []byte(before+s.to+after), 0o644)
	}
	must.Succeed(t, err)
}
