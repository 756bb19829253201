// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// The budgets, in lines with comments.
const (
	maxFile     = 500
	maxTestFile = 900
	maxFunction = 60
)

// exceptions may exceed the budgets, each for a reason. One that is no longer
// needed is a violation.
var exceptions = []exception{
	{"internal/jsonenc/escape.go", "appendEscaped", 86, "one loop: the calls that would shorten it cost more than copying a short text"},
	{"internal/jsonenc/unicode.go", "appendUnicode", 66, "the same"},
}

type exception struct {
	path     string
	function string // "Name" or "Type.Name"; empty for the file as a whole
	lines    int    // the most lines that it may have
	reason   string
}

// A size is the number of lines of a file or function, and its budget.
type size struct {
	path, function, at string
	lines, budget      int
}

func checkSizes(t *tree, exceptions []exception) (violations []string) {
	used := make([]bool, len(exceptions))
	for _, z := range sizes(t) {
		i := slices.IndexFunc(exceptions, func(e exception) bool { return e.path == z.path && e.function == z.function })
		if z.lines <= z.budget {
			continue
		}
		if i >= 0 {
			used[i] = true
			z.budget = exceptions[i].lines
		}
		if z.lines > z.budget {
			violations = append(violations, fmt.Sprintf("%s: %d lines, want at most %d", strings.TrimSpace(z.at+" "+z.function), z.lines, z.budget))
		}
	}
	for i, e := range exceptions {
		if !used[i] {
			violations = append(violations, fmt.Sprintf("%s %s: the exception is not needed any more", e.path, e.function))
		}
		if e.reason == "" {
			violations = append(violations, fmt.Sprintf("%s %s: the exception has no reason", e.path, e.function))
		}
	}
	return violations
}

// sizes measures all files, and all functions declared in them.
func sizes(t *tree) (list []size) {
	for _, s := range t.files {
		z := size{path: s.path, at: s.path, lines: s.lines, budget: maxFile}
		if s.isTest() {
			z.budget = maxTestFile
		}
		list = append(list, z)
		if !s.isGo() {
			continue
		}
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
				list = append(list, size{path: s.path, function: functionName(f), at: s.at(f), lines: lines, budget: maxFunction})
			}
		}
	}
	return list
}

// functionName returns "Name" for a function and "Type.Name" for a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch x := receiver.(type) {
		case *ast.StarExpr:
			receiver = x.X
		case *ast.IndexExpr:
			receiver = x.X
		case *ast.IndexListExpr:
			receiver = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// function returns a function with the given number of lines.
func function(head string, lines int) string {
	return head + " {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n"
}

func TestSizes(t *testing.T) {
	line := func(n int) string { return "package a\n" + strings.Repeat("\n", n-1) }
	check := func(t *tree) []string { return checkSizes(t, nil) }
	tryOn(t, check, []fixture{
		{"good", map[string]string{
			"a.go": line(500), "a_test.go": line(900), "a.s": strings.Repeat("\n", 500),
			"b.go": "package a\n\n" + function("func f()", 60),
		}, nil},
		{"file", map[string]string{"a.go": line(501)}, []string{"a.go: 501 lines, want at most 500"}},
		{"test file", map[string]string{"bench/a_test.go": line(901)}, []string{"bench/a_test.go: 901 lines, want at most 900"}},
		{"assembly", map[string]string{"a.s": strings.Repeat("\n", 501)}, []string{"a.s: 501 lines"}},
		{"function", map[string]string{"a.go": "package a\n\n" + function("func f()", 61)}, []string{"a.go:3 f: 61 lines, want at most 60"}},
		{"method", map[string]string{"a.go": "package a\n" + function("func (t *T[K]) f()", 61)}, []string{"a.go:2 T.f: 61 lines"}},
		{"function in a test", map[string]string{"a_test.go": "package a\n" + function("func (T[K, V]) f()", 61)}, []string{"T.f: 61 lines"}},
	})
	excepted := []exception{{"a.go", "f", 70, "one table of cases"}, {"b.go", "", 600, ""}}
	tryOn(t, func(t *tree) []string { return checkSizes(t, excepted) }, []fixture{
		{"exception without a reason", map[string]string{
			"a.go": "package a\n" + function("func f()", 70), "b.go": line(600),
		}, []string{"b.go : the exception has no reason"}},
		{"exceptions not needed", map[string]string{"a.go": "package a\n" + function("func f()", 60), "b.go": line(500)},
			[]string{"a.go f: the exception is not needed", "b.go : the exception is not needed", "no reason"}},
		{"above the exception", map[string]string{"a.go": "package a\n" + function("func f()", 71), "b.go": line(600)},
			[]string{"f: 71 lines, want at most 70", "no reason"}},
	})
	loaded, _ := repository(t)
	report(t, checkSizes(loaded, exceptions))
}
