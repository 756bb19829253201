// SPDX-License-Identifier: Apache-2.0

package roots_test

import (
	"context"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/roots"
)

func find(t *testing.T, text string, names ...string) (*roots.Set, string, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Succeed(t, err)
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m.go": text} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	src, err := load.Typed(context.Background(), dir, []string{"./..."})
	must.Succeed(t, err)
	set, err := roots.Find(src, names, true)
	return set, filepath.Join(dir, "m.go"), err
}

func TestFind(t *testing.T) {
	set, file, err := find(t, `package m

import ("context"; "log/slog")

type T[K comparable] struct{}

//alloc:none
func (t *T[K]) M() {}

//alloc:max=2
func F[X any](x X) {}

//alloc:cold
func C() {}

type handler struct{ slog.Handler }

func (h handler) Info(s string) {}

func L(l *slog.Logger, h handler) {
	l.Info("a")
	l.Info("a")
	h.Info("no log call")
	go func() { l.LogAttrs(context.Background(), 0,
		"b") }()
	println("x") //alloc:ok because
}
`, "example.com/m.L")
	must.Succeed(t, err)
	var got []string
	for _, r := range set.Roots {
		got = append(got, fmt.Sprintf("%s|%s|%d|%d-%d", r.ID, r.Kind, r.Max, r.Line, r.End))
	}
	want := []string{
		"example.com/m.(*T[...]).M|annotated|0|8-8",
		"example.com/m.F[...]|annotated|2|11-11",
		"example.com/m.L|named|-1|20-27",
		`example.com/m.L › l.Info("a")|log call|-1|21-21`,
		`example.com/m.L › l.Info("a") #2|log call|-1|22-22`,
		`example.com/m.L › l.LogAttrs(context.Background(), 0, "b")|log call|-1|24-25`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if got := set.Waivers[roots.Place{File: file, Line: 26}]; got != "because" {
		t.Errorf("waiver: got %q", got)
	}
	if !set.Cold["example.com/m.C"] {
		t.Error("C is not cold")
	}
}

func TestFindRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"//alloc:max=x\nfunc F() {}":           "want a number",
		"//alloc:nothing\nfunc F() {}":         "no such directive",
		"//alloc:okay\nfunc F() {}":            "no such directive",
		"func F() {\n\tF() //alloc:ok\n}\n":    "needs a reason",
		"//alloc:none\n\nfunc F() {}":          "above no function",
		"//alloc:none\nvar F = func() {}":      "above no function",
		"func F() {\n\t//alloc:none\n\tF()\n}": "above no function",
		"// alloc:none\nfunc F() {}":           "m.go:3: write //alloc:none, without",
		"//\talloc:max=2\nfunc F() {}":         "write //alloc:max=2, without",
		"func F() {\n\tF() // alloc:ok all\n}": "write //alloc:ok, without",
	} {
		if _, _, err := find(t, "package m\n\n"+text+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, _, err := find(t, "package m\n", "example.com/m.None"); err == nil {
		t.Error("a root that is not there: got no error")
	}
}

// The go command compiles cgo's output for such a file, which is elsewhere.
func TestFindInFilesThatUseC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil || !build.Default.CgoEnabled {
		t.Skip("a file that imports C needs gcc and CGO_ENABLED=1")
	}
	t.Setenv("GOFLAGS", "") // with -trimpath, the cached output of cgo names the first directory
	set, file, err := find(t, `package m

/*
static int add(int a, int b) { return a + b; }
*/
import "C"

import "log/slog"

//alloc:none
func Add(a, b int) int {
	slog.Info("add")
	return int(C.add(C.int(a), C.int(b))) //alloc:ok once
}
`)
	must.Succeed(t, err)
	if len(set.Roots) != 2 || set.Roots[0].ID != "example.com/m.Add" || set.Roots[0].File != file ||
		set.Roots[0].Line != 11 || set.Roots[1].Line != 12 {
		t.Errorf("got roots %+v, want Add in line 11 and a log call in line 12 of %s", set.Roots,
			file)
	}
	for at := range set.Waivers {
		if at.File != file || at.Line != 13 {
			t.Errorf("got a waiver at %v, want line 13", at)
		}
	}
	if len(set.Waivers) != 1 {
		t.Errorf("got %d waivers, want 1", len(set.Waivers))
	}
}
