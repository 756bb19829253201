// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
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
	files  []*source         // Go
	other  map[string]string // assembly, Markdown and go.mod, by path
	broken []string          // errors of files that do not parse
}

// A source is one Go file.
type source struct {
	path   string // from the root of the repository, with slashes
	folder string // "." for the root package
	text   string
	isTest bool
	fset   *token.FileSet
	syntax *ast.File
}

// at returns the position of a node, for a violation.
func (s *source) at(n ast.Node) string { return fmt.Sprintf("%s:%d", s.path, s.line(n.Pos())) }

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

// skipped folders hold no source of the repository.
func skipped(name string) bool {
	return name == "testdata" || name == "vendor" || name == "node_modules" ||
		name != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_"))
}

// load reads a tree.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{other: map[string]string{}}
	return t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		extension := path.Ext(name)
		if !slices.Contains([]string{".go", ".s", ".md", ".mod", ".sum"}, extension) {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if extension == ".go" {
			t.parse(name, text)
		} else {
			t.other[name] = string(text)
		}
		return err
	})
}

func (t *tree) parse(name string, text []byte) {
	s := &source{path: name, folder: path.Dir(name), text: string(text), fset: token.NewFileSet()}
	s.isTest = strings.HasSuffix(name, "_test.go")
	var err error
	const mode = parser.ParseComments | parser.SkipObjectResolution
	if s.syntax, err = parser.ParseFile(s.fset, name, text, mode); err == nil {
		t.files = append(t.files, s)
	} else if !strings.Contains(s.text, "\n//go:build go1.") { // for later releases
		t.broken = append(t.broken, err.Error())
	}
}

// within reports whether a folder is top or below it.
func within(folder, top string) bool { return folder == top || strings.HasPrefix(folder, top+"/") }

// isInternal reports whether the path of a folder has an element "internal".
func isInternal(folder string) bool {
	return slices.Contains(strings.Split(folder, "/"), "internal")
}

// isPublic reports whether programs of users import the package in a folder.
func isPublic(folder string) bool {
	first, _, _ := strings.Cut(folder, "/")
	return !isInternal(folder) &&
		!slices.Contains([]string{"allocs", "bench", "cmd", "e2e", "examples"}, first) &&
		!slices.Contains([]string{
			"dest/kafka/embedded", "dest/kafka/topic", "dest/kafka/kfaketest", "dest/otlp/otlptest",
		}, folder) // for tests and the demo
}

// library returns the files of public packages that are no tests.
func (t *tree) library() []*source {
	return slices.DeleteFunc(slices.Clone(t.files), func(s *source) bool {
		return s.isTest || !isPublic(s.folder)
	})
}

var repository = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../..")) })

// loaded returns the tree that contains this package. It is parsed once.
func loaded(t *testing.T) *tree {
	t.Helper()
	repo, err := repository()
	if err != nil || len(repo.broken) > 0 || len(repo.files) < 20 {
		t.Fatalf("%d files, error %v, faults %q", len(repo.files), err, repo.broken)
	}
	return repo
}

// faults are the violations that a check has found.
type faults []string

func (v *faults) add(format string, args ...any) { *v = append(*v, fmt.Sprintf(format, args...)) }

// verify runs a check on a bad tree, in which it must find violations with the
// wanted texts and no others, and on the repository, which must have none.
func verify(t *testing.T, check func(*tree) faults, bad map[string]string, want ...string) {
	t.Helper()
	mustFind(t, check(treeOf(t, bad)), want...)
	report(t, check(loaded(t)))
}

// treeOf makes a tree of files.
func treeOf(t *testing.T, files map[string]string) *tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	made, err := load(fsys)
	if err != nil || len(made.broken) > 0 {
		t.Fatalf("error %v, faults %q", err, made.broken)
	}
	return made
}

// mustFind expects one violation with each of the wanted texts.
func mustFind(t *testing.T, got faults, want ...string) {
	t.Helper()
	missing := slices.DeleteFunc(slices.Clone(want), func(w string) bool {
		return slices.ContainsFunc(got, func(v string) bool { return strings.Contains(v, w) })
	})
	if len(got) != len(want) || len(missing) > 0 {
		t.Errorf("the bad case has violations %q, want %q", got, want)
	}
}

// report fails t with the violations.
func report(t *testing.T, violations faults) {
	t.Helper()
	slices.Sort(violations)
	for _, v := range violations {
		t.Error(v)
	}
}
