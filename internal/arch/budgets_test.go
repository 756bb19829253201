// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// The budgets. Lines count with comments. Good code is far from all of them: a
// budget that is met to the line is a budget that has shaped the code.
var budgets = map[string]int{
	"lines of a source file":    500,
	"lines of a test file":      900,
	"lines of a function":       60,
	"source files of a package": 25,
	"fields of a struct":        20,
	"methods of a type":         40,
}

// exceptions may exceed a budget, each for a reason. An exception that is no
// longer needed is a violation.
var exceptions = []exception{
	{"internal/jsonenc/escape.go appendEscaped", "lines of a function", 85,
		"one loop: the calls that would shorten it cost more than copying a short text"},
	{"internal/jsonenc/unicode.go appendUnicode", "lines of a function", 66, "the same"},

	{". Event", "fields of a struct", 28, "one object from a pool: fields used together are together"},
	{"sink/spool Config", "fields of a struct", 27, "one field for each option"},

	{". Event", "methods of a type", 157, "one method for each type of value"},
	{". Logger", "methods of a type", 41, "one method for each level, and each way to log"},
}

type exception struct {
	name   string // of a folder, file, function or type
	budget string
	most   int
	reason string
}

// A size is measured with a budget.
type size struct{ name, budget string }

// sizes measures everything that has a budget. The positions are of the last
// declaration of each name.
func sizes(t *tree) (n map[size]int, at map[size]string) {
	n, at = map[size]int{}, map[size]string{}
	add := func(s *source, node ast.Node, name, budget string, count int) {
		n[size{name, budget}] = max(n[size{name, budget}], count)
		at[size{name, budget}] = s.at(node)
	}
	files, methods := map[string]int{}, map[string]map[string]bool{}
	for _, s := range t.files {
		lines := strings.Count(s.text, "\n")
		if s.isTest {
			add(s, s.syntax, s.path, "lines of a test file", lines)
		} else {
			add(s, s.syntax, s.path, "lines of a source file", lines)
			files[s.folder]++
			add(s, s.syntax, s.folder, "source files of a package", files[s.folder])
		}
		ast.Inspect(s.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				lines := s.line(node.End()) - s.line(node.Pos()) + 1
				add(s, node, s.path+" "+functionName(node), "lines of a function", lines)
				if receiver, _, ok := strings.Cut(functionName(node), "."); ok && !s.isTest {
					name := s.folder + " " + receiver
					if methods[name] == nil {
						methods[name] = map[string]bool{}
					}
					methods[name][node.Name.Name] = true // in files of several systems, perhaps
					add(s, node, name, "methods of a type", len(methods[name]))
				}
			case *ast.TypeSpec:
				if x, ok := node.Type.(*ast.StructType); ok && !s.isTest {
					add(s, node, s.folder+" "+node.Name.Name, "fields of a struct", fields(x))
				}
			}
			return true
		})
	}
	return n, at
}

// fields counts the fields of a struct, without padding.
func fields(s *ast.StructType) (n int) {
	for _, f := range s.Fields.List {
		n += max(1, len(f.Names))
		if len(f.Names) > 0 && f.Names[0].Name == "_" {
			n--
		}
	}
	return n
}

// functionName returns "Name" for a function and "Type.Name" for a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
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
		default:
			return fmt.Sprint(x) + "." + f.Name.Name
		}
	}
}

func checkSizes(t *tree, exceptions []exception) (v faults) {
	n, at := sizes(t)
	most := map[size]int{}
	for _, e := range exceptions {
		key := size{e.name, e.budget}
		most[key] = e.most
		if n[key] <= budgets[e.budget] || e.reason == "" {
			v = append(v, e.name+": the exception is not needed any more, or has no reason")
		}
	}
	for key, count := range n {
		if want := max(budgets[key.budget], most[key]); count > want {
			v.add("%s: %s: %d %s, want at most %d", at[key], key.name, count, key.budget, want)
		}
	}
	return v
}

func TestBudgets(t *testing.T) {
	bad := map[string]string{
		"a/a.go":      "package a\n" + strings.Repeat("\n", 500),
		"a/a_test.go": "package a\n" + strings.Repeat("\n", 900),
		"a/f.go":      "package a\n\nfunc f() {" + strings.Repeat("\n", 60) + "}\n",
		"a/g.go":      "package a\n\nfunc g() {" + strings.Repeat("\n", 65) + "}\n",
		"a/s.go":      "package a\n\ntype s struct { t" + strings.Repeat("; f int", 20) + "}\n",
		"b/t.go":      "package b\n",
	}
	for i := range 41 {
		bad["b/t.go"] += fmt.Sprintf("func (*t[K]) m%d() {}\n", i)
	}
	for i := range 26 {
		bad[fmt.Sprintf("c/%d.go", i)] = "package c\n"
	}
	excepted := []exception{
		{"a/g.go g", "lines of a function", 66, "a reason"},
		{"a/h.go h", "lines of a function", 70, "a reason"},
	}
	mustFind(t, checkSizes(treeOf(t, bad), excepted),
		"a/a.go: 501 lines", "a/a_test.go: 901 lines", "a/f.go:3: a/f.go f: 61 lines of a function, want at most 60",
		"a s: 21 fields", "b t: 41 methods", "c: 26 source files", "a/h.go h: the exception is not needed")
	report(t, checkSizes(loaded(t), exceptions))
}
