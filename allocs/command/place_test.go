// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/command"
	"github.com/nib-log/nib/allocs/internal/must"
)

// tree writes files below dir.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(name), 0o755))
		write(t, name, text)
	}
}

const (
	keeps = "package a\n\nvar Kept any\n\n//alloc:none\nfunc F(s string) { Kept = s }\n"
	calls = "package b\n\nimport \"example.com/a\"\n\n//alloc:none\nfunc G(s string) { a.F(s) }\n"
)

func TestWorkspaceRootIsLookedAtAsAWhole(t *testing.T) {
	dir := newModule(t)
	must.Succeed(t, os.Remove(filepath.Join(dir, "go.mod")))
	tree(t, dir, map[string]string{
		"go.work":                "go 1.24\n\nuse (\n\t./a\n\t./sub/b\n)\n",
		"a/go.mod":               "module example.com/a\n\ngo 1.24\n",
		"a/a.go":                 keeps,
		"sub/b/go.mod":           "module example.com/b\n\ngo 1.24\n",
		"sub/b/b.go":             calls,
		"sub/b/internal/c/c.go":  "package c\n\nvar Kept any\n\n//alloc:none\nfunc H(s string) { Kept = &[]string{s} }\n",
		"sub/b/internal/c/c1.go": "package c\n",
		"sub/b/b_test.go":        "package b\n\nimport \"testing\"\n\nvar words = []string{\"x\", \"y\"}\n\nfunc BenchmarkG(b *testing.B) {\n\tfor i := range b.N {\n\t\tG(words[i%2])\n\t}\n}\n",
	})
	for _, c := range []struct {
		in   string
		args []string
		want []string
		not  []string
	}{
		{".", nil, []string{"example.com (2 modules)", "a.F  a/a.go:6", "b.G  sub/b/b.go:6", "b/internal/c.H", "1 run measured"}, nil},
		{".", []string{"--bench", "", "./a/..."}, []string{"a.F  a/a.go:6"}, []string{"b.G"}},
		{"sub", []string{"--bench", "", "./..."}, []string{"example.com/b on", "G  sub/b/b.go:6"}, []string{"a.F  a"}},
		{"sub/b/internal", []string{"--bench", ""}, []string{"example.com/b on", "internal/c.H  internal/c/c.go:6"}, []string{"G  "}},
	} {
		code, out, errs := run(t, filepath.Join(dir, filepath.FromSlash(c.in)), "", append([]string{"--plain"}, c.args...)...)
		want := command.Failure // without a benchmark
		if c.args == nil && c.in == "." {
			want = command.Worse
		}
		if code != want {
			t.Errorf("%s %q: got exit code %d, want %d\n%s%s", c.in, c.args, code, want, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s %q: got\n%s\nwant %q in it", c.in, c.args, out, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(out, not) {
				t.Errorf("%s %q: got\n%s\nwant no %q", c.in, c.args, out, not)
			}
		}
	}
	tree(t, dir, map[string]string{"none/x.txt": ""})
	if code, out, errs := run(t, filepath.Join(dir, "none"), ""); code != command.Failure || !strings.Contains(errs, "go.work are in") {
		t.Errorf("a directory of the workspace without a module: got exit code %d\n%s%s", code, out, errs)
	}
}

// Settings of the go command that are about the user's module must not reach
// the module with known answers.
func TestGoFlagsAndVendorDirectories(t *testing.T) {
	dir := newModule(t)
	tree(t, dir, map[string]string{
		"go.mod":                       "module example.com/m\n\ngo 1.24\n\nrequire example.com/a v1.0.0\n\nreplace example.com/a => ./a\n",
		"m.go":                         strings.Replace(calls, "package b", "package m", 1),
		"a/go.mod":                     "module example.com/a\n\ngo 1.24\n",
		"a/a.go":                       keeps,
		"vendor/modules.txt":           "# example.com/a v1.0.0 => ./a\n## explicit; go 1.24\nexample.com/a\n# example.com/a => ./a\n",
		"vendor/example.com/a/a.go":    keeps,
		"work/go.work":                 "go 1.24\n\nuse ..\n",
		"vendor/example.com/a/LICENSE": "",
	})
	for name, env := range map[string]map[string]string{
		"vendored":    nil,
		"-mod=vendor": {"GOFLAGS": "-mod=vendor"},
		"-mod=mod":    {"GOFLAGS": "-mod=mod"},
		"workspace":   {"GOWORK": filepath.Join(dir, "work", "go.work"), "GOFLAGS": "-mod=readonly"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range env {
				t.Setenv(k, v)
			}
			code, out, errs := run(t, dir, "", "--plain")
			if code != command.Failure || !strings.Contains(out, "? G") {
				t.Errorf("got exit code %d, want %d\n%s%s", code, command.Failure, out, errs)
			}
		})
	}
}

