// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/command"
)

// Every known edit is found at the lines of testdata/fix, which has a benchmark
// for each, and is measured to help.
func TestEveryFixHelps(t *testing.T) {
	if os.Getenv("NIB_E2E") == "" {
		t.Skip("set NIB_E2E=short: it measures a module twice")
	}
	dir := newModule(t)
	for _, name := range []string{"go.mod", "fix.go", "fix_test.go"} {
		text, err := os.ReadFile(filepath.Join("testdata", "fix", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	code, out, errs := run(t, dir, "", "--plain", "--fix")
	if code != command.Clean || strings.Contains(errs, "left alone") {
		t.Errorf("got exit code %d, want %d and nothing left alone\n%s%s", code, command.Clean, out, errs)
	}
	for _, name := range []string{"Stamp", "Append", "Print", "IsGet", "Double", "Name", "Same", "Match", "Sort", "Copy", "Pooled", "Log"} {
		if !strings.Contains(errs, "fix.Benchmark"+name+"\n") {
			t.Errorf("%s was not rewritten\n%s", name, errs)
		}
	}
}

// A file that gofmt would change, of which only the lines of the edits may.
const unformatted = `// +build !none

// Package m is not formatted.
package m

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
)

var  table   = map[string]int{ "a":1 }

func Log(l *slog.Logger, n int, s string) {
	l.Debug("m", "n", n, "s", s) // how it went
}

func Raw(b []byte, n int) []byte {
	b = append(b, fmt.Sprintf(` + "`\\d %d`" + `, n)...)
	return b
}

func Fails(n int) error {
	if err := check(n); err != nil {
		return errors.New(fmt.Sprintf("n is %d", n))
	}
	return nil
}

func check(n int) error { if n > 0 { return errNegative }; return nil }

var errNegative = errors.New(fmt.Sprintf("%d", len(table)))

func NoBenchmark(a, b string) string {
	return fmt.Sprintf("%s-%s", a, b)
}

func Commented(b []byte, n int) []byte {
	return append(b, fmt.Sprintf("%d", // a comment of its own
		n)...)
}

func One(in []int) []int {
	out := []int{}
	for _, v := range in { out = append(out, v) }
	return out
}

func Tested(in []int) []int {
	out := []int{}
	for _, v := range in {
		out = append(out, v)
	}
	return out
}

func Same(s string, n int) string { return fmt.Sprintf("%s%d", s, n) }

func Leaves(s, t string) string { return fmt.Sprintf("%s-%s", s, t) }

var expression = regexp.MustCompile("a")
`

const unformattedTests = `package m

import ("log/slog"; "testing")

var (
	sink any
	kept = make([]byte, 0, 64)
	log  = slog.New(slog.DiscardHandler)
	n    = 12345
	ones = []int{1}
	many = make([]int, 20)
	name = "name"
	text = "text"
	outs []int
)

func each(b *testing.B, f func()) {
	for range b.N {
		f()
	}
}

func BenchmarkLog(b *testing.B)       { each(b, func() { Log(log, n, name) }) }
func BenchmarkRaw(b *testing.B)       { each(b, func() { kept = Raw(kept[:0], n) }) }
func BenchmarkFails(b *testing.B)     { each(b, func() { sink = Fails(n) }) }
func BenchmarkCommented(b *testing.B) { each(b, func() { kept = Commented(kept[:0], n) }) }
func BenchmarkOne(b *testing.B)       { each(b, func() { outs = One(ones) }) }
func BenchmarkTested(b *testing.B)    { each(b, func() { outs = Tested(many) }) }
func BenchmarkSame(b *testing.B)      { each(b, func() { name = Same("text", n) }) }
func BenchmarkLeaves(b *testing.B) {
	b.Run("small", func(b *testing.B) { each(b, func() { name = Leaves("", "x") }) })
	b.Run("large", func(b *testing.B) { each(b, func() { name = Leaves("a longer name", text) }) })
}
`

// TestFixChangesItsOwnLinesOnly looks at a file after --fix: lines where it
// helps are rewritten, and not a byte besides.
func TestFixChangesItsOwnLinesOnly(t *testing.T) {
	dir := newModule(t)
	write(t, filepath.Join(dir, "m_test.go"), unformattedTests)
	var roots []string
	for _, f := range []string{"Log", "Raw", "Fails", "NoBenchmark", "Commented", "One", "Tested", "Same", "Leaves"} {
		roots = append(roots, "--root", "m."+f)
	}
	code, out, errs := run(t, dir, unformatted, append(roots, "--plain", "--fix")...)
	if code != command.Clean {
		t.Fatalf("got exit code %d\n%s%s", code, out, errs)
	}
	want := unformatted
	for _, c := range [][2]string{
		{"import (\n", "import (\n\t\"context\"\n"},
		{"\t\"regexp\"\n", "\t\"regexp\"\n\t\"strconv\"\n"},
		{`l.Debug("m", "n", n, "s", s) // how`, `l.LogAttrs(context.Background(), slog.LevelDebug, "m", slog.Int("n", n), slog.String("s", s)) // how`},
		{"b = append(b, fmt.Sprintf(`\\d %d`, n)...)", "b = strconv.AppendInt(append(b, `\\d `...), int64(n), 10)"},
		{`{ return fmt.Sprintf("%s-%s", s, t) }`, "{ return s + \"-\" + t }"},
		{"out := []int{}\n\tfor _, v := range in {\n\t\tout", "out := make([]int, 0, len(in))\n\tfor _, v := range in {\n\t\tout"},
	} {
		if !strings.Contains(want, c[0]) {
			t.Fatalf("%q is not in the source", c[0])
		}
		want = strings.Replace(want, c[0], c[1], 1)
	}
	text, err := os.ReadFile(filepath.Join(dir, "m.go"))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", text, want, errs)
	}
	for _, want := range []string{
		"rewritten:  m.go:16: use LogAttrs: 2 → 0 allocations per operation of example.com/m.BenchmarkLog\n",
		"rewritten:  m.go:60: join the parts: 2 → 1 allocations per operation of example.com/m.BenchmarkLeaves/large\n",
		"left alone: m.go:58: join the parts: 2 → 2 allocations per operation of example.com/m.BenchmarkSame\n",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("got\n%s\nwant %q in it", errs, want)
		}
	}
	cmd := exec.Command("go", "test", ".")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

const copies = `package m

//alloc:max=9
func Copy(in []int) []int {
	out := []int{}
	for _, v := range in {
		out = append(out, v)
	}
	return out
}
`

const copiesTests = `package m

import (
	"os"
	"testing"
)

var in = make([]int, 40)

func BenchmarkCopy(b *testing.B) {
	for range b.N {
		Copy(in)
	}
}

func TestCopy(t *testing.T) {
	made := cap(Copy(in)) == 40
	if os.Getenv("FAILS") == "with" && made || os.Getenv("FAILS") == "without" && !made {
		t.Error("got another capacity")
	}
}
`

// A rewrite must keep the tests of the package passing. The environment decides
// whether they do, so that the module is built and measured once.
func TestFixKeepsTheTestsPassing(t *testing.T) {
	dir := newModule(t)
	write(t, filepath.Join(dir, "m_test.go"), copiesTests)
	for fails, want := range map[string]string{
		"with":    "left alone: m.go:5: make room once: the tests of example.com/m fail with the edits of that package\n",
		"without": "left alone: m.go:5: make room once: the tests of example.com/m fail without it\n",
		"never":   "rewritten:  m.go:5: make room once: ",
	} {
		t.Run(fails, func(t *testing.T) {
			t.Setenv("FAILS", fails)
			code, out, errs := run(t, dir, copies, "--plain", "--fix")
			if code != command.Clean || !strings.Contains(errs, want) {
				t.Errorf("got exit code %d\n%s%s\nwant %q", code, out, errs, want)
			}
			text, err := os.ReadFile(filepath.Join(dir, "m.go"))
			if err != nil {
				t.Fatal(err)
			}
			if changed := string(text) != copies; changed != strings.HasPrefix(want, "rewritten") {
				t.Errorf("got\n%s", text)
			}
		})
	}
}
