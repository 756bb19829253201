// SPDX-License-Identifier: Apache-2.0

// Package keptliteral defines a check for function literals that are made on
// each call and outlive it: each is an object with the variables that it uses.
package keptliteral

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Analyzer reports function literals in functions with //alloc:none or
// //alloc:max that use variables of the function and are stored or started.
var Analyzer = &analysis.Analyzer{
	Name:     "keptliteral",
	Doc:      "report function literals that are kept, in functions with //alloc:none\n\nMake it once, or keep what it needs in the receiver.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil)}, func(n ast.Node) {
		fn := n.(*ast.FuncDecl)
		if fn.Body == nil || !hot(fn) {
			return
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if i < len(n.Rhs) && outlives(pass, l) {
						literal(pass, fn, n.Rhs[i], "is kept in "+types.ExprString(l))
					}
				}
			case *ast.ReturnStmt:
				for _, r := range n.Results {
					literal(pass, fn, r, "is returned")
				}
			case *ast.GoStmt:
				literal(pass, fn, n.Call.Fun, "is started as a goroutine")
			}
			return true
		})
	})
	return nil, nil
}

// hot tells whether the function carries a comment that limits allocations.
func hot(fn *ast.FuncDecl) bool {
	if fn.Doc == nil {
		return false
	}
	for _, c := range fn.Doc.List {
		if c.Text == "//alloc:none" || len(c.Text) > 12 && c.Text[:12] == "//alloc:max=" {
			return true
		}
	}
	return false
}

// outlives tells whether what is assigned to lives on after the function: a
// field, an element, or a variable of the package.
func outlives(pass *analysis.Pass, l ast.Expr) bool {
	switch l := ast.Unparen(l).(type) {
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return true
	case *ast.Ident:
		o := pass.TypesInfo.ObjectOf(l)
		return o != nil && o.Parent() == pass.Pkg.Scope()
	}
	return false
}

func literal(pass *analysis.Pass, fn *ast.FuncDecl, e ast.Expr, how string) {
	lit, ok := ast.Unparen(e).(*ast.FuncLit)
	if !ok {
		return
	}
	captures := ""
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || captures != "" {
			return true
		}
		v, ok := pass.TypesInfo.Uses[id].(*types.Var)
		if ok && !v.IsField() && v.Pos() >= fn.Pos() && v.Pos() < fn.End() && (v.Pos() < lit.Pos() || v.Pos() >= lit.End()) {
			captures = v.Name()
		}
		return true
	})
	if captures != "" {
		pass.ReportRangef(lit, "the function literal %s: it is an object with %s on each call", how, captures)
	}
}
