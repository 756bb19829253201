// SPDX-License-Identifier: Apache-2.0

// Package boxedlevel defines a check for arguments of Debug and Trace calls
// that are boxed where the call is written, before the logger looks at the
// level: the call allocates even when nothing is logged.
package boxedlevel

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/guard"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports arguments that are boxed for zap's sugared Debug calls and
// zap.Any in Debug, for logr's V(n) with n above 0, and for Any and Interface
// in a chain that begins with Debug or Trace of nib, zerolog or phuslu. Calls
// that are guarded by a check of the level are ignored.
var Analyzer = rule.Steady("boxedlevel",
	"report arguments of Debug and Trace calls that are boxed before the level is looked at\n\nUse the typed method, or ask for the level first.", run)

func run(pass *rule.Pass) {
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		d := event(pass.TypesInfo, call)
		if d == nil {
			d = variadic(pass.TypesInfo, call)
		}
		if d == nil || guard.Guarded(cur) {
			continue
		}
		if d.typed != "" {
			d.SuggestedFixes = rename(pass, call, d)
		}
		pass.Report(d.Diagnostic)
	}
}

// diagnostic is a report, with the equivalent typed method if there is one.
type diagnostic struct {
	analysis.Diagnostic
	typed string
}

const zap, logr = "go.uber.org/zap", "github.com/go-logr/logr"

// event looks at .Any(key, value) and .Interface(key, value) of an event.
func event(info *types.Info, call *ast.CallExpr) *diagnostic {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) != 2 || sel.Sel.Name != "Any" && sel.Sel.Name != "Interface" || !typename.IsEvent(info.TypeOf(sel.X)) {
		return nil
	}
	value := call.Args[1]
	level := begins(info, sel.X)
	if level == "" || !typename.Boxes(info, value) {
		return nil
	}
	instead := "ask for the level first"
	typed := method(info.TypeOf(value))
	switch {
	case typed != "":
		instead = "use " + typed
	case typename.Is(info.TypeOf(call), "github.com/nib-log/nib", "Event"):
		instead = "use nib.Val"
	}
	return report(call, fmt.Sprintf("%s boxes %s even when %s is off; %s", sel.Sel.Name, types.ExprString(value), level, instead), typed)
}

func report(call *ast.CallExpr, message, typed string) *diagnostic {
	return &diagnostic{analysis.Diagnostic{Pos: call.Pos(), End: call.End(), Message: message}, typed}
}

// begins returns the method of the logger that a chain begins with when it is
// Debug or Trace, or "".
func begins(info *types.Info, e ast.Expr) string {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return ""
		}
		var receiver ast.Expr
		name := ""
		switch fun := ast.Unparen(call.Fun).(type) {
		case *ast.SelectorExpr:
			receiver, name = fun.X, fun.Sel.Name
		case *ast.Ident:
			name = fun.Name
		}
		if receiver == nil || !typename.IsEvent(info.TypeOf(receiver)) {
			if name == "Debug" || name == "Trace" {
				return name
			}
			return ""
		}
		e = receiver
	}
}

// method returns the method of an event for a type, if that method writes the
// same text as Any. Only predeclared numbers and bools have one: Any looks for
// methods of named types, and encoding/json escapes strings in its own way.
func method(t types.Type) string {
	b, ok := types.Unalias(t).(*types.Basic)
	if !ok || b.Info()&(types.IsInteger|types.IsBoolean) == 0 || b.Kind() == types.Uintptr || b.Info()&types.IsUntyped != 0 {
		return ""
	}
	return strings.ToUpper(b.Name()[:1]) + b.Name()[1:]
}

// variadic looks at calls with a list of any.
func variadic(info *types.Info, call *ast.CallExpr) *diagnostic {
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok || fn.Signature().Recv() == nil || call.Ellipsis.IsValid() {
		return nil
	}
	recv := fn.Signature().Recv().Type()
	switch name := fn.Name(); {
	case typename.Is(recv, zap, "SugaredLogger") && strings.HasPrefix(name, "Debug"):
		if boxed := boxed(info, call.Args); boxed != "" {
			return report(call, fmt.Sprintf("%s boxes %s even when the level is off; use Logger.Debug with typed fields, or ask for the level first", name, boxed), "")
		}
	case typename.Is(recv, zap, "Logger") && name == "Debug":
		return zapAny(info, call)
	case typename.Is(recv, logr, "Logger") && name == "Info" && above(info, call):
		if boxed := boxed(info, call.Args); boxed != "" {
			return report(call, fmt.Sprintf("Info boxes %s even when the level is off; ask Enabled first", boxed), "")
		}
	}
	return nil
}

// zapAny looks for zap.Any among the fields of Debug.
func zapAny(info *types.Info, call *ast.CallExpr) *diagnostic {
	for _, a := range call.Args {
		field, ok := ast.Unparen(a).(*ast.CallExpr)
		if !ok || len(field.Args) != 2 || !typename.Calls(info, field, zap, "Any") || !typename.Boxes(info, field.Args[1]) {
			continue
		}
		typed := method(info.TypeOf(field.Args[1]))
		instead := "ask for the level first"
		if typed != "" {
			instead = "use zap." + typed
		}
		d := report(field, fmt.Sprintf("Any boxes %s even when the level is off; %s", types.ExprString(field.Args[1]), instead), typed)
		return d
	}
	return nil
}

// boxed returns the first argument that is copied to the heap, or "". A value
// that a call returns as an any is boxed already.
func boxed(info *types.Info, args []ast.Expr) string {
	for _, a := range args {
		if b, ok := info.TypeOf(a).Underlying().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			continue
		}
		if typename.Boxes(info, a) && !typename.Is(info.TypeOf(a), zap, "Field") {
			return types.ExprString(a)
		}
	}
	return ""
}

// above reports whether the logger is l.V(n) with a constant n above 0.
func above(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := ast.Unparen(sel.X).(*ast.CallExpr)
	if !ok || len(v.Args) != 1 {
		return false
	}
	recv, name := typename.Method(info, v, logr, "Logger")
	n := info.Types[v.Args[0]].Value
	return recv != nil && name == "V" && n != nil && n.Kind() == constant.Int && constant.Sign(n) > 0
}

// rename writes the typed method instead of Any or Interface.
func rename(pass *rule.Pass, call *ast.CallExpr, d *diagnostic) []analysis.SuggestedFix {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if d.Pos != call.Pos() || !ok {
		for _, a := range call.Args {
			if field, isCall := a.(*ast.CallExpr); isCall && field.Pos() == d.Pos {
				sel, ok = ast.Unparen(field.Fun).(*ast.SelectorExpr)
			}
		}
	}
	if !ok {
		return nil
	}
	// Not every logger has a method for every size of number.
	if t := pass.TypesInfo.TypeOf(sel.X); typename.IsEvent(t) {
		if o, _, _ := types.LookupFieldOrMethod(t, true, pass.Pkg, d.typed); o == nil {
			return nil
		}
	}
	return edit.Replace("use "+d.typed, sel.Sel, d.typed)
}
