// SPDX-License-Identifier: Apache-2.0

// Package poolremake defines a check for pooled objects that lose what they
// were pooled for: a slice or map field that is made again after Get.
package poolremake

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports x.f = make(…), x.f = nil and x.f = []T{} in functions that
// got x from a pool.
var Analyzer = &analysis.Analyzer{
	Name:     "poolremake",
	Doc:      "report fields of pooled objects that are made again\n\nCut the slice with [:0] or clear the map: the capacity is what the pool keeps.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.FuncDecl)(nil)}, func(n ast.Node) {
		fn := n.(*ast.FuncDecl)
		if fn.Body == nil {
			return
		}
		pooled := map[types.Object]bool{}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for i, l := range a.Lhs {
				if i >= len(a.Rhs) {
					break
				}
				if id, ok := l.(*ast.Ident); ok && fromPool(pass, a.Rhs[i]) {
					if o := pass.TypesInfo.ObjectOf(id); o != nil {
						pooled[o] = true
					}
				}
				field(pass, pooled, l, a.Rhs[i])
			}
			return true
		})
	})
	return nil, nil
}

// fromPool tells whether an expression is pool.Get().(T).
func fromPool(pass *analysis.Pass, e ast.Expr) bool {
	t, ok := ast.Unparen(e).(*ast.TypeAssertExpr)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(t.X).(*ast.CallExpr)
	if !ok {
		return false
	}
	recv, name := typename.Method(pass, call, "sync", "Pool")
	return recv != nil && name == "Get"
}

func field(pass *analysis.Pass, pooled map[types.Object]bool, l, r ast.Expr) {
	sel, ok := ast.Unparen(l).(*ast.SelectorExpr)
	if !ok {
		return
	}
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	if !ok || !pooled[pass.TypesInfo.ObjectOf(id)] {
		return
	}
	switch pass.TypesInfo.TypeOf(sel).Underlying().(type) {
	case *types.Slice:
		if remade(pass, r) {
			pass.ReportRangef(l, "%s.%s loses the capacity that the pool kept; cut it with [:0]", id.Name, sel.Sel.Name)
		}
	case *types.Map:
		if remade(pass, r) {
			pass.ReportRangef(l, "%s.%s loses the room that the pool kept; clear it", id.Name, sel.Sel.Name)
		}
	}
}

// remade tells whether an expression is a new or empty slice or map.
func remade(pass *analysis.Pass, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return pass.TypesInfo.Types[e].IsNil()
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		b, ok := pass.TypesInfo.Uses[id].(*types.Builtin)
		if !ok {
			return false
		}
		// append to something new loses what was kept just as well.
		return b.Name() == "make" || b.Name() == "append" && len(e.Args) > 0 && fresh(pass, e.Args[0])
	}
	return false
}

func fresh(pass *analysis.Pass, e ast.Expr) bool {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 && pass.TypesInfo.Types[call.Fun].IsType() {
		return pass.TypesInfo.Types[call.Args[0]].IsNil()
	}
	return remade(pass, e)
}
