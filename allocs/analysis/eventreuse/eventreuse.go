// SPDX-License-Identifier: Apache-2.0

// Package eventreuse defines a check for log events that are used after they
// were written. By then the event is back in its pool and can belong to
// another goroutine.
package eventreuse

import (
	"go/ast"
	"go/types"

	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Analyzer reports uses of an event variable after Msg or Send in a later
// statement of the same block.
var Analyzer = rule.New("eventreuse",
	"report log events that are used after Msg or Send\n\nThe event is back in its pool by then.", run)

func run(pass *rule.Pass) {
	for b := range rule.Nodes[*ast.BlockStmt](pass) {
		block(pass, b.List)
	}
	for c := range rule.Nodes[*ast.CaseClause](pass) {
		block(pass, c.Body)
	}
	for c := range rule.Nodes[*ast.CommClause](pass) {
		block(pass, c.Body)
	}
}

func block(pass *rule.Pass, list []ast.Stmt) {
	for i, s := range list {
		v := ended(pass.TypesInfo, s)
		if v == nil {
			continue
		}
		for _, later := range list[i+1:] {
			if use := uses(pass.TypesInfo, later, v); use != nil {
				pass.ReportRangef(use, "%s is used after it was written: it is back in its pool",
					v.Name())
				break
			}
			if assigns(pass.TypesInfo, later, v) {
				break
			}
		}
	}
}

// ended returns the variable of an event that the statement writes.
func ended(info *types.Info, s ast.Stmt) *types.Var {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !rule.EndsEvent(sel.Sel.Name) {
		return nil
	}
	for e := ast.Unparen(sel.X); ; {
		switch x := e.(type) {
		case *ast.Ident:
			v, _ := info.Uses[x].(*types.Var)
			if v == nil || !rule.IsEvent(v.Type()) {
				return nil
			}
			return v
		case *ast.CallExpr:
			inner, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			if !ok || !rule.IsEvent(info.TypeOf(x)) {
				return nil
			}
			e = ast.Unparen(inner.X)
		default:
			return nil
		}
	}
}

// assigns reports whether a new event may be in the variable after the
// statement.
func assigns(info *types.Info, s ast.Stmt, v *types.Var) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, l := range a.Lhs {
				found = found || is(info, l, v)
			}
		}
		return !found
	})
	return found
}

func is(info *types.Info, e ast.Expr, v *types.Var) bool {
	id, ok := e.(*ast.Ident)
	return ok && info.Uses[id] == v
}

// uses returns the first use of the event in a statement, up to the point where
// the variable may get a new event. A comparison, as with nil, does not count
// as a use.
func uses(info *types.Info, s ast.Stmt, v *types.Var) *ast.Ident {
	var found *ast.Ident
	renewed := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if is(info, ast.Unparen(n.X), v) || is(info, ast.Unparen(n.Y), v) {
				return false
			}
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				if is(info, l, v) {
					for _, r := range n.Rhs {
						if found == nil && !renewed {
							found = uses(info, &ast.ExprStmt{X: r}, v)
						}
					}
					renewed = true
				}
			}
		case *ast.Ident:
			if found == nil && !renewed && info.Uses[n] == v {
				found = n
			}
		}
		return found == nil && !renewed
	})
	return found
}
