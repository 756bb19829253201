// SPDX-License-Identifier: Apache-2.0

// Package slogboxed defines a check for slog calls whose arguments are boxed
// before the level is looked at: they allocate even when nothing is logged.
// LogAttrs with typed attributes does not.
package slogboxed

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/printer"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// Analyzer reports such calls and suggests LogAttrs where every argument can
// be written as a typed attribute.
var Analyzer = &analysis.Analyzer{
	Name:     "slogboxed",
	Doc:      "report slog arguments that are boxed before the level is looked at\n\nLogAttrs with slog.Int, slog.String and so on boxes nothing.",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

var levels = map[string]string{"Debug": "LevelDebug", "Info": "LevelInfo", "Warn": "LevelWarn", "Error": "LevelError"}

func run(pass *analysis.Pass) (any, error) {
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	for cur := range in.Root().Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		fn, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
		if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "log/slog" || call.Ellipsis.IsValid() {
			continue
		}
		if recv := fn.Signature().Recv(); recv != nil && !typename.Is(recv.Type(), "log/slog", "Logger") {
			continue
		}
		name, withContext := strings.CutSuffix(fn.Name(), "Context")
		level, ok := levels[name]
		if !ok {
			continue
		}
		args := call.Args[min(len(call.Args), 1):]
		if withContext {
			args = call.Args[min(len(call.Args), 2):]
		}
		if !boxes(pass, args) {
			continue
		}
		file := cur
		for f := range cur.Enclosing((*ast.File)(nil)) {
			file = f
		}
		pass.Report(analysis.Diagnostic{
			Pos: call.Pos(), End: call.End(),
			Message:        "arguments of " + fn.Name() + " are boxed before the level is looked at; LogAttrs boxes nothing",
			SuggestedFixes: fix(pass, call, file.Node().(*ast.File), level, withContext, args),
		})
	}
	return nil, nil
}

// boxes tells whether an argument is copied to the heap to become an any:
// constants and what is a pointer already are not.
func boxes(pass *analysis.Pass, args []ast.Expr) bool {
	for _, a := range args {
		tv := pass.TypesInfo.Types[a]
		if tv.Value != nil {
			continue
		}
		switch tv.Type.Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		default:
			return true
		}
	}
	return false
}

// fix rewrites the call, or returns nil when not every argument is understood.
func fix(pass *analysis.Pass, call *ast.CallExpr, file *ast.File, level string, withContext bool, args []ast.Expr) []analysis.SuggestedFix {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	slogName := imported(file, "log/slog", "slog")
	if slogName == "" {
		return nil
	}
	var attrs []string
	for i := 0; i < len(args); i++ {
		if typename.Is(pass.TypesInfo.TypeOf(args[i]), "log/slog", "Attr") {
			attrs = append(attrs, text(pass, args[i]))
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
		attrs = append(attrs, fmt.Sprintf("%s.%s(%s, %s)", slogName, attr, text(pass, args[i]), text(pass, args[i+1])))
		i++
	}
	var edits []analysis.TextEdit
	ctx, message := "", call.Args[0]
	if withContext {
		ctx, message = text(pass, call.Args[0]), call.Args[1]
	} else {
		name := imported(file, "context", "context")
		if name == "" {
			edits = append(edits, importContext(file))
			name = "context"
		}
		ctx = name + ".Background()"
	}
	parts := append([]string{ctx, slogName + "." + level, text(pass, message)}, attrs...)
	edits = append(edits, analysis.TextEdit{Pos: sel.Sel.Pos(), End: call.End(), NewText: []byte("LogAttrs(" + strings.Join(parts, ", ") + ")")})
	return []analysis.SuggestedFix{{Message: "use LogAttrs", TextEdits: edits}}
}

// importContext adds the import to the first group, or makes one.
func importContext(file *ast.File) analysis.TextEdit {
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Lparen.IsValid() {
			return analysis.TextEdit{Pos: g.Lparen + 1, End: g.Lparen + 1, NewText: []byte("\n\t\"context\"")}
		}
	}
	return analysis.TextEdit{Pos: file.Name.End(), End: file.Name.End(), NewText: []byte("\n\nimport \"context\"")}
}

// imported is the name that a file knows a package by, or "".
func imported(file *ast.File, path, name string) string {
	for _, s := range file.Imports {
		if s.Path.Value == `"`+path+`"` {
			if s.Name == nil {
				return name
			}
			if s.Name.Name != "_" && s.Name.Name != "." {
				return s.Name.Name
			}
		}
	}
	return ""
}

// constructor is the function of slog for a value of the type, or "" when it
// would be boxed by Any just as well.
func constructor(t types.Type) string {
	if typename.Is(t, "time", "Duration") {
		return "Duration"
	}
	if typename.Is(t, "time", "Time") {
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

func text(pass *analysis.Pass, n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, pass.Fset, n); err != nil {
		return ""
	}
	return b.String()
}
