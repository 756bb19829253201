// SPDX-License-Identifier: Apache-2.0

// Package typename identifies types and functions by the name of their package,
// for the checks of log calls and pools.
package typename

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// Is reports whether t is the named type path.name or a pointer to it.
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

// IsEvent reports whether t is a pointer to the event of such a logger.
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

// EndsEvent reports whether a method writes the event, which then belongs to
// the logger again.
func EndsEvent(name string) bool {
	switch name {
	case "Msg", "Msgf", "Msgs", "MsgFunc", "Send":
		return true
	}
	return false
}

// Method returns the receiver expression of a method call on a named type, or
// nil.
func Method(info *types.Info, call *ast.CallExpr, path, typ string) (recv ast.Expr, name string) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, ""
	}
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok || fn.Signature().Recv() == nil || !Is(fn.Signature().Recv().Type(), path, typ) {
		return nil, ""
	}
	return sel.X, fn.Name()
}

// PointerShaped reports whether a value of the type is a single pointer, so
// that an interface holds it without a copy on the heap. A type parameter,
// which is unknown, counts as such.
func PointerShaped(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Kind() == types.UntypedNil
	case *types.Struct:
		return u.NumFields() == 0 || u.NumFields() == 1 && PointerShaped(u.Field(0).Type()) && !isInterface(u.Field(0).Type())
	case *types.Array:
		return u.Len() == 0 || u.Len() == 1 && PointerShaped(u.Elem()) && !isInterface(u.Elem())
	}
	return false
}

func isInterface(t types.Type) bool {
	_, ok := t.Underlying().(*types.Interface)
	return ok
}
