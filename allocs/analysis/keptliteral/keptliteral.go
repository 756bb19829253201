// SPDX-License-Identifier: Apache-2.0

// Package keptliteral defines a check for function literals that are made on
// each call and outlive it: each is an object with the variables that it uses.
package keptliteral

import (
	"go/ast"
	"go/types"

	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Analyzer reports function literals in functions with //alloc:none or
// //alloc:max that use variables of the function and are stored or started.
var Analyzer = rule.New("keptliteral",
	"report function literals that are kept, in functions with //alloc:none\n\nMake it once, or keep what it needs in the receiver.", run)

func run(pass *rule.Pass) {
	for _, fn := range rule.Nodes[*ast.FuncDecl](pass) {
		if fn.Body == nil || !rule.Hot(fn) {
			continue
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
	}
}

// outlives reports whether the target of an assignment exists after the
// function: the target of a pointer, or a variable of the package. A field of a
// local struct does not.
func outlives(pass *rule.Pass, l ast.Expr) bool {
	switch l := ast.Unparen(l).(type) {
	case *ast.StarExpr:
		return true
	case *ast.IndexExpr:
		if _, array := pass.TypesInfo.TypeOf(l.X).Underlying().(*types.Array); !array {
			return true
		}
		return outlives(pass, l.X)
	case *ast.SelectorExpr:
		if _, pointer := pass.TypesInfo.TypeOf(l.X).Underlying().(*types.Pointer); pointer {
			return true
		}
		return outlives(pass, l.X)
	case *ast.Ident:
		o := pass.TypesInfo.ObjectOf(l)
		return o != nil && o.Parent() == pass.Pkg.Scope()
	}
	return false
}

func literal(pass *rule.Pass, fn *ast.FuncDecl, e ast.Expr, how string) {
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
