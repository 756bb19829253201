// SPDX-License-Identifier: Apache-2.0

package program

import (
	"os"
	"path/filepath"
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
	want := "package p\n\nvar AllocsKeepsThese = []interface{}{\n\tF,\n\tT.Value,\n\t(*T).Pointer,\n}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
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
		if got := importer(path, "m.org/m"); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
