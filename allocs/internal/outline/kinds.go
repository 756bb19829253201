// SPDX-License-Identifier: Apache-2.0

package outline

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

// kindOf returns the kind of an escape and when it allocates; ok is false if it
// never does: the compiler prints constants and pointers that are stored in an
// interface too. sure is false when the type of the value is not known.
func (w *walk) kindOf(f *function, e *compiler.Escape) (kind heapcalls.Kind, rule heapcalls.Rule, ok, sure bool) {
	what := e.What
	expr := w.expression(f, e)
	switch {
	case e.Moved, what == "... argument", strings.HasPrefix(what, "func literal"):
		return heapcalls.Object, heapcalls.Each, true, true
	case strings.HasPrefix(what, "&"), strings.HasPrefix(what, "new("):
		// Up to Go 1.16 the pointer itself is named again where it becomes an
		// interface value, which allocates nothing.
		return heapcalls.Object, heapcalls.Each, expr == nil || w.begins(expr, e.Stack[0]), true
	case strings.HasPrefix(what, "make(map"):
		return heapcalls.Map, heapcalls.Each, true, true
	case strings.HasPrefix(what, "make(chan"):
		return heapcalls.Chan, heapcalls.Each, true, true
	case strings.HasPrefix(what, "make("):
		return heapcalls.Make, heapcalls.Each, true, true
	case strings.HasPrefix(what, "append("):
		return heapcalls.Grow, heapcalls.Growth, true, true
	case strings.HasPrefix(what, "string("):
		return heapcalls.ToString, heapcalls.Sized, true, true
	case strings.HasPrefix(what, "([]byte)("), strings.HasPrefix(what, "[]byte("):
		return heapcalls.ToBytes, heapcalls.Sized, true, true
	case strings.HasPrefix(what, "[]"):
		return heapcalls.Object, heapcalls.Each, true, true
	case strings.HasPrefix(what, "map["):
		return heapcalls.Map, heapcalls.Each, true, true
	case strings.HasPrefix(what, `"`):
		return "", 0, strings.Contains(what, " + "), true
	}
	if expr == nil {
		return heapcalls.Box, heapcalls.Each, true, false
	}
	tv := f.info.Types[expr]
	if b, ok := expr.(*ast.BinaryExpr); ok && b.Op == token.ADD && stringish(tv.Type) && tv.Value == nil {
		return heapcalls.Concat, heapcalls.Sized, true, true
	}
	kind, rule, ok = boxed(tv)
	return kind, rule, ok, true
}

func stringish(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// boxed returns the allocation of storing a value in an interface.
func boxed(tv types.TypeAndValue) (heapcalls.Kind, heapcalls.Rule, bool) {
	if tv.Value != nil && tv.Value.Kind() != constant.Unknown || tv.IsNil() || tv.Type == nil {
		return "", 0, false // the value is in the executable's data
	}
	switch t := tv.Type.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return "", 0, false
	case *types.Basic:
		switch {
		case t.Kind() == types.UnsafePointer, t.Kind() == types.Bool, t.Kind() == types.Int8, t.Kind() == types.Uint8:
			return "", 0, false // a pointer, or one of 256 values that the runtime has ready
		case t.Info()&(types.IsInteger|types.IsFloat) != 0:
			return heapcalls.BoxSmall, heapcalls.Sized, true
		}
	case *types.Struct:
		if t.NumFields() == 0 {
			return "", 0, false
		}
	case *types.Array:
		if t.Len() == 0 {
			return "", 0, false
		}
	}
	return heapcalls.Box, heapcalls.Each, true
}

// expression finds the value of an escape in the source: the matching
// expression on its line. It is nil when the compiler writes it in another way,
// or when it is in a function that was inlined there.
func (w *walk) expression(f *function, e *compiler.Escape) ast.Expr {
	var out ast.Expr
	line := e.Stack[0].Line
	ast.Inspect(f.decl, func(n ast.Node) bool {
		if n == nil || w.fset.Position(n.Pos()).Line > line || w.fset.Position(n.End()).Line < line {
			return false
		}
		x, ok := n.(ast.Expr)
		if !ok || w.fset.Position(x.Pos()).Line != line || !written(x, e.What) {
			return true
		}
		if tv, ok := f.info.Types[x]; ok && tv.IsValue() && (out == nil || w.begins(x, e.Stack[0])) {
			out = x
		}
		return true
	})
	if out != nil && len(w.inlined[e.Stack[0]]) > 0 && !w.begins(out, e.Stack[0]) {
		return nil // a value of the callee that has the same name as one here
	}
	return out
}

// written reports whether the compiler writes the expression like this. Up to
// Go 1.16 it writes "T literal" for "T{...}".
func written(x ast.Expr, what string) bool {
	text := types.ExprString(x)
	if text == what {
		return true
	}
	brace := strings.IndexByte(text, '{')
	return brace > 0 && (text[:brace]+" literal" == what || text[:brace]+"{...}" == what)
}

// begins reports whether the compiler can name the expression by this position.
func (w *walk) begins(x ast.Expr, at compiler.Position) bool {
	places := []token.Pos{x.Pos()}
	switch x := x.(type) {
	case *ast.CallExpr:
		places = append(places, x.Lparen)
	case *ast.CompositeLit:
		return w.within(x, at)
	case *ast.BinaryExpr:
		places = append(places, x.OpPos)
	case *ast.UnaryExpr:
		if _, ok := ast.Unparen(x.X).(*ast.CompositeLit); ok {
			return w.within(x, at)
		}
	case *ast.SelectorExpr:
		places = append(places, x.Sel.Pos())
	}
	for _, p := range places {
		if w.position(p) == at {
			return true
		}
	}
	return false
}

// within reports whether the position is in a composite literal: up to Go 1.16
// it can be that of the last element.
func (w *walk) within(x ast.Expr, at compiler.Position) bool {
	return !before(at, w.position(x.Pos())) && before(at, w.position(x.End()))
}
