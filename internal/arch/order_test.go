// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// reading is the order in which the files of the root package are read, which
// is the order of the package comment and of the path of a line. A function
// calls only functions and uses only variables of its own file and of files
// further down.
// Types and constants may be used before and after they are declared: the types
// Logger, Event, core and format refer to each other.
var reading = []string{
	// Ways to log: functions that users call, with the options of a Logger.
	"logger.go", "option.go", "entry.go", "template.go",
	// The line: an Event from begin to finish, and its fields.
	"event.go", "event_begin.go", "event_finish.go", "event_caller.go",
	"event_scalar.go", "event_slice.go", "event_value.go",
	"event_slog.go", "event_nest.go", "event_any.go",
	"group.go", "event_edit.go",
	// The shape of the line, user code around it, and where it goes.
	"layout.go", "guard.go", "sink.go",
	// The parts that all of them use.
	"event_field.go", "event_pool.go", "format.go", "level.go", "report.go",
}

// checkReading finds calls from one file of the root package to another that is
// read before it.
func checkReading(t *tree, order []string) (v faults) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, s := range t.files {
		if s.folder != "." || s.isTest || s.path == "doc.go" ||
			strings.Contains(s.text, "\n//go:build ") {
			continue
		}
		if !slices.Contains(order, s.path) {
			v = append(v, s.path+" has no place in the order of reading")
		}
		f, _ := parser.ParseFile(fset, s.path, s.text, parser.SkipObjectResolution) // parsed before
		files = append(files, f)
	}
	// The imports are empty packages: values from them have no type, and are not
	// of interest here.
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Importer: emptyPackages{}, Error: func(error) {}}
	pkg, _ := config.Check("root", fset, files, &types.Info{Uses: uses})
	for id, object := range uses {
		from, to := fset.Position(id.Pos()), fset.Position(object.Pos())
		if object.Pkg() == pkg && isCode(object) &&
			slices.Index(order, from.Filename) > slices.Index(order, to.Filename) {
			v.add("%s:%d: %s is declared in %s, which is read before",
				from.Filename, from.Line, object.Name(), to.Filename)
		}
	}
	return v
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
	bad := treeOf(t, map[string]string{
		"a.go": "package x\n\ntype T int\n\nfunc (t T) F() { g() }\n\nvar v int\n",
		"b.go": "package x\n\nfunc g() { T(v).F() }\n",
		"c.go": "package x\n",
	})
	mustFind(t, checkReading(bad, []string{"a.go", "b.go"}), "b.go:3: F is declared in a.go",
		"b.go:3: v is declared in a.go", "c.go has no place")
	report(t, checkReading(loaded(t), reading))
}
