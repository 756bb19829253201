// SPDX-License-Identifier: Apache-2.0

// Package rewrite has the suggested edits that are not checks: each of them
// replaces an expression by an equivalent one that allocates less. That is
// worth the change only on lines that are known to allocate, so allocs --fix
// applies them only there.
//
// An edit is offered only if it certainly keeps the behaviour. These edits
// nearly do, and are left out: strings.EqualFold for two ToLower (they differ
// on İ and ſ), an error that is made once for errors.New (two errors become
// equal), io.WriteString for an interface and WriteString of a bufio.Writer
// (its WriteString may call another method of the underlying writer than its
// Write), a capacity for a slice that is nil when it stays empty, a time zone
// that is loaded once (an error would stay).
package rewrite

import (
	"go/ast"
	"go/types"
	"go/version"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Analyzers lists all rewrites. Each diagnostic has one suggested fix.
var Analyzers = []*analysis.Analyzer{
	AppendInto, BufferPrint, BytesFunc, Capacity, FormatConcat, KeyBytes, RegexpOnce, SortSlice, WriteString,
}

// propose reports a fix at the node that allocates, unless it would remove a
// comment.
func propose(pass *rule.Pass, at ast.Node, fix []analysis.SuggestedFix) {
	if len(fix) > 0 && !edit.LosesComment(fileOf(pass, at), fix[0].TextEdits) {
		pass.Report(analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fix[0].Message, SuggestedFixes: fix})
	}
}

func text(pass *rule.Pass, n ast.Node) string { return edit.Text(pass.Pass, n) }

// fileOf returns the file that a node is in.
func fileOf(pass *rule.Pass, n ast.Node) *ast.File {
	for _, f := range pass.Files {
		if f.FileStart <= n.Pos() && n.Pos() < f.FileEnd {
			return f
		}
	}
	return nil
}

// use returns the name of a package at a place, and the edits that import it.
func use(pass *rule.Pass, c inspector.Cursor, pkg string) (string, []analysis.TextEdit, bool) {
	return edit.Import(pass.Pass, rule.Around[*ast.File](c), c.Node().Pos(), pkg)
}

// since reports whether the module has a release of Go at least.
func since(pass *rule.Pass, release string) bool {
	v := pass.Pkg.GoVersion()
	return v == "" || version.Compare(v, release) >= 0
}

// basic returns the predeclared type of an expression; nil for named types,
// whose methods fmt would call.
func basic(t types.Type) *types.Basic {
	b, _ := types.Unalias(t).(*types.Basic)
	return b
}

func isBytes(t types.Type) bool {
	s, ok := types.Unalias(t).(*types.Slice)
	return ok && basic(s.Elem()) != nil && basic(s.Elem()).Kind() == types.Uint8
}

func isString(t types.Type) bool {
	b := basic(t)
	return b != nil && b.Info()&types.IsString != 0
}

// conversion returns x of T(x) if T fits, or nil.
func conversion(info *types.Info, e ast.Expr, to func(types.Type) bool) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() || !to(info.TypeOf(call.Fun)) {
		return nil
	}
	return call.Args[0]
}

// inList reports whether a statement is in a list, where several can take its
// place.
func inList(c inspector.Cursor) bool {
	switch p := c.Parent().Node().(type) {
	case *ast.BlockStmt:
		return true
	case *ast.CaseClause, *ast.CommClause:
		comm, ok := p.(*ast.CommClause)
		return !ok || comm.Comm != c.Node()
	}
	return false
}

// local returns the variable if an expression is a local variable that only the
// enclosing function can change: its address is not taken and no function
// literal uses it.
func local(pass *rule.Pass, c inspector.Cursor, e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := pass.TypesInfo.ObjectOf(id).(*types.Var)
	fn, body := rule.Function(c)
	if !ok || body == nil || v.Pos() < fn.Node().Pos() || v.Pos() > fn.Node().End() {
		return nil
	}
	for use, id := range rule.Below[*ast.Ident](fn) {
		if pass.TypesInfo.ObjectOf(id) != v {
			continue
		}
		if u, ok := use.Parent().Node().(*ast.UnaryExpr); ok && u.Op.String() == "&" {
			return nil
		}
		if inner, _ := rule.Function(use); inner != fn && use.Node().Pos() > body.Pos() {
			return nil
		}
	}
	return v
}
