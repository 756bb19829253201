// SPDX-License-Identifier: Apache-2.0

// Package pools recognises the calls of sync.Pool.
package pools

import (
	"go/ast"
	"go/types"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Put returns the value that a call puts into a pool, or nil.
func Put(info *types.Info, call *ast.CallExpr) ast.Expr {
	if recv, name := typename.Method(info, call, "sync", "Pool"); recv == nil || name != "Put" || len(call.Args) != 1 {
		return nil
	}
	return ast.Unparen(call.Args[0])
}

// Get returns the pool of the expression pool.Get().(T), or nil.
func Get(info *types.Info, e ast.Expr) (pool ast.Expr) {
	t, ok := ast.Unparen(e).(*ast.TypeAssertExpr)
	if !ok {
		return nil
	}
	call, ok := ast.Unparen(t.X).(*ast.CallExpr)
	if !ok {
		return nil
	}
	recv, name := typename.Method(info, call, "sync", "Pool")
	if name != "Get" {
		return nil
	}
	return recv
}

// Taken returns the variables of a function that it takes out of a pool or puts
// into one.
func Taken(info *types.Info, fn ast.Node) map[types.Object]bool {
	taken := map[types.Object]bool{}
	add := func(e ast.Expr) {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok && info.ObjectOf(id) != nil {
			taken[info.ObjectOf(id)] = true
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, r := range n.Rhs {
				if Get(info, r) != nil {
					add(n.Lhs[i])
				}
			}
		case *ast.CallExpr:
			if x := Put(info, n); x != nil {
				add(x)
			}
		}
		return true
	})
	return taken
}
