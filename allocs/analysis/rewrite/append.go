// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// AppendInto writes append(b, f(x)...) as the function that appends to b, where
// f makes a string only to be copied: Time.Format, strconv and fmt.
var AppendInto = rule.Steady("appendinto", "append in place instead of making a string first", func(pass *rule.Pass) {
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		if edit.Builtin(pass.TypesInfo, call) != "append" || len(call.Args) != 2 || !call.Ellipsis.IsValid() || !isBytes(pass.TypesInfo.TypeOf(call)) {
			continue
		}
		if isBytes(pass.TypesInfo.TypeOf(call.Args[0])) {
			propose(pass, call, appendInto(pass, cur, call))
		}
	}
})

func appendInto(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr) []analysis.SuggestedFix {
	info, dst := pass.TypesInfo, call.Args[0]
	from, ok := ast.Unparen(call.Args[1]).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if x := conversion(info, from, isBytes); x != nil && isString(info.TypeOf(x)) {
		return edit.Replace("append the string itself", from, text(pass, x))
	}
	// The slice is read before or after the call, and it may not matter which.
	args := from.Args
	recv, method := typename.Method(info, from, "time", "Time")
	if recv != nil {
		args = append([]ast.Expr{recv}, args...)
	}
	pure := plain(info, args)
	if from.Ellipsis.IsValid() || !pure && local(pass, c, target(dst)) == nil {
		return nil
	}
	if recv != nil {
		if method != "Format" || !typename.Is(info.TypeOf(recv), "time", "Time") {
			return nil
		}
		return edit.Replace("use AppendFormat", call, text(pass, recv)+".AppendFormat("+text(pass, dst)+", "+text(pass, from.Args[0])+")")
	}
	if name := typename.Function(info, from, "strconv"); name != "" {
		return appendStrconv(pass, call, from, name)
	}
	if name := fmtName(info, from, "Sprint"); typename.Function(info, from, "fmt") == "Sprint"+name && since(pass, "go1.19") {
		return appendFmt(pass, c, call, from, name, pure)
	}
	return nil
}

// appendPieces appends the pieces one after the other: in statements of their
// own, or within each other where there are no more than two.
func appendPieces(pass *rule.Pass, c inspector.Cursor, call *ast.CallExpr, pieces []piece) []analysis.SuggestedFix {
	var edits []analysis.TextEdit
	pkg := ""
	if needStrconv(pieces) {
		var ok bool
		if pkg, edits, ok = use(pass, c, "strconv"); !ok {
			return nil
		}
	}
	const message = "append the parts"
	dst := text(pass, call.Args[0])
	if len(pieces) <= 2 {
		for i := range pieces {
			dst = pieces[i].appended(pkg, dst)
		}
		return edit.Replace(message, call, dst, edits...)
	}
	stmt := c.Parent()
	indent, alone := edit.Indent(pass.Pass, stmt.Node())
	if !alone || !inList(stmt) {
		return nil
	}
	var b strings.Builder
	to := text(pass, target(call.Args[0]))
	last := len(pieces) - 1
	switch s := stmt.Node().(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || s.Tok != token.ASSIGN || !edit.Same(pass.TypesInfo, s.Lhs[0], target(call.Args[0])) {
			return nil
		}
	case *ast.ReturnStmt:
		if len(s.Results) != 1 || local(pass, c, target(call.Args[0])) == nil {
			return nil
		}
	default:
		return nil
	}
	for i := range pieces {
		assign := to + " = "
		if _, ok := stmt.Node().(*ast.ReturnStmt); ok && i == last {
			assign = "return "
		}
		b.WriteString(assign + pieces[i].appended(pkg, dst))
		if i < last {
			b.WriteString("\n" + indent)
		}
		dst = to
	}
	return edit.Replace(message, stmt.Node(), b.String(), edits...)
}

// steadyArgs reports whether the arguments have the same values after a part
// has been appended: they do not depend on bytes or on a length.
func steadyArgs(info *types.Info, args []ast.Expr) bool {
	steady := true
	for _, a := range args {
		ast.Inspect(a, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && (!info.Types[call.Fun].IsType() || basic(info.TypeOf(call.Args[0])) == nil) {
				steady = false
			}
			return steady
		})
	}
	return steady
}

// target returns the variable that is appended to: b in b, b[:0] and append(b,
// …).
func target(e ast.Expr) ast.Expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return target(x.X)
	case *ast.CallExpr:
		if id, ok := x.Fun.(*ast.Ident); ok && id.Name == "append" && len(x.Args) > 0 {
			return target(x.Args[0])
		}
	}
	return e
}

func appendStrconv(pass *rule.Pass, call, from *ast.CallExpr, name string) []analysis.SuggestedFix {
	pkg := text(pass, from.Fun.(*ast.SelectorExpr).X)
	dst := text(pass, call.Args[0])
	if name == "Itoa" {
		n := text(pass, from.Args[0])
		return edit.Replace("use AppendInt", call, pkg+".AppendInt("+dst+", int64("+n+"), 10)")
	}
	appends := "Append" + strings.TrimPrefix(name, "Format")
	switch name {
	case "FormatInt", "FormatUint", "FormatFloat", "FormatBool", "Quote", "QuoteToASCII", "QuoteToGraphic", "QuoteRune":
	default:
		return nil
	}
	list := []string{dst}
	for _, a := range from.Args {
		list = append(list, text(pass, a))
	}
	return edit.Replace("use "+appends, call, pkg+"."+appends+"("+strings.Join(list, ", ")+")")
}

// appendFmt writes out simple pieces, and uses fmt.Append for the rest.
func appendFmt(pass *rule.Pass, c inspector.Cursor, call, from *ast.CallExpr, name string, pure bool) []analysis.SuggestedFix {
	if pieces := formatted(pass, from, from.Args, "print"+name); pieces != nil && pure && steadyArgs(pass.TypesInfo, from.Args) {
		if fix := appendPieces(pass, c, call, pieces); fix != nil {
			return fix
		}
	}
	// Other arguments of fmt could refer to the bytes that are overwritten.
	sel, ok := from.Fun.(*ast.SelectorExpr)
	if !ok || slices.ContainsFunc(from.Args, func(e ast.Expr) bool { return basic(pass.TypesInfo.TypeOf(e)) == nil }) {
		return nil
	}
	list := []string{text(pass, call.Args[0])}
	for _, a := range from.Args {
		list = append(list, text(pass, a))
	}
	return edit.Replace("use fmt.Append"+name, call, text(pass, sel.X)+".Append"+name+"("+strings.Join(list, ", ")+")")
}
