// SPDX-License-Identifier: Apache-2.0

// Package poolvalue defines a check for what is put into a sync.Pool: a value
// that is not a pointer is copied to the heap on every Put, and so is a new
// variable whose address is put.
package poolvalue

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports Put(value) and Put(&variable).
var Analyzer = &analysis.Analyzer{
	Name:     "poolvalue",
	Doc:      "report what allocates when it is put into a sync.Pool\n\nPut the pointer that Get returned.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.CallExpr)(nil)}, func(n ast.Node) {
		call := n.(*ast.CallExpr)
		if recv, name := typename.Method(pass, call, "sync", "Pool"); recv == nil || name != "Put" || len(call.Args) != 1 {
			return
		}
		arg := ast.Unparen(call.Args[0])
		if u, ok := arg.(*ast.UnaryExpr); ok {
			if id, ok := ast.Unparen(u.X).(*ast.Ident); ok {
				if v, ok := pass.TypesInfo.Uses[id].(*types.Var); ok && v.Parent() != pass.Pkg.Scope() {
					pass.ReportRangef(call, "Put(&%s) moves %s to the heap each time; put the pointer that Get returned", id.Name, id.Name)
				}
			}
			return
		}
		switch t := pass.TypesInfo.TypeOf(arg).Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		case *types.Basic:
			if t.Kind() != types.UnsafePointer && t.Kind() != types.UntypedNil {
				pass.ReportRangef(call, "a %s is copied to the heap on each Put; put a pointer", pass.TypesInfo.TypeOf(arg))
			}
		default:
			pass.ReportRangef(call, "a %s is copied to the heap on each Put; put a pointer", pass.TypesInfo.TypeOf(arg))
		}
	})
	return nil, nil
}
