// SPDX-License-Identifier: Apache-2.0

package program

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/must"
)

// typed checks files of a package p.
func typed(t *testing.T, fset *token.FileSet, texts map[string]string) *types.Package {
	t.Helper()
	var files []*ast.File
	for name, text := range texts {
		f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		must.Succeed(t, err)
		files = append(files, f)
	}
	pkg, err := new(types.Config).Check("p", fset, files, nil)
	must.Succeed(t, err)
	return pkg
}

func TestKeepFile(t *testing.T) {
	fset := token.NewFileSet()
	pkg := typed(t, fset, map[string]string{
		filepath.FromSlash("/p/a.go"): "package p\n\ntype T struct{}\ntype G[X any] struct{}\n\n" +
			"func F() {}\nfunc init() {}\nfunc _() {}\nfunc (T) Value() {}\n" +
			"func (t *T) Pointer() {}\nfunc (T) _() {}\nfunc (g *G[X]) M() {}\nfunc H[X any]() {}\n" +
			"//line grammar.y:1\nfunc Generated() {}\n",
		// Another release has a file that this one does not build.
		filepath.FromSlash("/p/b.go"): "package p\n\nfunc Newer() {}\n",
	})
	p := &load.Package{Name: "p", Dir: filepath.FromSlash("/p"), GoFiles: []string{"a.go"}}
	got := keepFile(p, fset, pkg)
	want := "package p\n\nvar AllocsKeepsThese00000000 = []interface{}{\n" +
		"\tF,\n\t(*G[int]).M,\n\tGenerated,\n\tH[int],\n\tT.Value,\n\t(*T).Pointer,\n}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInstances(t *testing.T) {
	for _, c := range []struct{ declaration, want string }{
		{"func F[T any]() {}", "F[int]"},
		{"func F[K comparable, V any](map[K]V) {}", "F[int, int]"},
		{"type Ordered interface { ~int | ~string }\nfunc F[S ~[]E, E Ordered](S) {}", "F[[]int, int]"},
		{"func F[M ~map[K]V, K comparable, V ~string | ~[]byte]() {}", "F[map[int]string, int, string]"},
		{"type Number interface { ~float64 | ~uint8 }\nfunc F[N Number]() {}", "F[uint8]"},
		{"type G[A, B any] struct{}\nfunc (g G[A, _]) M() {}", "G[int, int].M"},
		{"type G[A interface{ ~int8 }] struct{}\nfunc (*G[_]) M() {}", "(*G[int8]).M"},
		{"type any struct{}\nfunc F[T any]() {}", ""},
		// Types that are not among the candidates.
		{"type Named interface { Name() string }\nfunc F[T Named]() {}", ""},
		{"func F[T any, P interface{ *T; Set() }]() {}", ""},
		{"func F[T ~[4]int]() {}", ""},
	} {
		var got []string
		file := map[string]string{"a.go": "package p\n\n" + c.declaration + "\n"}
		for _, ref := range references(typed(t, token.NewFileSet(), file)) {
			got = append(got, ref)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.declaration, got, c.want)
		}
	}
}

func TestTreeOf(t *testing.T) {
	for path, want := range map[string]string{
		"m.org/m":                       "m.org/m",
		"m.org/m/a":                     "m.org/m",
		"m.org/m/internal/a":            "m.org/m",
		"m.org/m/a/internal/b":          "m.org/m/a",
		"m.org/m/a/internal/b/internal": "m.org/m/a/internal/b",
		"m.org/m/a/internal":            "m.org/m/a",
		"m.org/m/internals/a":           "m.org/m",
	} {
		p := &load.Package{ImportPath: path, Module: &struct {
			Path, Dir string
			Main      bool
		}{"m.org/m", "/m", true}}
		dir := filepath.FromSlash("/m" + strings.TrimPrefix(want, "m.org/m"))
		if got := treeOf(p); got != (tree{want, dir}) {
			t.Errorf("%s: got %s, want %s in %s", path, got, want, dir)
		}
	}
}
