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

// same lists the functions of package strings that package bytes has, too; true
// if their second argument is a []byte there.
var same = map[string]bool{
	"HasPrefix": true, "HasSuffix": true, "Contains": true, "Index": true, "LastIndex": true, "Count": true, "EqualFold": true,
	"IndexByte": false, "IndexRune": false, "IndexAny": false, "ContainsRune": false, "ContainsAny": false,
}

// BytesFunc writes strings.F(string(b), "text") as bytes.F(b, []byte("text")).
var BytesFunc = rule.Steady("bytesfunc", "look into the bytes without a copy", func(pass *rule.Pass) {
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		name := typename.Function(pass.TypesInfo, call, "strings")
		bytesToo, ok := same[name]
		if !ok || len(call.Args) != 2 {
			continue
		}
		b := conversion(pass.TypesInfo, call.Args[0], isString)
		if b == nil || !isBytes(pass.TypesInfo.TypeOf(b)) || bytesToo && pass.TypesInfo.Types[call.Args[1]].Value == nil {
			continue
		}
		pkg, edits, ok := use(pass, cur, "bytes")
		if !ok {
			continue
		}
		second := text(pass, call.Args[1])
		if bytesToo {
			second = "[]byte(" + second + ")"
		}
		propose(pass, call, edit.Replace("use package bytes", call, pkg+"."+name+"("+text(pass, b)+", "+second+")", edits...))
	}
})

// KeyBytes moves string(b) from a variable to its only use, in the next
// statement, where it is the key of a map that is read or one side of == or !=:
// the compiler copies nothing there.
var KeyBytes = rule.Steady("keybytes", "convert bytes where no copy is needed", func(pass *rule.Pass) {
	for cur, a := range rule.Nodes[*ast.AssignStmt](pass) {
		if a.Tok.String() != ":=" || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !inList(cur) {
			continue
		}
		b := conversion(pass.TypesInfo, a.Rhs[0], isString)
		if b == nil || !isBytes(pass.TypesInfo.TypeOf(b)) || !edit.Pure(pass.TypesInfo, b) {
			continue
		}
		next, ok := cur.NextSibling()
		if !ok {
			continue
		}
		if use := onlyUse(pass, cur, next, a.Lhs[0]); use != nil {
			end := next.Node().Pos()
			if commented(pass, cur, next) {
				end = a.End() // keep the comment that is written there
			}
			propose(pass, a, edit.Fix("convert it in place",
				analysis.TextEdit{Pos: a.Pos(), End: end},
				analysis.TextEdit{Pos: use.Pos(), End: use.End(), NewText: []byte(text(pass, a.Rhs[0]))}))
		}
	}
})

// onlyUse returns the only use of a variable if it is such a place in the
// statement, and no call before it could change the bytes.
func onlyUse(pass *rule.Pass, c, next inspector.Cursor, name ast.Expr) *ast.Ident {
	info := pass.TypesInfo
	v := info.ObjectOf(name.(*ast.Ident))
	fn, _ := rule.Function(c)
	var at inspector.Cursor
	uses := 0
	for use, id := range rule.Below[*ast.Ident](fn) {
		if v != nil && info.Uses[id] == v {
			at, uses = use, uses+1
		}
	}
	if uses != 1 || !readOnce(info, at) {
		return nil
	}
	var parts []ast.Node
	switch s := next.Node().(type) {
	case *ast.IfStmt:
		if s.Init != nil {
			parts = append(parts, s.Init)
		}
		parts = append(parts, s.Cond)
	case *ast.AssignStmt, *ast.ReturnStmt:
		parts = append(parts, s)
	}
	within := false
	for _, p := range parts {
		within = within || p.Pos() <= at.Node().Pos() && at.Node().End() <= p.End()
		calls := false
		ast.Inspect(p, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				calls = calls || !edit.Pure(info, n)
			case *ast.FuncLit, *ast.UnaryExpr:
				calls = true
			}
			return !calls
		})
		if calls {
			return nil
		}
	}
	if !within {
		return nil
	}
	return at.Node().(*ast.Ident)
}

// readOnce reports whether the place is the key of a map that is read, or one
// side of a comparison.
func readOnce(info *types.Info, c inspector.Cursor) bool {
	switch p := c.Parent().Node().(type) {
	case *ast.BinaryExpr:
		return p.Op == token.EQL || p.Op == token.NEQ
	case *ast.IndexExpr:
		if _, ok := info.TypeOf(p.X).Underlying().(*types.Map); !ok || p.Index != c.Node() || !edit.Pure(info, p.X) {
			return false
		}
		switch outer := c.Parent().Parent().Node().(type) {
		case *ast.AssignStmt:
			for _, l := range outer.Lhs {
				if l == p {
					return false
				}
			}
			return true
		case *ast.IncDecStmt, *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr:
			return false
		}
		return true
	}
	return false
}

// commented reports whether something is written between two statements.
func commented(pass *rule.Pass, a, b inspector.Cursor) bool {
	for _, g := range rule.Around[*ast.File](a).Comments {
		if g.Pos() > a.Node().Pos() && g.Pos() < b.Node().Pos() {
			return true
		}
	}
	return false
}
