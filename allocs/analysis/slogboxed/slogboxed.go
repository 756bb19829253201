// SPDX-License-Identifier: Apache-2.0

// Package slogboxed defines a check for slog calls whose arguments are boxed
// before the level is looked at: they allocate even when nothing is logged.
// LogAttrs with typed attributes does not.
package slogboxed

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

const doc = "report slog arguments that are boxed before the level is looked at\n\nLogAttrs with slog.Int, slog.String and so on boxes nothing."

// Analyzer reports such calls of Debug, the level that is usually off, and in
// functions with //alloc:none those of every level. It suggests LogAttrs if
// every argument can be written as a typed attribute. Calls that are guarded by
// a check of the level are ignored.
var Analyzer = rule.Steady("slogboxed", doc, func(pass *rule.Pass) { run(pass, all) })

// Every reports the calls of every level: for lines that are known to be hot.
var Every = rule.Steady("slogboxed", doc, func(pass *rule.Pass) { run(pass, true) })

// all is set by the flag.
var all bool

func init() {
	Analyzer.Flags.BoolVar(&all, "all", false, "report Info, Warn and Error too")
}

var levels = map[string]string{"Debug": "LevelDebug", "Info": "LevelInfo", "Warn": "LevelWarn", "Error": "LevelError"}

func run(pass *rule.Pass, every bool) {
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		fn, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
		if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "log/slog" || call.Ellipsis.IsValid() {
			continue
		}
		if recv := fn.Signature().Recv(); recv != nil && !typename.Is(recv.Type(), "log/slog", "Logger") {
			continue
		}
		name, withContext := strings.CutSuffix(fn.Name(), "Context")
		level, ok := levels[name]
		if !ok || name != "Debug" && !every && !rule.Hot(rule.Around[*ast.FuncDecl](cur)) {
			continue
		}
		args := call.Args[min(len(call.Args), 1):]
		if withContext {
			args = call.Args[min(len(call.Args), 2):]
		}
		boxes := false
		for _, a := range args {
			boxes = boxes || typename.Boxes(pass.TypesInfo, a)
		}
		if !boxes || guard.Guarded(cur) {
			continue
		}
		pass.Report(analysis.Diagnostic{
			Pos: call.Pos(), End: call.End(),
			Message:        "arguments of " + fn.Name() + " are boxed before the level is looked at; LogAttrs boxes nothing",
			SuggestedFixes: fix(pass, call, rule.Around[*ast.File](cur), level, withContext, args),
		})
	}
}

// fix rewrites the call, or returns nil if some argument is not understood.
func fix(pass *rule.Pass, call *ast.CallExpr, file *ast.File, level string, withContext bool, args []ast.Expr) []analysis.SuggestedFix {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	slogName, edits, ok := edit.Import(pass.Pass, file, call.Pos(), "log/slog")
	if !ok || len(edits) > 0 {
		return nil // called through something else: the file does not import slog
	}
	var attrs []string
	for i := 0; i < len(args); i++ {
		if value(pass.TypesInfo.TypeOf(args[i]), "log/slog", "Attr") {
			attrs = append(attrs, edit.Text(pass.Pass, args[i]))
			continue
		}
		key := pass.TypesInfo.Types[args[i]]
		if key.Value == nil || key.Value.Kind() != constant.String || i+1 == len(args) {
			return nil
		}
		attr := constructor(pass.TypesInfo.TypeOf(args[i+1]))
		if attr == "" {
			return nil
		}
		attrs = append(attrs, fmt.Sprintf("%s.%s(%s, %s)", slogName, attr, edit.Text(pass.Pass, args[i]), edit.Text(pass.Pass, args[i+1])))
		i++
	}
	ctx, message := "", call.Args[0]
	if withContext {
		ctx, message = edit.Text(pass.Pass, call.Args[0]), call.Args[1]
	} else {
		name, imports, ok := edit.Import(pass.Pass, file, call.Pos(), "context")
		if !ok {
			return nil
		}
		edits, ctx = imports, name+".Background()"
	}
	parts := append([]string{ctx, slogName + "." + level, edit.Text(pass.Pass, message)}, attrs...)
	edits = append(edits, analysis.TextEdit{Pos: sel.Sel.Pos(), End: call.End(), NewText: []byte("LogAttrs(" + strings.Join(parts, ", ") + ")")})
	if edit.LosesComment(file, edits) {
		return nil
	}
	return edit.Fix("use LogAttrs", edits...)
}

// constructor returns the function of slog for a value of the type, or "" if
// that function would box the value, too.
func constructor(t types.Type) string {
	if value(t, "time", "Duration") {
		return "Duration"
	}
	if value(t, "time", "Time") {
		return "Time"
	}
	// A named type can have methods that slog looks for in an Any.
	if b, ok := types.Unalias(t).(*types.Basic); ok {
		switch b.Kind() {
		case types.Int, types.UntypedInt:
			return "Int"
		case types.Int64:
			return "Int64"
		case types.Uint64:
			return "Uint64"
		case types.Float64, types.UntypedFloat:
			return "Float64"
		case types.Bool, types.UntypedBool:
			return "Bool"
		case types.String, types.UntypedString:
			return "String"
		}
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return "Any"
	}
	return ""
}

// value reports whether t is the named type itself, not a pointer to it.
func value(t types.Type, path, name string) bool {
	_, pointer := types.Unalias(t).(*types.Pointer)
	return !pointer && typename.Is(t, path, name)
}
