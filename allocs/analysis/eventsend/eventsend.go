// SPDX-License-Identifier: Apache-2.0

// Package eventsend defines a check for log events that are begun and never
// written: without Msg or Send nothing is logged, and an event that came from a
// pool does not go back.
package eventsend

import (
	"go/ast"
	"go/types"

	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Analyzer reports statements that end in an event.
var Analyzer = rule.New("eventsend",
	"report log events without Msg or Send\n\nThe event is not written, and does not go back to its pool.", run)

const message = "the event is never written: end it with Msg or Send"

func run(pass *rule.Pass) {
	for s := range rule.Nodes[*ast.ExprStmt](pass) {
		call, ok := s.X.(*ast.CallExpr)
		if ok && rule.IsEvent(pass.TypesInfo.TypeOf(call)) && !onVariable(pass.TypesInfo, call) &&
			!dropped(pass.TypesInfo, call) {
			pass.ReportRangef(call, message)
		}
	}
	for a := range rule.Nodes[*ast.AssignStmt](pass) {
		for i, l := range a.Lhs {
			id, ok := l.(*ast.Ident)
			if !ok || id.Name != "_" || len(a.Rhs) != len(a.Lhs) ||
				!rule.IsEvent(pass.TypesInfo.TypeOf(a.Rhs[i])) {
				continue
			}
			if call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr); ok &&
				!onVariable(pass.TypesInfo, call) {
				pass.ReportRangef(a.Rhs[i], message)
			}
		}
	}
}

// dropped reports whether the last call is Discard, after which zerolog and
// phuslu need no other call; an event of nib must still be finished.
func dropped(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Discard" &&
		rule.EventOf(info.TypeOf(call)) != "github.com/nib-log/nib"
}

// onVariable reports whether the chain of calls starts at an event that has a
// name: e.Str("k", "v") adds to it, and it can be sent later.
func onVariable(info *types.Info, call *ast.CallExpr) bool {
	for {
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return passed(info, call)
		}
		inner, ok := ast.Unparen(sel.X).(*ast.CallExpr)
		if !ok {
			return rule.IsEvent(info.TypeOf(sel.X)) || passed(info, call)
		}
		call = inner
	}
}

// passed reports whether the chain begins at a function that gets an event: the
// function may return that event.
func passed(info *types.Info, call *ast.CallExpr) bool {
	for _, a := range call.Args {
		if rule.IsEvent(info.TypeOf(a)) {
			return true
		}
	}
	return false
}
