// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/command"
	"github.com/nib-log/nib/allocs/internal/must"
)

const clean = `package m

var kept any
var buf []byte

//alloc:none
func Free(n int) int { return n + 1 }

//alloc:max=1
func Grows(s string) { buf = append(buf[:0], s...) }

func Busy(n int) {
	Free(n)
}
`

// run runs a command line in a module with the given source.
func run(t *testing.T, dir, source string, args ...string) (code int, out, errs string) {
	t.Helper()
	if source != "" {
		write(t, filepath.Join(dir, "m.go"), source)
	}
	var stdout, stderr bytes.Buffer
	code = command.Run(append([]string{"-C", dir}, args...), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func write(t *testing.T, name, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o644))
}

func newModule(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	useCache(t)
	// The directory is the same each time, so that the go command can use what
	// it has compiled.
	dir := filepath.Join(os.TempDir(), "nib-allocs-test", t.Name())
	must.Succeed(t, errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)))
	t.Cleanup(func() { os.RemoveAll(dir) })
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.24\n")
	return dir
}

// useCache gives the command a cache of its own. The go command keeps using its
// usual cache, which holds the standard library.
func useCache(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	must.Succeed(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(out)))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(os.TempDir(), "nib-allocs-test", "cache"))
}

func TestExitCodes(t *testing.T) {
	dir := newModule(t)
	expect := func(name string, code, want int, out, errs string) {
		t.Helper()
		if code != want {
			t.Fatalf("%s: got exit code %d, want %d\n%s%s", name, code, want, out, errs)
		}
	}
	unproven := strings.Replace(clean, "max=1", "none", 1)
	code, out, errs := run(t, dir, unproven)
	expect("without a benchmark", code, command.Failure, out, errs)
	if !strings.Contains(out, "unproven") || !strings.Contains(errs, "unproven") {
		t.Errorf("got\n%s%s\nwant a function that is unproven", out, errs)
	}

	write(t, filepath.Join(dir, "m_test.go"), "package m\n\nimport \"testing\"\n\n"+
		"func BenchmarkFree(b *testing.B) {\n\tfor i := range b.N {\n\t\tFree(i)\n\t}\n}\n")
	code, out, errs = run(t, dir, clean)
	expect("clean", code, command.Clean, out, errs)

	dirty := strings.Replace(clean, "return n + 1", "x := n; kept = &x; return n", 1)
	code, out, errs = run(t, dir, dirty)
	expect("above what is allowed", code, command.Worse, out, errs)
	if !strings.Contains(out, "✗ Free") || strings.Contains(out, "\x1b[") {
		t.Errorf("got\n%s\nwant a mark at Free, and no colours", out)
	}

	code, out, errs = run(t, dir, "", "--accept")
	expect("accepted", code, command.Clean, out, errs)
	moved := strings.Replace(dirty, "var kept any", "// More lines.\n\n\nvar kept any", 1)
	code, out, errs = run(t, dir, moved)
	expect("lines moved", code, command.Clean, out, errs)

	worse := strings.Replace(moved, "Free(n)\n", "Free(n)\n\tkept = [9]int{n}\n", 1)
	code, out, errs = run(t, dir, worse, "--root", "example.com/m.Busy")
	expect("a new allocation", code, command.Worse, out, errs)

	code, out, errs = run(t, dir, clean)
	expect("better", code, command.Clean, out, errs)
	if !strings.Contains(out, "better") {
		t.Errorf("got\n%s\nwant what is better", out)
	}

	code, out, errs = run(t, dir, "package m\n\nfunc F() { undefined() }\n")
	expect("does not compile", code, command.Failure, out, errs)
	code, out, errs = run(t, dir, "package m\n\nfunc F() {}\n")
	expect("no roots", code, command.Failure, out, errs)
	code, out, errs = run(t, dir, clean, "--go", "1.99")
	expect("no such release", code, command.Failure, out, errs)
	code, out, errs = run(t, dir, clean, "--no-such-flag")
	expect("no such flag", code, command.Failure, out, errs)
	code, out, errs = run(t, t.TempDir(), clean)
	expect("no module", code, command.Failure, out, errs)
}

func TestWaivers(t *testing.T) {
	dir := newModule(t)
	source := "package m\n\nvar kept any\n\n//alloc:none\nfunc F(n int) {\n\tkept = &[9]int{n} //alloc:ok it is the result\n\tcold(n)\n}\n\n//alloc:cold\n//\n//go:noinline\nfunc cold(n int) { kept = &n }\n"
	write(t, filepath.Join(dir, "m_test.go"), "package m\n\nimport \"testing\"\n\n"+
		"func BenchmarkF(b *testing.B) {\n\tfor i := range b.N {\n\t\tF(i)\n\t}\n}\n")
	code, out, errs := run(t, dir, source)
	if code != command.Clean {
		t.Errorf("got exit code %d, want %d\n%s%s", code, command.Clean, out, errs)
	}
	code, out, errs = run(t, dir, strings.Replace(source, "//alloc:ok it is the result", "", 1))
	if code != command.Worse {
		t.Errorf("without the waiver: got exit code %d, want %d\n%s%s", code, command.Worse, out, errs)
	}
}

func TestJSON(t *testing.T) {
	dir := newModule(t)
	code, out, errs := run(t, dir, "package m\n\nvar kept any\n\n//alloc:none\nfunc F(s string) { kept = s }\n", "--json")
	if code != command.Failure {
		t.Fatalf("got exit code %d\n%s", code, errs)
	}
	var d struct {
		Format     int
		Module     string
		Toolchains []struct{ Name, Line string }
		Roots      []struct {
			ID       string
			Verdicts []string
			Allocs   []int
			Sites    []struct {
				File, Kind, Reason, Fix, Pattern string
				Line                             int
				Versions                         []struct{ Verdict, Missing string }
			}
		}
	}
	must.Succeed(t, json.Unmarshal([]byte(out), &d))
	if d.Format != 1 || d.Module != "example.com/m" || len(d.Toolchains) != 1 || len(d.Roots) != 1 || len(d.Roots[0].Sites) != 1 {
		t.Fatalf("got %+v", d)
	}
	s := d.Roots[0].Sites[0]
	if s.File != "m.go" || s.Line != 6 || s.Kind != "box" || s.Versions[0].Verdict != "possible" || s.Versions[0].Missing != "any run" || s.Reason == "" || s.Fix == "" {
		t.Errorf("got %+v", s)
	}
}
