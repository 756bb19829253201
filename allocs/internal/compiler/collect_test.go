// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

func module(t *testing.T, text string) (*toolchain.Toolchain, string, []*load.Package) {
	t.Helper()
	return moduleOf(t, map[string]string{"m.go": text})
}

func moduleOf(t *testing.T, files map[string]string) (*toolchain.Toolchain, string, []*load.Package) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Succeed(t, err)
	files["go.mod"] = "module example.com/m\n\ngo 1.24\n"
	for name, text := range files {
		name = filepath.Join(dir, name)
		must.Succeed(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755),
			os.WriteFile(name, []byte(text), 0o644)))
	}
	ctx := context.Background()
	tc, err := toolchain.Find(ctx, dir, "")
	must.Succeed(t, err)
	pkgs, _, err := load.List(ctx, tc, dir, []string{"./..."})
	must.Succeed(t, err)
	return tc, dir, pkgs
}

const inlined = `package m

var kept any

func inner(s string) { kept = s }

func outer(s string) {
	inner(s)
}
`

func TestCollect(t *testing.T) {
	tc, dir, pkgs := module(t, inlined)
	c := &Collector{Toolchain: tc, Work: t.TempDir(), Dir: dir}
	for range 2 { // the go command has compiled it before the second call
		check(t, c, dir, pkgs)
	}
}

// Beside a program, go build -o DIR compiles nothing that no program imports.
func TestCollectIncludesLibrariesBesidePrograms(t *testing.T) {
	tc, dir, pkgs := moduleOf(t, map[string]string{
		"m.go":              inlined,
		"cmd/tool/main.go":  "package main\n\nfunc main() { println() }\n",
		"cmd/other/main.go": "package main\n\nfunc main() { println() }\n",
		"unused/unused.go":  "package unused\n\nfunc F(n int) *int { return &n }\n",
	})
	c := &Collector{Toolchain: tc, Work: t.TempDir(), Dir: dir}
	all, err := c.Collect(context.Background(), pkgs)
	must.Succeed(t, err)
	for _, path := range []string{"example.com/m", "example.com/m/unused"} {
		if len(all[path]) == 0 {
			t.Errorf("%s: got no escapes", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "tool")); err == nil {
		t.Error("a program was written into the module")
	}
}

func check(t *testing.T, c *Collector, dir string, pkgs []*load.Package) {
	t.Helper()
	all, err := c.Collect(context.Background(), pkgs)
	must.Succeed(t, err)
	file := filepath.Join(dir, "m.go")
	got := NewIndex(all).At([]Position{{File: file, Line: 5}, {File: file, Line: 8}})
	if len(got) == 0 || got[0].What != "s" && got[0].What != "m.s" || len(got[0].Stack) != 2 {
		t.Fatalf("got %+v, want the escape of s in inner, inlined into outer", got)
	}
	if n := len(got[0].Reasons); n == 0 {
		t.Error("got no reasons")
	}
}

func TestSilenceIsAnError(t *testing.T) {
	_, _, pkgs := module(t, inlined)
	if _, err := read(t.TempDir(), pkgs[0]); !errors.Is(err, ErrSilent) {
		t.Errorf("got %v, want %v", err, ErrSilent)
	}
	_, _, pkgs = module(t, "package m\n\nconst C = 1\n")
	if _, err := read(t.TempDir(), pkgs[0]); err != nil {
		t.Errorf("a package without functions: got %v, want no error", err)
	}
	_, _, pkgs = module(t, "package m\n\ntype P[T any] struct{ v T }\n\nfunc New[T any]() *P[T] { return nil }\n\nfunc (p *P[T]) Get() T { return p.v }\n")
	if _, err := read(t.TempDir(), pkgs[0]); err != nil {
		t.Errorf("a package of which nothing is compiled by itself: got %v, want no error", err)
	}
}

func TestParse(t *testing.T) {
	const header = `{"version":0,"package":"m","file":"/m/m.go"}` + "\n"
	for _, c := range []struct {
		name, text string
		want       int
		err        bool
	}{
		{"no record", header, 0, false},
		{"moved", header + `{"range":{"start":{"line":3,"character":2}},"code":"escape","message":"moved to heap: x"}`, 1, false},
		{"not an escape", header + `{"range":{"start":{"line":3,"character":2}},"code":"leak","message":"x"}`, 0, false},
		{"another version", `{"version":1,"file":"/m/m.go"}`, 0, true},
		{"no header", `{"code":"escape"}`, 0, true},
		{"not JSON", header + "escapes", 0, true},
	} {
		got, err := parse([]byte(c.text))
		if len(got) != c.want || (err != nil) != c.err {
			t.Errorf("%s: got %d, %v, want %d, error %v", c.name, len(got), err, c.want, c.err)
		}
		if c.name == "moved" && (got[0].What != "x" || !got[0].Moved) {
			t.Errorf("moved: got %+v", got[0])
		}
	}
}

// The package's slices.go has generic code of the library's compiled into it,
// which has the same name for its answer. The directory comes before the
// library's by name, and the last file stays.
func TestCollectOverwritten(t *testing.T) {
	tc, dir, _ := module(t, "package m\n\nimport \"slices\"\n\nvar kept, all []int\n\nfunc F() {\n\tkept = slices.Concat(all, all)\n\tkept = make([]int, 100)\n}\n")
	must.Succeed(t, os.Rename(filepath.Join(dir, "m.go"), filepath.Join(dir, "slices.go")))
	ctx := context.Background()
	pkgs, _, err := load.List(ctx, tc, dir, []string{"."})
	must.Succeed(t, err)
	c := &Collector{Toolchain: tc, Work: t.TempDir(), Dir: dir}
	all, err := c.Collect(ctx, pkgs)
	must.Succeed(t, err)
	found := 0
	for _, e := range all["example.com/m"] {
		if at := e.Stack[0]; at.File == filepath.Join(dir, "slices.go") && at.Line == 9 &&
			e.What == "make([]int, 100)" && len(e.Reasons) > 0 {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the slice was found %d times, want once: %+v", found, all["example.com/m"])
	}
}
