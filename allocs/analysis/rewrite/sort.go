// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// SortSlice writes sort.Slice of strings or whole numbers in their order as
// slices.Sort. Equal elements cannot be distinguished, so the result is the
// same; for floats it may not be.
var SortSlice = rule.Steady("sortslice", "sort without reflection", func(pass *rule.Pass) {
	for cur, s := range rule.Nodes[*ast.ExprStmt](pass) {
		call, ok := s.X.(*ast.CallExpr)
		if !ok || !since(pass, "go1.21") || len(call.Args) != 2 {
			continue
		}
		if name := typename.Function(pass.TypesInfo, call, "sort"); name == "Slice" || name == "SliceStable" {
			propose(pass, s, sortSlice(pass, cur, call))
		}
	}
})

func sortSlice(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr) []analysis.SuggestedFix {
	x := call.Args[0]
	list, ok := pass.TypesInfo.TypeOf(x).Underlying().(*types.Slice)
	if !ok || !edit.Pure(pass.TypesInfo, x) {
		return nil
	}
	elem, ok := list.Elem().Underlying().(*types.Basic)
	if !ok || elem.Info()&(types.IsInteger|types.IsString) == 0 || !ascending(pass.TypesInfo, x, call.Args[1]) {
		return nil
	}
	pkg, edits, ok := use(pass, c, "slices")
	if !ok {
		return nil
	}
	return edit.Replace("use slices.Sort", call, pkg+".Sort("+text(pass, x)+")", edits...)
}

// ascending reports whether less is func(i, j int) bool { return x[i] < x[j] }.
func ascending(info *types.Info, x, less ast.Expr) bool {
	f, ok := less.(*ast.FuncLit)
	if !ok || len(f.Body.List) != 1 {
		return false
	}
	var names []*ast.Ident
	for _, p := range f.Type.Params.List {
		names = append(names, p.Names...)
	}
	r, ok := f.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(names) != 2 || len(r.Results) != 1 {
		return false
	}
	b, ok := r.Results[0].(*ast.BinaryExpr)
	return ok && b.Op == token.LSS && element(info, b.X, x, names[0]) && element(info, b.Y, x, names[1])
}

// element reports whether e is x[i].
func element(info *types.Info, e, x ast.Expr, i *ast.Ident) bool {
	at, ok := e.(*ast.IndexExpr)
	return ok && edit.Same(info, at.X, x) && edit.Same(info, at.Index, i)
}
