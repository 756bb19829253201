// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Capacity gives an empty slice or map, which the next statement fills in a
// loop, the length of the value that the loop ranges over. It ignores a nil
// slice, which would not stay nil if the loop adds nothing.
var Capacity = rule.Steady("capacity", "make room once", func(pass *rule.Pass) {
	for cur, a := range rule.Nodes[*ast.AssignStmt](pass) {
		if a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !inList(cur) {
			continue
		}
		made := empty(pass, a.Rhs[0])
		next, ok := cur.NextSibling()
		if made == "" || !ok {
			continue
		}
		loop, ok := next.Node().(*ast.RangeStmt)
		if !ok || !counted(pass.TypesInfo, loop.X) {
			continue
		}
		if fill := fills(pass, loop, a.Lhs[0]); fill != nil {
			fix := edit.Replace("make room once", a.Rhs[0], made+", len("+text(pass, loop.X)+"))")
			if !edit.LosesComment(fileOf(pass, a), fix[0].TextEdits) {
				pass.Report(analysis.Diagnostic{Pos: a.Pos(), End: fill.End(), Message: fix[0].Message, SuggestedFixes: fix})
			}
		}
	}
})

// empty returns the start of make for an empty slice or map, or "".
func empty(pass *rule.Pass, e ast.Expr) string {
	var typ ast.Expr
	switch e := e.(type) {
	case *ast.CompositeLit:
		if len(e.Elts) > 0 {
			return ""
		}
		typ = e.Type
	case *ast.CallExpr:
		if edit.Builtin(pass.TypesInfo, e) != "make" || len(e.Args) > 2 {
			return ""
		}
		if len(e.Args) == 2 {
			if v := pass.TypesInfo.Types[e.Args[1]].Value; v == nil || v.String() != "0" {
				return ""
			}
		}
		typ = e.Args[0]
	default:
		return ""
	}
	switch pass.TypesInfo.TypeOf(typ).Underlying().(type) {
	case *types.Slice:
		return "make(" + text(pass, typ) + ", 0"
	case *types.Map:
		return "make(" + text(pass, typ)
	}
	return ""
}

// counted reports whether the number of iterations of a loop is known in
// advance.
func counted(info *types.Info, x ast.Expr) bool {
	switch info.TypeOf(x).Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return edit.Pure(info, x)
	}
	return false
}

// fills returns the statement that adds one element in each iteration. If an
// iteration can end before it, most of the capacity might never be used.
func fills(pass *rule.Pass, loop *ast.RangeStmt, name ast.Expr) ast.Stmt {
	for _, s := range loop.Body.List {
		if leaves(s) {
			return nil
		}
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
			continue
		}
		switch l := a.Lhs[0].(type) {
		case *ast.Ident:
			call, ok := a.Rhs[0].(*ast.CallExpr)
			if ok && edit.Same(pass.TypesInfo, l, name) && edit.Builtin(pass.TypesInfo, call) == "append" && len(call.Args) == 2 &&
				!call.Ellipsis.IsValid() && edit.Same(pass.TypesInfo, call.Args[0], name) {
				return a
			}
		case *ast.IndexExpr:
			if _, ok := pass.TypesInfo.TypeOf(l.X).Underlying().(*types.Map); ok && edit.Same(pass.TypesInfo, l.X, name) {
				return a
			}
		}
	}
	return nil
}

// leaves reports whether a statement can end an iteration or the loop.
func leaves(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.BranchStmt, *ast.ReturnStmt:
			found = true
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}
