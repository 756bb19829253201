// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/version"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// root is the path of the root module.
const root = "github.com/nib-log/nib"

// A tree is the source of a repository: all files of all its modules, whatever
// their build constraints.
type tree struct {
	modules []string // folders with a go.mod, "." for the root module
	files   []*source
	broken  []string // files that do not parse
}

// A source is one Go or assembly file.
type source struct {
	path   string // from the root of the repository, with slashes
	folder string // "." for the root package
	module string // folder of the module that it belongs to
	text   []byte
	lines  int

	fset      *token.FileSet
	syntax    *ast.File       // nil for assembly
	condition constraint.Expr // of the go:build line, nil without
}

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) isGo() bool   { return s.syntax != nil }

// at returns the position of a node, for a violation.
func (s *source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(n.Pos()).Line)
}

// skipped folders hold no source of the repository.
func skipped(name string) bool {
	return name == "testdata" || name == "vendor" ||
		name != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"))
}

// load reads a tree.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{modules: []string{"."}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Name() == "go.mod" && name != "go.mod":
			t.modules = append(t.modules, path.Dir(name))
		case path.Ext(name) == ".go" || path.Ext(name) == ".s":
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			t.add(name, text)
		}
		return nil
	})
	for _, s := range t.files {
		s.module = t.moduleOf(s.folder)
	}
	return t, err
}

func (t *tree) add(name string, text []byte) {
	s := &source{path: name, folder: path.Dir(name), text: text, lines: bytes.Count(text, []byte("\n"))}
	for line := range bytes.Lines(text) {
		if constraint.IsGoBuild(string(bytes.TrimSpace(line))) {
			s.condition, _ = constraint.Parse(string(bytes.TrimSpace(line)))
			break
		}
	}
	if path.Ext(name) == ".go" {
		s.fset = token.NewFileSet()
		syntax, err := parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil && !needsNewerGo(s.condition) {
			t.broken = append(t.broken, err.Error())
			return
		}
		s.syntax = syntax
	}
	t.files = append(t.files, s)
}

// needsNewerGo reports whether a file is for later releases than the one that
// runs, which may be able to parse only a part of it.
func needsNewerGo(condition constraint.Expr) bool {
	if condition == nil {
		return false
	}
	want := constraint.GoVersion(condition)
	return want != "" && version.Compare(want, version.Lang(runtime.Version())) > 0
}

// moduleOf returns the innermost module around a folder.
func (t *tree) moduleOf(folder string) string {
	best := "."
	for _, m := range t.modules {
		if within(folder, m) && len(m) >= len(best) && m != "." {
			best = m
		}
	}
	return best
}

// within reports whether a folder is top or below it.
func within(folder, top string) bool { return folder == top || strings.HasPrefix(folder, top+"/") }

// imports lists the imports of a file, and their positions.
func (s *source) imports() (paths []string, at []string) {
	if !s.isGo() {
		return nil, nil
	}
	for _, spec := range s.syntax.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, "`\""))
		at = append(at, s.at(spec))
	}
	return paths, at
}

// folderOf returns the folder of this repository for an import path.
func folderOf(importPath string) (folder string, ok bool) {
	if importPath == root {
		return ".", true
	}
	return strings.CutPrefix(importPath, root+"/")
}

var loadRepository = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../..")) })

// repository returns the tree that contains this package.
func repository(t *testing.T) (*tree, fs.FS) {
	t.Helper()
	loaded, err := loadRepository()
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded.files) < 20 {
		t.Fatalf("got %d files, want those of the whole repository", len(loaded.files))
	}
	return loaded, os.DirFS("../..")
}

// report fails t with the violations.
func report(t *testing.T, violations []string) {
	t.Helper()
	slices.Sort(violations)
	for _, v := range violations {
		t.Error(v)
	}
}

// A fixture is a small tree and the violations that a check should find in it.
type fixture struct {
	name  string
	files map[string]string
	want  []string // one for each violation: a part of it
}

// tryOn runs a check over fixtures.
func tryOn(t *testing.T, check func(*tree) []string, fixtures []fixture) {
	t.Helper()
	for _, f := range fixtures {
		fsys := fstest.MapFS{}
		for name, text := range f.files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		loaded, err := load(fsys)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, f.name, check(loaded), f.want)
	}
}

// compare expects as many violations as wants, each with its part.
func compare(t *testing.T, name string, got, wants []string) {
	t.Helper()
	slices.Sort(got)
	ok := len(got) == len(wants)
	for _, want := range wants {
		ok = ok && slices.ContainsFunc(got, func(v string) bool { return strings.Contains(v, want) })
	}
	if !ok {
		t.Errorf("%s:\ngot  %q\nwant %q", name, got, wants)
	}
}

func checkParses(t *tree) []string { return slices.Clone(t.broken) }

func TestFilesParse(t *testing.T) {
	tryOn(t, checkParses, []fixture{
		{"good", map[string]string{"a.go": "package a\n"}, nil},
		{"bad", map[string]string{"a.go": "package a\nfunc {"}, []string{"a.go:2"}},
		{"testdata is not ours", map[string]string{"testdata/a.go": "nothing", "x/_y/a.go": "", ".git/a.go": ""}, nil},
	})
	loaded, _ := repository(t)
	report(t, checkParses(loaded))
}

func TestModuleOfAFolder(t *testing.T) {
	tree := &tree{modules: []string{".", "bench", "cmd/nib"}}
	for folder, want := range map[string]string{
		".": ".", "sink/file": ".", "bench": "bench", "bench/x": "bench", "benchmark": ".", "cmd": ".", "cmd/nib/command": "cmd/nib",
	} {
		if got := tree.moduleOf(folder); got != want {
			t.Errorf("%s: got %s, want %s", folder, got, want)
		}
	}
}
