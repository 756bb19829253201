// SPDX-License-Identifier: Apache-2.0

// Package appendlost defines a check for append past a kept capacity where the
// larger array is lost: the slice is taken out of a pooled or kept place,
// grows, and is not stored back, so it grows again each time.
package appendlost

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/pools"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports b := x.buf[:0] (or *p) with append(b, …) after it and no
// x.buf = b, where x is in a pool or a pointer that outlives the function.
var Analyzer = rule.Steady("appendlost",
	"report slices of pooled or kept objects that grow and are not stored back\n\nStore the slice back: x.buf = b.", run)

func run(pass *rule.Pass) {
	for cur, a := range rule.Nodes[*ast.AssignStmt](pass) {
		if len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		id, ok := a.Lhs[0].(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		fn, body := rule.Function(cur)
		v, ok := pass.TypesInfo.ObjectOf(id).(*types.Var)
		if body == nil || !ok || v.Pos() < body.Pos() || v.Pos() > body.End() {
			continue
		}
		home, cut := origin(pass.TypesInfo, a.Rhs[0])
		if home == nil || !kept(pass, fn.Node(), home, cut) {
			continue
		}
		if grown := grows(pass.TypesInfo, fn, v); grown != nil && !stays(pass.TypesInfo, outermost(fn), home, v) {
			h := types.ExprString(home)
			pass.ReportRangef(grown, "the array that append makes when %s is full is lost: store it back, %s = %s", h, h, v.Name())
		}
	}
}

// origin takes *p and x.f out of b := (*p)[:0], b := append(x.f[:0], …) and b
// := *p; cut reports that the length is set to zero, which means that the
// capacity will be used again.
func origin(info *types.Info, e ast.Expr) (home ast.Expr, cut bool) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && edit.Builtin(info, call) == "append" {
		e = ast.Unparen(call.Args[0])
	}
	if s, ok := e.(*ast.SliceExpr); ok {
		if s.Low != nil || s.High == nil || s.Slice3 || info.Types[s.High].Value == nil || info.Types[s.High].Value.String() != "0" {
			return nil, false
		}
		e, cut = ast.Unparen(s.X), true
	}
	if t := info.TypeOf(e); t == nil {
		return nil, false
	} else if _, ok := t.Underlying().(*types.Slice); !ok {
		return nil, false
	}
	switch x := e.(type) {
	case *ast.StarExpr:
		if _, ok := ast.Unparen(x.X).(*ast.Ident); ok {
			return e, cut
		}
	case *ast.SelectorExpr:
		if _, ok := ast.Unparen(x.X).(*ast.Ident); ok && edit.Pure(info, e) {
			return e, cut
		}
	}
	return nil, false
}

// kept reports whether the home of a slice is kept for its capacity: it is in a
// pool, or the slice cut to [:0] belongs to a pointer from outside.
func kept(pass *rule.Pass, fn ast.Node, home ast.Expr, cut bool) bool {
	var owner *ast.Ident
	switch x := home.(type) {
	case *ast.StarExpr:
		owner = ast.Unparen(x.X).(*ast.Ident)
	case *ast.SelectorExpr:
		owner = ast.Unparen(x.X).(*ast.Ident)
	}
	o, ok := pass.TypesInfo.ObjectOf(owner).(*types.Var)
	if !ok {
		return false
	}
	if pools.Taken(pass.TypesInfo, fn)[o] {
		return true
	}
	_, pointer := o.Type().Underlying().(*types.Pointer)
	decl, ok := fn.(*ast.FuncDecl)
	return ok && cut && pointer && decl.Recv != nil && len(decl.Recv.List) == 1 && len(decl.Recv.List[0].Names) == 1 &&
		pass.TypesInfo.ObjectOf(decl.Recv.List[0].Names[0]) == o
}

