// SPDX-License-Identifier: Apache-2.0

package program

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/load"
)

func TestKeepFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": "package p\n\ntype T struct{}\ntype G[X any] struct{}\n\nfunc F() {}\nfunc init() {}\nfunc _() {}\nfunc (T) Value() {}\nfunc (t *T) Pointer() {}\nfunc (g *G[X]) M() {}\nfunc H[X any]() {}\n",
		"b.go": "package p\n\nfunc Newer( {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := keepFile(&load.Package{Name: "p", Dir: dir, GoFiles: []string{"a.go", "b.go"}})
	want := "package p\n\nvar AllocsKeepsThese00000000 = []interface{}{\n\tF,\n\tT.Value,\n\t(*T).Pointer,\n\t(*G[int]).M,\n\tH[int],\n}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// generic127 is the reference to a method with its own type parameters: the
// parser of the release that this test is built with must support them.
var generic127 = func() string {
	if slices.Contains(build.Default.ReleaseTags, "go1.27") {
		return "(*T).M[int]"
	}
	return ""
}()

func TestInstances(t *testing.T) {
	for _, c := range []struct{ declaration, want string }{
		{"func F[T any]() {}", "F[int]"},
		{"func F[K comparable, V any](map[K]V) {}", "F[int, int]"},
		{"func F[S ~[]E, E cmp.Ordered](S) {}", "F[[]int, int]"},
		{"func F[M ~map[K]V, K comparable, V ~string | ~[]byte]() {}", "F[map[int]string, int, string]"},
		{"type Number interface { ~float64 | ~int }\nfunc F[N Number]() {}", "F[float64]"},
		{"type G[A, B any] struct{}\nfunc (g G[A, _]) M() {}", "G[int, int].M"},
		{"type G[A interface{ ~int8 }] struct{}\nfunc (*G[_]) M() {}", "(*G[int8]).M"},
		{"type T struct{}\nfunc (t *T) M[V any](v V) {}", generic127},
		// Facts that the source alone does not show.
		{"func F[T fmt.Stringer]() {}", ""},
		{"func F[T any, P interface{ *T; Set() }]() {}", ""},
		{"type Named interface { Name() string }\nfunc F[T Named]() {}", ""},
		{"type any struct{}\nfunc F[T any]() {}", ""},
		{"func F[T ~[4]int]() {}", ""},
		{"type A interface{ B }\ntype B interface{ A }\nfunc F[T A]() {}", ""}, // does not compile, and must end
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package p\n\n"+c.declaration+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(References(dir, []string{"a.go"}, nil), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.declaration, got, c.want)
		}
	}
}

func TestImporter(t *testing.T) {
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
		if got := importer(p); got != (tree{want, dir}) {
			t.Errorf("%s: got %s, want %s in %s", path, got, want, dir)
		}
	}
}
