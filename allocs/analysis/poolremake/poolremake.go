// SPDX-License-Identifier: Apache-2.0

// Package poolremake defines a check for pooled objects that lose the memory
// they were pooled for: a slice or map field that is made again after Get.
package poolremake

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/fields"
	"github.com/nib-log/nib/allocs/analysis/internal/pools"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Analyzer reports x.f = make(…), x.f = nil, x.f = []T{} and append(x.f[:0:0],
// …) in functions that take x out of a pool or put it back, when the package
// uses the capacity of f elsewhere: it cuts it with [:0], appends to it or
// clears it. A field that only holds objects of others has to be set to nil. An
// assignment that depends on the size of the field is a limit, and is ignored.
var Analyzer = rule.Steady("poolremake",
	"report fields of pooled objects that are made again\n\nCut the slice with [:0] or clear the map: the capacity is what the pool keeps.", run)

func run(pass *rule.Pass) {
	var used map[types.Object]bool
	var borrowed fields.Borrowed
	for cur, a := range rule.Nodes[*ast.AssignStmt](pass) {
		for i, l := range a.Lhs {
			if len(a.Lhs) != len(a.Rhs) {
				break
			}
			sel, ok := ast.Unparen(l).(*ast.SelectorExpr)
			if !ok || !again(pass.TypesInfo, sel, a.Rhs[i]) {
				continue
			}
			fn, body := rule.Function(cur)
			id, ok := ast.Unparen(sel.X).(*ast.Ident)
			if !ok || body == nil || !pools.Taken(pass.TypesInfo, fn.Node())[pass.TypesInfo.ObjectOf(id)] {
				continue
			}
			if used == nil {
				used, borrowed = room(pass), fields.Find(pass)
			}
			field, ok := pass.TypesInfo.ObjectOf(sel.Sel).(*types.Var)
			if ok && used[field] && !borrowed.Any[field.Origin()] && !handedOn(pass.TypesInfo, fn, sel, a) && !limit(pass.TypesInfo, cur, sel) {
				report(pass, sel, id)
			}
		}
	}
}

func report(pass *rule.Pass, sel *ast.SelectorExpr, id *ast.Ident) {
	if _, ok := pass.TypesInfo.TypeOf(sel).Underlying().(*types.Map); ok {
		pass.ReportRangef(sel, "%s.%s loses the room that the pool kept; clear it", id.Name, sel.Sel.Name)
	} else {
		pass.ReportRangef(sel, "%s.%s loses the capacity that the pool kept; cut it with [:0]", id.Name, sel.Sel.Name)
	}
}

// again reports whether the field is a slice or map and is given a new or empty
// one.
func again(info *types.Info, sel *ast.SelectorExpr, r ast.Expr) bool {
	t := info.TypeOf(sel)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return remade(info, r)
	}
	return false
}

// remade reports whether an expression is a new or empty slice or map.
func remade(info *types.Info, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return info.Types[e].IsNil()
	case *ast.CompositeLit:
		return true
	case *ast.SliceExpr: // x.f[:0:0] has no capacity
		return e.Slice3 && info.Types[e.Max].Value != nil && info.Types[e.Max].Value.String() == "0"
	case *ast.CallExpr:
		if len(e.Args) == 0 {
			return false
		}
		if info.Types[e.Fun].IsType() {
			return info.Types[e.Args[0]].IsNil()
		}
		// append to something new also loses the capacity.
		name := edit.Builtin(info, e)
		return name == "make" || name == "append" && remade(info, e.Args[0])
	}
	return false
}

// room returns the fields whose capacity the package uses again.
func room(pass *rule.Pass) map[types.Object]bool {
	used := map[types.Object]bool{}
	add := func(e ast.Expr) {
		if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
			used[pass.TypesInfo.ObjectOf(sel.Sel)] = true
		}
	}
	for _, s := range rule.Nodes[*ast.SliceExpr](pass) {
		if s.Low == nil && !s.Slice3 && s.High != nil && pass.TypesInfo.Types[s.High].Value != nil && pass.TypesInfo.Types[s.High].Value.String() == "0" {
			add(s.X)
		}
	}
	for _, call := range rule.Nodes[*ast.CallExpr](pass) {
		if name := edit.Builtin(pass.TypesInfo, call); (name == "clear" || name == "delete") && len(call.Args) > 0 {
			add(call.Args[0])
		}
	}
	return used
}

// handedOn reports whether the function passes the slice itself on; the object
// must then drop it.
func handedOn(info *types.Info, fn inspector.Cursor, sel *ast.SelectorExpr, self *ast.AssignStmt) bool {
	for c, other := range rule.Below[*ast.SelectorExpr](fn) {
		if other == sel || !edit.Same(info, other, sel) {
			continue
		}
		switch p := c.Parent().Node().(type) {
		case *ast.ReturnStmt, *ast.CompositeLit, *ast.KeyValueExpr, *ast.SendStmt:
			return true
		case *ast.AssignStmt:
			for i, r := range p.Rhs {
				if p != self && ast.Unparen(r) == other && i < len(p.Lhs) && !edit.Same(info, p.Lhs[i], sel) {
					return true
				}
			}
		}
	}
	return false
}

// limit reports whether the assignment depends on the field itself, as in if
// cap(x.buf) > most { x.buf = nil }.
func limit(info *types.Info, c inspector.Cursor, sel *ast.SelectorExpr) (found bool) {
	for cur := range c.Enclosing((*ast.IfStmt)(nil), (*ast.CaseClause)(nil)) {
		var conditions []ast.Expr
		switch n := cur.Node().(type) {
		case *ast.IfStmt:
			conditions = append(conditions, n.Cond)
		case *ast.CaseClause:
			conditions = n.List
		}
		for _, cond := range conditions {
			ast.Inspect(cond, func(n ast.Node) bool {
				if e, ok := n.(*ast.SelectorExpr); ok && edit.Same(info, e, sel) {
					found = true
				}
				if call, ok := n.(*ast.CallExpr); ok && edit.Builtin(info, call) == "cap" {
					found = true
				}
				return !found
			})
		}
	}
	return found
}
