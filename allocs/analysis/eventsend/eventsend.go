// SPDX-License-Identifier: Apache-2.0

// Package eventsend defines a check for log events that are begun and never
// written: without Msg or Send nothing is logged, and an event that came from a
// pool does not go back.
package eventsend

import (
	"go/ast"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports statements that end in an event.
var Analyzer = &analysis.Analyzer{
	Name:     "eventsend",
	Doc:      "report log events without Msg or Send\n\nThe event is not written, and does not go back to its pool.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Preorder([]ast.Node{(*ast.ExprStmt)(nil), (*ast.AssignStmt)(nil)}, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			if !ok || !typename.IsEvent(pass.TypesInfo.TypeOf(call)) || onVariable(pass, call) {
				return
			}
			pass.ReportRangef(call, "the event is never written: end it with Msg or Send")
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				id, ok := l.(*ast.Ident)
				if ok && id.Name == "_" && len(n.Rhs) == len(n.Lhs) && typename.IsEvent(pass.TypesInfo.TypeOf(n.Rhs[i])) {
					pass.ReportRangef(n.Rhs[i], "the event is never written: end it with Msg or Send")
				}
			}
		}
	})
	return nil, nil
}

// onVariable tells whether the chain of calls starts at an event that has a
// name: e.Str("k", "v") adds to it, and it can be sent later.
func onVariable(pass *analysis.Pass, call *ast.CallExpr) bool {
	for {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		inner, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok {
			return typename.IsEvent(pass.TypesInfo.TypeOf(sel.X))
		}
		call = inner
	}
}