func TestErrorsOfTheGoCommandAreShown(t *testing.T) {
	dir := newModule(t)
	for name, c := range map[string]struct {
		files map[string]string
		args  []string
		want  string
	}{
		"no module": {map[string]string{"none/m.go": "package m\n"}, []string{"-C", dir + "/none"}, "not inside a Go module: go: go.mod file not found in current directory or any parent directory"},
		"missing module": {map[string]string{"m.go": "package m\n\nimport \"example.org/missing\"\n\n//alloc:none\nfunc F() { missing.F() }\n"}, nil,
			"no required module provides package example.org/missing; to add it:\n\tgo get example.org/missing"},
		"broken build":    {map[string]string{"m.go": "package m\n\n//alloc:none\nfunc F() { undefined() }\n"}, nil, "the go command reports\n# example.com/m\n./m.go:4:12: undefined: undefined"},
		"broken imported": {map[string]string{"m.go": "package m\n\nimport \"example.com/m/x\"\n\n//alloc:none\nfunc F() { x.F() }\n", "x/x.go": "package x\n\nfunc F() { x := 1 }\n"}, []string{"."}, "x/x.go:3:12: declared and not used: x"},
		"no such package": {map[string]string{"m.go": "package m\n"}, []string{"./nowhere"}, "nowhere: directory not found"},
		"syntax":          {map[string]string{"m.go": "package m\n\nfunc F( {}\n"}, nil, "m.go:3:9: syntax error"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Succeed(t, os.RemoveAll(dir))
			c.files["go.mod"] = "module example.com/m\n\ngo 1.24\n"
			if name == "no module" {
				delete(c.files, "go.mod")
			}
			tree(t, dir, c.files)
			if code, out, errs := run(t, dir, "", c.args...); code != command.Failure || !strings.Contains(errs, c.want) || strings.Contains(errs, "exit status") {
				t.Errorf("got exit code %d\n%s%s\nwant %d and %q", code, out, errs, command.Failure, c.want)
			}
		})
	}
}

// Packages that do not build, and their importers, have no verdict. The others
// have theirs, and the exit code says that some are missing.
func TestBrokenPackageFailsAlone(t *testing.T) {
	dir := newModule(t)
	tree(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		"good/m.go": "package good\n\nvar Kept any\n\n" +
			"//alloc:none\nfunc F(s string) { Kept = s }\n",
		"bad/m.go":      "package bad\n\n//alloc:none\nfunc G() int { return \"\" }\n",
		"importer/m.go": "package importer\n\nimport \"example.com/m/bad\"\n\nvar N = bad.G()\n",
	})
	code, out, errs := run(t, dir, "", "./good", "./bad", "./importer")
	const both = "example.com/m/bad, example.com/m/importer"
	if code != command.Failure || !strings.Contains(errs, both) {
		t.Errorf("got exit code %d and %q, want %d and both packages", code, errs, command.Failure)
	}
	for _, want := range []string{
		"? good.F", "bad/m.go:4:23: cannot use \"\"", "it imports example.com/m/bad",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %q", out, want)
		}
	}
	if code, _, _ := run(t, dir, "", "./good", "./bad", "--accept"); code != command.Failure {
		t.Errorf("--accept: got exit code %d, want %d", code, command.Failure)
	}
	if _, err := os.Stat(filepath.Join(dir, "allocs.baseline.json")); err == nil {
		t.Error("--accept wrote a baseline that lacks a package")
	}
}

// A package may import another one's names with a dot, also those that are
// added to it.
func TestDotImportsBuild(t *testing.T) {
	dir := newModule(t)
	tree(t, dir, map[string]string{
		"m.go":   "package m\n\nvar Kept any\n\n//alloc:none\nfunc F(s string) { Kept = s }\n",
		"x/x.go": "package x\n\nimport . \"example.com/m\"\n\n//alloc:none\nfunc G(s string) { F(s) }\n",
	})
	if code, out, errs := run(t, dir, "", "--plain", "--bench", ""); code != command.Failure || !strings.Contains(out, "? x.G") {
		t.Errorf("got exit code %d\n%s%s", code, out, errs)
	}
}
