// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// RegexpOnce moves regexp.MustCompile of a constant out of a function. It must
// compile, or the program would panic when it starts, and the function must
// only match with it: Longest would change it for all its users.
var RegexpOnce = rule.Steady("regexponce", "compile the expression once", func(pass *rule.Pass) {
	named := map[string]int{}
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		if !typename.Calls(pass.TypesInfo, call, "regexp", "MustCompile") || len(call.Args) != 1 {
			continue
		}
		v := pass.TypesInfo.Types[call.Args[0]].Value
		decl := rule.Around[*ast.FuncDecl](cur)
		if v == nil || decl == nil || !matchesOnly(pass.TypesInfo, cur) || mentions(pass, call, decl) {
			continue
		}
		if _, err := regexp.Compile(constant.StringVal(v)); err != nil {
			continue
		}
		propose(pass, call, compileOnce(pass, cur, call, decl, named))
	}
})

// mentions reports whether the constant refers to a name that is local to the
// function.
func mentions(pass *rule.Pass, call *ast.CallExpr, decl *ast.FuncDecl) (found bool) {
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			o := pass.TypesInfo.Uses[id]
			found = found || o != nil && o.Pos() >= decl.Pos() && o.Pos() < decl.End()
		}
		return true
	})
	return found
}

// matchesOnly reports whether the expression is only used to call its methods,
// directly or through a local variable.
func matchesOnly(info *types.Info, c inspector.Cursor) bool {
	if sel, ok := c.Parent().Node().(*ast.SelectorExpr); ok {
		return isCall(c.Parent(), sel)
	}
	a, ok := c.Parent().Node().(*ast.AssignStmt)
	if !ok || a.Tok.String() != ":=" || len(a.Lhs) != 1 {
		return false
	}
	v := info.ObjectOf(a.Lhs[0].(*ast.Ident))
	fn, _ := rule.Function(c)
	for use, id := range rule.Below[*ast.Ident](fn) {
		if v == nil || info.Uses[id] != v {
			continue
		}
		sel, ok := use.Parent().Node().(*ast.SelectorExpr)
		if !ok || !isCall(use.Parent(), sel) {
			return false
		}
	}
	return v != nil
}

func isCall(c inspector.Cursor, sel *ast.SelectorExpr) bool {
	call, ok := c.Parent().Node().(*ast.CallExpr)
	return ok && call.Fun == sel && sel.Sel.Name != "Longest" && sel.Sel.Name != "UnmarshalText"
}

func compileOnce(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr, decl *ast.FuncDecl, named map[string]int) []analysis.SuggestedFix {
	file := rule.Around[*ast.File](c)
	first, size := utf8.DecodeRuneInString(decl.Name.Name)
	name := strings.ToLower(string(first)) + decl.Name.Name[size:] + "Regexp"
	// Each fix may be applied alone, so no two of them make the same
	// variable.
	if named[name]++; named[name] > 1 {
		name = fmt.Sprintf("%s%d", name, named[name])
	}
	name = edit.Package(pass.Pass, file, call.Pos(), name)
	at := decl.Pos()
	if decl.Doc != nil {
		at = decl.Doc.Pos()
	}
	return edit.Replace("compile it once", call, name, edit.Insert(at, "var "+name+" = "+text(pass, call)+"\n\n"))
}
