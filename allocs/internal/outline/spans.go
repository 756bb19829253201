// SPDX-License-Identifier: Apache-2.0

package outline

import (
	"go/ast"
	"go/token"

	"github.com/nib-log/nib/allocs/internal/compiler"
)

// span is a part of a function that not every path through it executes.
type span struct{ from, to token.Pos }

// conditional reports whether the place is in such a part.
func (f *function) conditional(fset *token.FileSet, p compiler.Position) bool {
	for _, s := range f.spans {
		from, to := fset.Position(s.from), fset.Position(s.to)
		if !before(p, compiler.Position{Line: from.Line, Col: from.Column}) && before(p, compiler.Position{Line: to.Line, Col: to.Column}) {
			return true
		}
	}
	return false
}

// conditional returns the parts of a function that a path through it can leave
// out: branches, bodies of loops, literals, and the code after a statement in
// which the function can end.
func conditional(decl *ast.FuncDecl) []span {
	var out []span
	add := func(n ast.Node) { out = append(out, span{n.Pos(), n.End()}) }
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			add(n.Body)
			if n.Else != nil {
				add(n.Else)
			}
		case *ast.ForStmt:
			add(n.Body)
			if n.Post != nil {
				add(n.Post)
			}
		case *ast.RangeStmt:
			add(n.Body)
		case *ast.SwitchStmt:
			add(n.Body)
		case *ast.TypeSwitchStmt:
			add(n.Body)
		case *ast.SelectStmt:
			add(n.Body)
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				add(n.Y)
			}
		case *ast.FuncLit:
			add(n.Body)
		case *ast.BlockStmt:
			for _, s := range n.List {
				if ends(s) {
					out = append(out, span{s.End(), decl.End()})
				}
			}
		}
		return true
	})
	return out
}

// ends reports whether the function can end, or go on elsewhere, within the
// statement.
func ends(s ast.Stmt) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.GOTO || n.Label != nil
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
				found = true
			}
		}
		return !found
	})
	return found
}
