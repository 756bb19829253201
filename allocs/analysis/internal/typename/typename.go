// SPDX-License-Identifier: Apache-2.0

// Package typename tells types and functions apart by the name of their
// package, for the checks of log calls and pools.
package typename

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// Is tells whether t is the named type path.name or a pointer to it.
func Is(t types.Type, path, name string) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

// events are the event types of loggers that write when Msg or Send is called.
var events = []struct{ path, name string }{
	{"github.com/nib-log/nib", "Event"}, {"github.com/rs/zerolog", "Event"}, {"github.com/phuslu/log", "Entry"},
}

// IsEvent tells whether t is a pointer to the event of such a logger.
func IsEvent(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	for _, e := range events {
		if Is(p, e.path, e.name) {
			return true
		}
	}
	return false
}

// EndsEvent tells whether a method writes the event, after which it belongs to
// the logger again.
func EndsEvent(name string) bool {
	switch name {
	case "Msg", "Msgf", "Msgs", "MsgFunc", "Send", "Discard":
		return true
	}
	return false
}

// Method returns the receiver expression of a method call on a named type, or
// nil.
func Method(pass *analysis.Pass, call *ast.CallExpr, path, typ string) (recv ast.Expr, name string) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, ""
	}
	fn, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
	if !ok || fn.Signature().Recv() == nil || !Is(fn.Signature().Recv().Type(), path, typ) {
		return nil, ""
	}
	return sel.X, fn.Name()
}

// Calls tells whether call calls the package function path.name.
func Calls(pass *analysis.Pass, call *ast.CallExpr, path, name string) bool {
	fn, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
	return ok && fn.Pkg() != nil && fn.Pkg().Path() == path && fn.Name() == name && fn.Signature().Recv() == nil
}
