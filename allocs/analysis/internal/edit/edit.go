// SPDX-License-Identifier: Apache-2.0

// Package edit provides the building blocks of suggested edits.
package edit

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/analysis"
)

// Text returns the source of a node as it is written, with its comments and the
// spelling of its literals; "" if the file cannot be read.
func Text(pass *analysis.Pass, n ast.Node) string {
	from, to := pass.Fset.Position(n.Pos()), pass.Fset.Position(n.End())
	text, err := pass.ReadFile(from.Filename)
	if err != nil || to.Offset > len(text) {
		return ""
	}
	return string(text[from.Offset:to.Offset])
}

// Indent returns the white space at the beginning of the line of a node. ok is
// false if something else precedes the node on its first line, or anything but
// a comment follows it on its last line.
func Indent(pass *analysis.Pass, n ast.Node) (indent string, ok bool) {
	from, to := pass.Fset.Position(n.Pos()), pass.Fset.Position(n.End())
	text, err := pass.ReadFile(from.Filename)
	if err != nil || to.Offset > len(text) {
		return "", false
	}
	before := text[bytes.LastIndexByte(text[:from.Offset], '\n')+1 : from.Offset]
	behind, _, _ := bytes.Cut(text[to.Offset:], []byte("\n"))
	behind = bytes.TrimSpace(behind)
	return string(before), len(bytes.TrimSpace(before)) == 0 && (len(behind) == 0 || bytes.HasPrefix(behind, []byte("//")))
}

// LosesComment reports whether the edits remove a comment of the file.
func LosesComment(file *ast.File, edits []analysis.TextEdit) bool {
	for _, e := range edits {
		for _, g := range file.Comments {
			for _, c := range g.List {
				if c.Pos() >= e.Pos && c.End() <= e.End && !bytes.Contains(e.NewText, []byte(c.Text)) {
					return true
				}
			}
		}
	}
	return false
}

// Insert returns an edit that removes nothing.
func Insert(at token.Pos, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: at, End: at, NewText: []byte(text)}
}

// Fix returns a fix of several edits.
func Fix(message string, edits ...analysis.TextEdit) []analysis.SuggestedFix {
	return []analysis.SuggestedFix{{Message: message, TextEdits: edits}}
}

// Package returns an unused name for a new variable of the package: nothing at
// package level or around the position has it.
func Package(pass *analysis.Pass, file *ast.File, at token.Pos, name string) string {
	for n := 1; ; n++ {
		try := name
		if n > 1 {
			try += strconv.Itoa(n)
		}
		taken := pass.Pkg.Scope().Lookup(try) != nil
		if s := pass.TypesInfo.Scopes[file].Innermost(at); s != nil && !taken {
			_, o := s.LookupParent(try, at)
			taken = o != nil
		}
		if !taken {
			return try
		}
	}
}

// Same reports whether two pure expressions are the same variable or field.
func Same(info *types.Info, a, b ast.Expr) bool {
	switch a := ast.Unparen(a).(type) {
	case *ast.Ident:
		b, ok := ast.Unparen(b).(*ast.Ident)
		return ok && info.ObjectOf(a) != nil && info.ObjectOf(a) == info.ObjectOf(b)
	case *ast.SelectorExpr:
		b, ok := ast.Unparen(b).(*ast.SelectorExpr)
		return ok && info.ObjectOf(a.Sel) == info.ObjectOf(b.Sel) && Same(info, a.X, b.X)
	case *ast.StarExpr:
		b, ok := ast.Unparen(b).(*ast.StarExpr)
		return ok && Same(info, a.X, b.X)
	}
	return false
}

// Builtin returns the name of the builtin function that is called, or "".
func Builtin(info *types.Info, call *ast.CallExpr) string {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}
