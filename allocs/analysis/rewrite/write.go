// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"go/ast"
	"go/types"

	"github.com/nib-log/nib/allocs/analysis/internal/edit"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
	"github.com/nib-log/nib/allocs/analysis/internal/typename"
)

// WriteString writes w.Write([]byte(s)) as w.WriteString(s), and
// w.WriteString(string(b)) as w.Write(b), for types of the standard library on
// which both do the same.
var WriteString = rule.Steady("writestring", "write without a copy", func(pass *rule.Pass) {
	for _, call := range rule.Nodes[*ast.CallExpr](pass) {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) != 1 || !writer(pass.TypesInfo, call) {
			continue
		}
		switch sel.Sel.Name {
		case "Write":
			if s := conversion(pass.TypesInfo, call.Args[0], isBytes); s != nil && isString(pass.TypesInfo.TypeOf(s)) {
				propose(pass, call, edit.Fix("use WriteString", edit.Replace("", sel.Sel, "WriteString")[0].TextEdits[0], edit.Replace("", call.Args[0], text(pass, s))[0].TextEdits[0]))
			}
		case "WriteString":
			if b := conversion(pass.TypesInfo, call.Args[0], isString); b != nil && isBytes(pass.TypesInfo.TypeOf(b)) {
				propose(pass, call, edit.Fix("use Write", edit.Replace("", sel.Sel, "Write")[0].TextEdits[0], edit.Replace("", call.Args[0], text(pass, b))[0].TextEdits[0]))
			}
		}
	}
})

func writer(info *types.Info, call *ast.CallExpr) bool {
	for _, t := range []struct{ pkg, name string }{{"bytes", "Buffer"}, {"strings", "Builder"}, {"os", "File"}} {
		// A type that embeds such a type can define one of the methods itself.
		if recv, _ := typename.Method(info, call, t.pkg, t.name); recv != nil && typename.Is(info.TypeOf(recv), t.pkg, t.name) {
			return true
		}
	}
	return false
}
