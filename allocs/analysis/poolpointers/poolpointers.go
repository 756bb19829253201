// SPDX-License-Identifier: Apache-2.0

// Package poolpointers defines a check for pooled objects that keep others
// alive: a pointer field that is not cleared before Put holds what it points to
// for as long as the object is in the pool, and gives the collector work.
package poolpointers

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports Put(x) where fields of x that hold pointers are assigned in
// the package and not cleared in the function.
var Analyzer = &analysis.Analyzer{
	Name:     "poolpointers",
	Doc:      "report objects that go to a sync.Pool with their pointers\n\nClear pointer, interface, function and channel fields before Put.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil)}, func(n ast.Node) {
		fn := n.(*ast.FuncDecl)
		if fn.Body == nil {
			return
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				put(pass, fn, call)
			}
			return true
		})
	})
	return nil, nil
}

func put(pass *analysis.Pass, fn *ast.FuncDecl, call *ast.CallExpr) {
	if recv, name := typename.Method(pass, call, "sync", "Pool"); recv == nil || name != "Put" || len(call.Args) != 1 {
		return
	}
	id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
	if !ok {
		return
	}
	v := pass.TypesInfo.ObjectOf(id)
	p, ok := types.Unalias(v.Type()).(*types.Pointer)
	if !ok {
		return
	}
	st, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return
	}
	cleared, all := clears(pass, fn, v)
	if all {
		return
	}
	var left []string
	for f := range st.Fields() {
		switch f.Type().Underlying().(type) {
		case *types.Pointer, *types.Interface, *types.Signature, *types.Chan:
			if !cleared[f.Name()] {
				left = append(left, f.Name())
			}
		}
	}
	if len(left) > 0 {
		pass.ReportRangef(call, "%s goes to the pool with its pointers: clear %s", id.Name, strings.Join(left, ", "))
	}
}

// clears returns the fields of v that the function assigns a zero value to;
// all means *v = T{} or a method that resets it.
func clears(pass *analysis.Pass, fn *ast.FuncDecl, v types.Object) (fields map[string]bool, all bool) {
	fields = map[string]bool{}
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && pass.TypesInfo.ObjectOf(id) == v
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				switch l := ast.Unparen(l).(type) {
				case *ast.StarExpr:
					all = all || is(l.X)
				case *ast.SelectorExpr:
					if is(l.X) {
						fields[l.Sel.Name] = true
					}
				}
			}
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && is(sel.X) {
				name := strings.ToLower(sel.Sel.Name)
				all = all || strings.HasPrefix(name, "reset") || strings.HasPrefix(name, "clear")
			}
		}
		return true
	})
	return fields, all
}
