// SPDX-License-Identifier: Apache-2.0

// Package poolvalue defines a check of the values that are put into a
// sync.Pool: a value that is not a pointer is copied to the heap on every Put,
// and so is a new variable whose address is put.
package poolvalue

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/pools"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports Put(value), and Put(&variable) of a parameter or of a value
// from a pool. A variable that the function has just filled for the first time
// must be made somewhere.
var Analyzer = rule.Steady("poolvalue",
	"report what allocates when it is put into a sync.Pool\n\nPut the pointer that Get returned.", run)

func run(pass *rule.Pass) {
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		arg := pools.Put(pass.TypesInfo, call)
		if arg == nil {
			continue
		}
		if u, ok := arg.(*ast.UnaryExpr); ok && u.Op == token.AND {
			if id, ok := ast.Unparen(u.X).(*ast.Ident); ok {
				address(pass, cur, call, id)
			}
			continue
		}
		if t := pass.TypesInfo.TypeOf(arg); !typename.PointerShaped(t) {
			pass.ReportRangef(call, "a %s is copied to the heap on each Put; put a pointer", t)
		}
	}
}

// address checks Put(&id).
func address(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr, id *ast.Ident) {
	v, ok := pass.TypesInfo.Uses[id].(*types.Var)
	if !ok || v.IsField() || v.Parent() == pass.Pkg.Scope() {
		return
	}
	decl := rule.Around[*ast.FuncDecl](c)
	if decl == nil {
		return
	}
	from, define := source(pass.TypesInfo, decl, v)
	if from == nil && !param(pass.TypesInfo, decl, v) {
		return
	}
	d := analysis.Diagnostic{Pos: call.Pos(), End: call.End(),
		Message: "Put(&" + id.Name + ") moves " + id.Name + " to the heap each time; put the pointer that Get returned"}
	if from != nil {
		d.SuggestedFixes = keepPointer(pass, c, call, v, from, define)
	}
	pass.Report(d)
}

func param(info *types.Info, decl *ast.FuncDecl, v *types.Var) bool {
	o, ok := info.Defs[decl.Name].(*types.Func)
	if !ok {
		return false
	}
	for p := range o.Signature().Params().Variables() {
		if p == v {
			return true
		}
	}
	return false
}

// source returns the pool.Get().(*T) that defines v.
func source(info *types.Info, decl *ast.FuncDecl, v *types.Var) (get *ast.TypeAssertExpr, define *ast.AssignStmt) {
	ast.Inspect(decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		id, ok := a.Lhs[0].(*ast.Ident)
		if !ok || info.ObjectOf(id) != v {
			return true
		}
		ast.Inspect(a.Rhs[0], func(n ast.Node) bool {
			if e, ok := n.(*ast.TypeAssertExpr); ok && pools.Get(info, e) != nil {
				get, define = e, a
			}
			return true
		})
		return true
	})
	return get, define
}

// keepPointer turns
//
//	b := *pool.Get().(*[]byte)  into  p := pool.Get().(*[]byte)
//	                                  b := *p
//	pool.Put(&b)                into  *p = b
//	                                  pool.Put(p)
//
// when both are statements of the same function and pool, b is not used after
// Put, and nothing else has the address of b.
func keepPointer(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr, v *types.Var, get *ast.TypeAssertExpr, define *ast.AssignStmt) []analysis.SuggestedFix {
	info := pass.TypesInfo
	fn, body := rule.Function(c)
	put, ok := c.Parent().Node().(*ast.ExprStmt)
	recv, _ := typename.Method(info, call, "sync", "Pool")
	// A type with methods could have its address taken by one of them.
	if _, slice := types.Unalias(v.Type()).(*types.Slice); !slice {
		return nil
	}
	if !ok || define.Tok != token.DEFINE || define.Pos() < body.Pos() || define.Pos() > put.Pos() || !edit.Same(info, recv, pools.Get(info, get)) {
		return nil
	}
	defined, ok := fn.FindNode(define)
	if !ok {
		return nil
	}
	// In the same block, with nothing after it that sees b again.
	if _, ok := c.Parent().Parent().Node().(*ast.BlockStmt); !ok || defined.Parent() != c.Parent().Parent() {
		return nil
	}
	star := false
	for cur := range defined.Preorder((*ast.StarExpr)(nil)) {
		s := cur.Node().(*ast.StarExpr)
		star = star || ast.Unparen(s.X) == get
	}
	if !star {
		return nil
	}
	for use, id := range rule.Below[*ast.Ident](fn) {
		if info.ObjectOf(id) != v || id.Pos() >= call.Pos() && id.End() <= call.End() {
			continue
		}
		if inner, _ := rule.Function(use); inner != fn || id.Pos() > call.Pos() {
			return nil
		}
		if u, ok := use.Parent().Node().(*ast.UnaryExpr); ok && u.Op == token.AND {
			return nil
		}
	}
	above, okAbove := edit.Indent(pass.Pass, define)
	indent, okPut := edit.Indent(pass.Pass, put)
	if !okAbove || !okPut {
		return nil
	}
	file := rule.Around[*ast.File](c)
	name := edit.Package(pass.Pass, file, call.Pos(), "kept")
	text := func(n ast.Node) string { return edit.Text(pass.Pass, n) }
	edits := []analysis.TextEdit{
		edit.Insert(define.Pos(), name+" := "+text(get)+"\n"+above),
		{Pos: get.Pos(), End: get.End(), NewText: []byte(name)},
		{Pos: put.Pos(), End: put.End(), NewText: []byte("*" + name + " = " + v.Name() + "\n" + indent + text(call.Fun) + "(" + name + ")")},
	}
	if edit.LosesComment(file, edits) {
		return nil
	}
	return edit.Fix("keep the pointer that Get returned", edits...)
}
