// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// BufferPrint writes fmt.Fprintf to a bytes.Buffer or strings.Builder as the
// writes that it does. Other writers would see several writes instead of one.
var BufferPrint = rule.Steady("bufferprint", "write into the buffer without fmt", func(pass *rule.Pass) {
	for cur, s := range rule.Nodes[*ast.ExprStmt](pass) {
		call, ok := s.X.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			continue
		}
		name := fmtName(pass.TypesInfo, call, "F")
		if name != "printf" && name != "print" || !plain(pass.TypesInfo, call.Args[1:]) || !steadyArgs(pass.TypesInfo, call.Args[1:]) || !inList(cur) {
			continue
		}
		if pieces := formatted(pass, call, call.Args[1:], name); pieces != nil {
			propose(pass, s, bufferPrint(pass, cur, call, pieces))
		}
	}
})

func bufferPrint(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr, pieces []piece) []analysis.SuggestedFix {
	w := ast.Unparen(call.Args[0])
	t := pass.TypesInfo.TypeOf(w)
	builder := typename.Is(t, "strings", "Builder")
	if !builder && !typename.Is(t, "bytes", "Buffer") {
		return nil
	}
	if u, ok := w.(*ast.UnaryExpr); ok && u.Op == token.AND {
		w = u.X
	}
	if !edit.Pure(pass.TypesInfo, w) {
		return nil
	}
	var edits []analysis.TextEdit
	pkg := ""
	if needStrconv(pieces) {
		var ok bool
		if pkg, edits, ok = use(pass, c, "strconv"); !ok {
			return nil
		}
	}
	indent, alone := edit.Indent(pass.Pass, c.Node())
	if !alone {
		return nil
	}
	to := text(pass, w)
	var lines []string
	for i := range pieces {
		p := &pieces[i]
		switch {
		case p.kind == literal, p.kind == str, p.kind == boolean:
			lines = append(lines, to+".WriteString("+p.asString(pass, pkg)+")")
		case builder || !since(pass, "go1.21"):
			return nil // only bytes.Buffer has AvailableBuffer
		default:
			lines = append(lines, to+".Write("+p.appended(pkg, to+".AvailableBuffer()")+")")
		}
	}
	return edit.Replace("write the parts", call, strings.Join(lines, "\n"+indent), edits...)
}
