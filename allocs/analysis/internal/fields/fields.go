// SPDX-License-Identifier: Apache-2.0

// Package fields finds the struct fields of a package that hold values owned by
// other code: those that are assigned from a parameter.
package fields

import (
	"go/ast"
	"go/types"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/pools"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Borrowed holds the fields that hold values owned by other code.
type Borrowed struct {
	Any  map[*types.Var]bool // fields set in any object
	Kept map[*types.Var]bool // fields set in an object that existed before: a parameter, the receiver, or one from a pool
	// Consumed are fields that are used up: if x.f != nil { …; x.f = nil }.
	Consumed map[*types.Var]bool
}

// Find returns the borrowed fields that the functions of the package set.
func Find(pass *rule.Pass) Borrowed {
	b := Borrowed{map[*types.Var]bool{}, map[*types.Var]bool{}, map[*types.Var]bool{}}
	for _, fn := range rule.Nodes[*ast.FuncDecl](pass) {
		if o, ok := pass.TypesInfo.Defs[fn.Name].(*types.Func); ok && fn.Body != nil {
			b.function(pass.TypesInfo, fn, o.Signature())
		}
	}
	for cur, a := range rule.Nodes[*ast.AssignStmt](pass) {
		for i, l := range a.Lhs {
			sel, ok := ast.Unparen(l).(*ast.SelectorExpr)
			if !ok || len(a.Lhs) != len(a.Rhs) || !pass.TypesInfo.Types[a.Rhs[i]].IsNil() {
				continue
			}
			if around := rule.Around[*ast.IfStmt](cur); around != nil && mentions(pass.TypesInfo, around.Cond, sel) {
				b.Consumed[pass.TypesInfo.Uses[sel.Sel].(*types.Var).Origin()] = true
			}
		}
	}
	return b
}

func mentions(info *types.Info, e ast.Expr, sel *ast.SelectorExpr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(*ast.SelectorExpr)
		found = found || ok && edit.Same(info, x, sel)
		return !found
	})
	return found
}

func (b Borrowed) function(info *types.Info, fn *ast.FuncDecl, sig *types.Signature) {
	params := map[types.Object]bool{}
	for p := range sig.Params().Variables() {
		params[p] = true
	}
	before := pools.Taken(info, fn)
	for p := range params {
		before[p] = true
	}
	if r := sig.Recv(); r != nil {
		before[r] = true
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, l := range a.Lhs {
			sel, ok := ast.Unparen(l).(*ast.SelectorExpr)
			if !ok {
				continue
			}
			field, ok := info.Uses[sel.Sel].(*types.Var)
			from, isName := ast.Unparen(a.Rhs[i]).(*ast.Ident)
			if !ok || !field.IsField() || !isName || !params[info.Uses[from]] {
				continue
			}
			b.Any[field.Origin()] = true
			if base, ok := ast.Unparen(sel.X).(*ast.Ident); ok && before[info.Uses[base]] {
				b.Kept[field.Origin()] = true
			}
		}
		return true
	})
}
