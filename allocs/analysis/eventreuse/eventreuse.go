// SPDX-License-Identifier: Apache-2.0

// Package eventreuse defines a check for log events that are used after they
// were written. By then the event is back in its pool and can belong to
// another goroutine.
package eventreuse

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports uses of an event variable after Msg or Send in a later
// statement of the same block.
var Analyzer = &analysis.Analyzer{
	Name:     "eventreuse",
	Doc:      "report log events that are used after Msg or Send\n\nThe event is back in its pool by then.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.BlockStmt)(nil), (*ast.CaseClause)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			block(pass, n.List)
		case *ast.CaseClause:
			block(pass, n.Body)
		}
	})
	return nil, nil
}

func block(pass *analysis.Pass, list []ast.Stmt) {
	for i, s := range list {
		v := ended(pass, s)
		if v == nil {
			continue
		}
		for _, later := range list[i+1:] {
			if assigns(pass, later, v) {
				break
			}
			if use := uses(pass, later, v); use != nil {
				pass.ReportRangef(use, "%s is used after it was written: it is back in its pool", v.Name())
				break
			}
		}
	}
}

// ended returns the variable of an event that the statement writes.
func ended(pass *analysis.Pass, s ast.Stmt) *types.Var {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !typename.EndsEvent(sel.Sel.Name) {
		return nil
	}
	for e := ast.Unparen(sel.X); ; {
		switch x := e.(type) {
		case *ast.Ident:
			v, _ := pass.TypesInfo.Uses[x].(*types.Var)
			if v == nil || !typename.IsEvent(v.Type()) {
				return nil
			}
			return v
		case *ast.CallExpr:
			inner, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			if !ok || !typename.IsEvent(pass.TypesInfo.TypeOf(x)) {
				return nil
			}
			e = ast.Unparen(inner.X)
		default:
			return nil
		}
	}
}

func assigns(pass *analysis.Pass, s ast.Stmt, v *types.Var) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, l := range a.Lhs {
		if id, ok := l.(*ast.Ident); ok && pass.TypesInfo.Uses[id] == v {
			return true
		}
	}
	return false
}

func uses(pass *analysis.Pass, s ast.Stmt, v *types.Var) *ast.Ident {
	var found *ast.Ident
	ast.Inspect(s, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && found == nil && pass.TypesInfo.Uses[id] == v {
			found = id
		}
		return found == nil
	})
	return found
}