// grows returns the append that gives v something without a fixed size: a slice
// or string, or anything in a loop. A few numbers certainly fit.
func grows(info *types.Info, fn inspector.Cursor, v *types.Var) *ast.CallExpr {
	for cur, a := range rule.Below[*ast.AssignStmt](fn) {
		if len(a.Lhs) != 1 || len(a.Rhs) != 1 || !isVar(info, a.Lhs[0], v) {
			continue
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || edit.Builtin(info, call) != "append" || !isVar(info, call.Args[0], v) {
			continue
		}
		if call.Ellipsis.IsValid() && info.Types[call.Args[1]].Value == nil || inLoop(cur, v) {
			return call
		}
	}
	return nil
}

// inLoop reports whether c is in a loop that begins after the variable.
func inLoop(c inspector.Cursor, v *types.Var) bool {
	for cur := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if cur.Node().Pos() > v.Pos() {
			return true
		}
	}
	return false
}

// stays reports whether the grown slice may be kept: its home is assigned to,
// or the slice is used in a way that the check does not understand.
func stays(info *types.Info, fn inspector.Cursor, home ast.Expr, v *types.Var) bool {
	for c, id := range rule.Below[*ast.Ident](fn) {
		if info.Uses[id] == v && leaves(info, c, v) {
			return true
		}
	}
	for _, a := range rule.Below[*ast.AssignStmt](fn) {
		for i, l := range a.Lhs {
			// The whole object, or the field.
			if edit.Same(info, l, home) && (len(a.Rhs) != len(a.Lhs) || !sameCut(info, a.Rhs[i], home)) {
				return true
			}
			if s, ok := ast.Unparen(l).(*ast.StarExpr); ok {
				if f, ok := home.(*ast.SelectorExpr); ok && edit.Same(info, s.X, f.X) {
					return true
				}
			}
		}
	}
	return false
}

// sameCut reports whether a value is only a part of the home itself.
func sameCut(info *types.Info, r, home ast.Expr) bool {
	s, ok := ast.Unparen(r).(*ast.SliceExpr)
	return ok && edit.Same(info, s.X, home)
}

// leaves reports whether a use of the slice can keep it: it is returned,
// stored, sent, or passed to a function that may do so. Reading it, or a call
// that only writes it out, cannot.
func leaves(info *types.Info, c inspector.Cursor, v *types.Var) bool {
	switch p := c.Parent().Node().(type) {
	case *ast.IndexExpr, *ast.RangeStmt, *ast.BinaryExpr, *ast.IncDecStmt:
		return false
	case *ast.SliceExpr:
		return leaves(info, c.Parent(), v)
	case *ast.AssignStmt:
		for _, l := range p.Lhs {
			if ast.Unparen(l) == c.Node() {
				return false
			}
		}
		return len(p.Lhs) != 1 || !isVar(info, p.Lhs[0], v)
	case *ast.UnaryExpr:
		return p.Op == token.AND
	case *ast.CallExpr:
		if info.Types[p.Fun].IsType() {
			return !isString(info.TypeOf(p))
		}
		switch edit.Builtin(info, p) {
		case "len", "cap", "copy", "clear":
			return false
		case "append":
			if p.Args[0] != c.Node() {
				return !p.Ellipsis.IsValid() // append copies its elements
			}
			return leaves(info, c.Parent(), v)
		}
		// append-like: b = strconv.AppendInt(b, …) stays with b.
		if a, ok := c.Parent().Parent().Node().(*ast.AssignStmt); ok && len(a.Lhs) == 1 && isVar(info, a.Lhs[0], v) {
			return false
		}
		return !writes(info, p)
	}
	return true
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// writes reports whether a call is a Write method, which must not keep its
// argument, or a function of the standard library that only reads.
func writes(info *types.Info, call *ast.CallExpr) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if _, method := info.Selections[sel]; method && (sel.Sel.Name == "Write" || sel.Sel.Name == "WriteAt") {
			return true
		}
	}
	for _, pkg := range []string{"bytes", "strings", "sort", "slices"} {
		switch typename.Function(info, call, pkg) {
		case "Equal", "Compare", "Contains", "HasPrefix", "HasSuffix", "Index", "IndexByte", "Sort", "SortFunc", "Strings", "Ints":
			return true
		}
	}
	return false
}

func isVar(info *types.Info, e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && info.ObjectOf(id) == v
}

// outermost returns the declaration that contains a function literal.
func outermost(fn inspector.Cursor) inspector.Cursor {
	for cur := range fn.Enclosing((*ast.FuncDecl)(nil)) {
		return cur
	}
	return fn
}
