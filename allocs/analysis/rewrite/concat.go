// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// FormatConcat writes fmt.Sprintf of strings, whole numbers and bools as their
// concatenation, which boxes nothing.
var FormatConcat = rule.Steady("formatconcat", "join strings instead of formatting them", func(pass *rule.Pass) {
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		name := fmtName(pass.TypesInfo, call, "S")
		if name != "printf" && name != "print" {
			continue
		}
		// append(b, fmt.Sprintf(…)...) has a better form.
		if outer, ok := cur.Parent().Node().(*ast.CallExpr); ok && edit.Builtin(pass.TypesInfo, outer) == "append" && outer.Ellipsis.IsValid() {
			continue
		}
		if pieces := formatted(pass, call, call.Args, name); pieces != nil {
			propose(pass, call, concat(pass, cur, call, pieces))
		}
	}
})

func concat(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr, pieces []piece) []analysis.SuggestedFix {
	var edits []analysis.TextEdit
	pkg := ""
	if needStrconv(pieces) {
		var ok bool
		if pkg, edits, ok = use(pass, c, "strconv"); !ok {
			return nil
		}
	}
	var parts []string
	for i := range pieces {
		parts = append(parts, pieces[i].asString(pass, pkg))
	}
	out := strings.Join(parts, " + ")
	if len(parts) == 1 && pieces[0].kind == str && pass.TypesInfo.Types[pieces[0].arg].Value != nil {
		return nil // the result would become a constant
	}
	switch c.Parent().Node().(type) {
	case *ast.BinaryExpr, *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr:
		if len(parts) > 1 {
			out = "(" + out + ")"
		}
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		return nil
	}
	return edit.Replace("join the parts", call, out, edits...)
}
