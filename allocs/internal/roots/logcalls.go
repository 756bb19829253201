// SPDX-License-Identifier: Apache-2.0

package roots

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// loggers are recognised by the package and the name of the function or method
// that ends a log call. Names are compared without the suffixes f, ln, w,
// Context and Func.
var loggers = map[string][]string{
	"github.com/nib-log/nib":       {"Msg", "Send"},
	"log/slog":                     {"Debug", "Info", "Warn", "Error", "Log", "LogAttrs"},
	"go.uber.org/zap":              {"Debug", "Info", "Warn", "Error", "DPanic", "Panic", "Fatal", "Log", "Write"},
	"github.com/rs/zerolog":        {"Msg", "Send", "Print"},
	"github.com/rs/zerolog/log":    {"Print"},
	"github.com/sirupsen/logrus":   {"Trace", "Debug", "Info", "Print", "Warn", "Warning", "Error", "Fatal", "Panic", "Log"},
	"github.com/phuslu/log":        {"Msg", "Msgs", "Send"},
	"github.com/go-logr/logr":      {"Info", "Error"},
	"log":                          {"Print", "Fatal", "Panic"},
	"github.com/charmbracelet/log": {"Debug", "Info", "Warn", "Error", "Print", "Fatal", "Log"},
}

var variants = []string{"", "f", "ln", "w", "Context", "Func", "Fn"}

// endsLogCall reports whether fn is a function that writes a log event.
func endsLogCall(fn *types.Func) bool {
	if fn == nil || fn.Pkg() == nil {
		return false
	}
	path := fn.Pkg().Path()
	if i := strings.LastIndex(path, "/vendor/"); i >= 0 {
		path = path[i+len("/vendor/"):]
	}
	for _, name := range loggers[path] {
		rest, ok := strings.CutPrefix(fn.Name(), name)
		if !ok {
			continue
		}
		if slices.Contains(variants, rest) {
			return receiverLogs(fn)
		}
	}
	return false
}

// receiverLogs leaves out methods that only share a name with a log call:
// those of handlers, cores, hooks and errors.
func receiverLogs(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	if recv == nil {
		return true
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	switch name := n.Obj().Name(); name {
	case "Logger", "SugaredLogger", "Event", "Entry", "CheckedEntry", "FieldLogger", "StdLogger",
		"Ext1FieldLogger":
		return true
	}
	return false
}

// calls adds the log calls in a function and its function literals.
func (s *Set) calls(fset *token.FileSet, info *types.Info, fn *ast.FuncDecl, in Root) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var id *ast.Ident
		switch f := ast.Unparen(call.Fun).(type) {
		case *ast.SelectorExpr:
			id = f.Sel
		case *ast.Ident:
			id = f
		}
		if id == nil {
			return true
		}
		callee, _ := info.Uses[id].(*types.Func)
		if !endsLogCall(callee) {
			return true
		}
		r := in
		r.Kind, r.Max = LogCall, Unlimited
		r.Line, r.End = fset.Position(call.Pos()).Line, fset.Position(call.End()).Line
		r.Text = oneLine(types.ExprString(call))
		s.Roots = append(s.Roots, r)
		return true
	})
}

// oneLine shortens an expression so that it fits beside a position.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
