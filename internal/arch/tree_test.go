// SPDX-License-Identifier: Apache-2.0

package arch

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	root     = "github.com/nib-log/nib" // the path of the root module
	top      = "../.."                  // its folder
	programs = `^(allocs|bench|cmd|e2e|examples|internal/release)(/|$)`
)

// A tree is the source of a repository: all files of all its modules, whatever
// their build constraints.
type tree struct {
	files []*source         // Go
	text  map[string]string // of all files, by path
}

// A source is one Go file.
type source struct {
	path, folder string // from the root of the repository; "." for the root package
	text         string
	isTest       bool
	syntax       *ast.File
}

var (
	fset      = token.NewFileSet()
	readable  = regexp.MustCompile(`\.(go|s|md|mod|sum)$`)
	skipped   = regexp.MustCompile(`^([._].+|testdata|vendor|node_modules)$`) // folders
	internals = regexp.MustCompile(`(^|/)internal(/|$)`)
	private   = regexp.MustCompile(programs + `|^dest/.*/(embedded|topic|kfaketest|otlptest)$`)
	ends      = regexp.MustCompile(`^(cmd|bench|examples|e2e|allocs/cmd)(/|$)`) // not imported
)

// repository is the tree that contains this package. It is read once.
var repository = sync.OnceValue(func() *tree {
	texts, fsys := map[string]string{}, os.DirFS(top)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && skipped.MatchString(d.Name()) {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() && readable.MatchString(name) {
			var text []byte
			text, err = fs.ReadFile(fsys, name)
			texts[name] = string(text)
		}
		return err
	})
	if err != nil || texts["go.mod"] == "" {
		panic(fmt.Sprintf("%d files, error %v", len(texts), err))
	}
	return parse(texts)
})

// parse makes a tree of files.
func parse(texts map[string]string) *tree {
	t := &tree{text: texts}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		s := &source{path: name, folder: path.Dir(name), text: texts[name]}
		s.isTest = strings.HasSuffix(name, "_test.go")
		if path.Ext(name) != ".go" {
			continue
		}
		var err error
		const mode = parser.ParseComments | parser.SkipObjectResolution
		if s.syntax, err = parser.ParseFile(fset, name, s.text, mode); err == nil {
			t.files = append(t.files, s)
		} else if !strings.Contains(s.text, "\n//go:build go1.") { // for later releases
			panic(err)
		}
	}
	return t
}

func line(p token.Pos) int { return fset.Position(p).Line }

// at returns the position of a node, for a fault.
func (s *source) at(n ast.Node) string { return fmt.Sprintf("%s:%d", s.path, line(n.Pos())) }

// within reports whether a folder is top or below it.
func within(folder, top string) bool { return folder == top || strings.HasPrefix(folder, top+"/") }

// library returns the files of public packages that are no tests.
func (t *tree) library() []*source {
	return slices.DeleteFunc(slices.Clone(t.files), func(s *source) bool {
		return s.isTest || internals.MatchString(s.folder) || private.MatchString(s.folder)
	})
}

// module returns the folder of the module around a folder.
func (t *tree) module(folder string) string {
	for t.text[path.Join(folder, "go.mod")] == "" {
		folder = path.Dir(folder)
	}
	return folder
}

// faults are what a check has found, each with its place at the beginning.
type faults []string

func (v *faults) add(format string, args ...any) { *v = append(*v, fmt.Sprintf(format, args...)) }

// exceptions has the accepted faults: the test that finds them, how they begin,
// and a reason.
//
//go:embed testdata/exceptions.txt
var exceptions string

// except returns the faults without the accepted ones of a test. An exception
// that is not needed is a fault.
func (v faults) except(rows, test string) faults {
	for row := range strings.Lines(rows) {
		n, cells := len(v), strings.Split(row, " | ")
		if cells[0] != test {
			continue
		}
		v = slices.DeleteFunc(v, func(f string) bool { return strings.HasPrefix(f, cells[1]) })
		if len(v) == n {
			v.add("%s: the exception is not needed any more", cells[1])
		}
	}
	return v
}

// sections returns the parts of a text, each below a line with its name.
func sections(text string) map[string]string {
	parts, name := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(line, "-- "); ok {
			name, line = strings.TrimSuffix(head, " --\n"), ""
		}
		parts[name] += line
	}
	return parts
}

// badTree returns a tree that breaks the rule of a test, and the texts of the
// faults that it has to find in that.
func badTree(t *testing.T) (bad *tree, want []string) {
	text, err := os.ReadFile("testdata/bad/" + t.Name() + ".txt")
	parts := sections(string(text))
	want = strings.Split(strings.TrimSpace(parts["want"]), "\n")
	if delete(parts, "want"); err != nil || len(parts) == 0 {
		t.Fatalf("no bad tree, error %v", err)
	}
	return parse(parts), want
}

// verify runs a check on the test's bad tree, in which it must find the wanted
// faults and no others, and on the repository, whose faults must be accepted.
func verify(t *testing.T, check func(*tree) faults) {
	t.Helper()
	bad, want := badTree(t)
	mustFind(t, check(bad), want...)
	mustFind(t, check(repository()).except(exceptions, t.Name()))
}

// mustFind expects one fault with each of the wanted texts.
func mustFind(t *testing.T, got faults, want ...string) {
	t.Helper()
	for _, w := range want {
		i := slices.IndexFunc(got, func(v string) bool { return strings.Contains(v, w) })
		if i < 0 {
			t.Errorf("the bad case has faults %q, and none with %q", got, w)
			continue
		}
		got = slices.Delete(slices.Clone(got), i, i+1)
	}
	for _, v := range slices.Sorted(slices.Values(got)) {
		t.Error(v)
	}
}
