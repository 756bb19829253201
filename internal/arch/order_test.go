// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"testing"
)

// reading is the order in which the files of the root package are read: that of
// the package comment, which is also the way of a line. A function calls only
// functions and uses only variables of its own file and of files further down.
// Types and constants may be used before and after they are declared: the types
// Logger, Event, core and format refer to each other.
var reading = []string{
	// Ways to log: functions that users call, with the options of a Logger.
	"logger.go", "option.go", "entry.go", "template.go",
	// The line: an Event from begin to finish, and its fields.
	"event.go", "event_begin.go", "event_finish.go", "event_caller.go",
	"event_scalar.go", "event_slice.go", "event_value.go", "event_slog.go", "event_nest.go", "event_any.go",
	"group.go", "event_edit.go",
	// The shape of the line, user code around it, and where it goes.
	"layout.go", "guard.go", "sink.go",
	// The parts that all of them use.
	"event_field.go", "event_pool.go", "format.go", "level.go", "report.go",
}

// checkReading finds calls from one file of the root package to another that is
// read before it.
func checkReading(t *tree, order []string) (violations []string) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, s := range t.files {
		if s.folder != "." || s.isTest() || !s.isGo() || s.path == "doc.go" || s.condition != nil {
			continue
		}
		if !slices.Contains(order, s.path) {
			violations = append(violations, s.path+" has no place in the order of reading")
			continue
		}
		f, err := parser.ParseFile(fset, s.path, s.text, parser.SkipObjectResolution)
		if err != nil {
			return append(violations, err.Error())
		}
		files = append(files, f)
	}
	// The imports are empty packages: values from them have no type, and are not
	// of interest here.
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Importer: emptyPackages{}, Error: func(error) {}}
	pkg, _ := config.Check("root", fset, files, &types.Info{Uses: uses})
	for id, object := range uses {
		if object.Pkg() != pkg || !isCode(object) {
			continue
		}
		from, to := fset.Position(id.Pos()), fset.Position(object.Pos())
		if slices.Index(order, from.Filename) > slices.Index(order, to.Filename) {
			violations = append(violations, fmt.Sprintf("%s:%d: %s is declared in %s, which is read before", from.Filename, from.Line, object.Name(), to.Filename))
		}
	}
	slices.Sort(violations)
	return violations
}

// isCode reports whether an object is a function, a method that is not an
// interface's, or a package's variable.
func isCode(object types.Object) bool {
	switch x := object.(type) {
	case *types.Func:
		receiver := x.Signature().Recv()
		return receiver == nil || !types.IsInterface(receiver.Type())
	case *types.Var:
		return !x.IsField() && x.Parent() == x.Pkg().Scope()
	}
	return false
}

type emptyPackages struct{}

func (emptyPackages) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

func TestRootFilesCallDownwards(t *testing.T) {
	check := func(t *tree) []string { return checkReading(t, []string{"a.go", "b.go"}) }
	tryOn(t, check, []fixture{
		{"good", map[string]string{
			"a.go":   "package x\n\nimport \"io\"\n\ntype T struct{ w io.Writer }\n\nfunc (t *T) F() { t.g(); _, _ = t.w.Write(nil) }\n",
			"b.go":   "package x\n\ntype I interface{ F() }\n\nfunc (t *T) g() { var i I; i.F() }\n",
			"doc.go": "package x\n",
			"c.go":   "//go:build go1.99\n\npackage x\n\nfunc h() { new(T).F() }\n",
		}, nil},
		{"function", map[string]string{"a.go": "package x\n\nfunc f() {}\n", "b.go": "package x\n\nfunc g() { f() }\n"},
			[]string{"b.go:3: f is declared in a.go, which is read before"}},
		{"method", map[string]string{"a.go": "package x\n\ntype T int\n\nfunc (T) F() {}\n", "b.go": "package x\n\nfunc g(t T) { t.F() }\n"},
			[]string{"b.go:3: F is declared in a.go"}},
		{"variable", map[string]string{"a.go": "package x\n\nvar v int\n", "b.go": "package x\n\nfunc g() { v++ }\n"},
			[]string{"b.go:3: v is declared in a.go"}},
		{"unknown file", map[string]string{"c.go": "package x\n"}, []string{"c.go has no place"}},
	})
	loaded, _ := repository(t)
	report(t, checkReading(loaded, reading))
}
