// SPDX-License-Identifier: Apache-2.0

package source

import (
	"go/ast"
	"go/token"
	"strings"
)

// findSpans collects the parts of the file that steady work does not reach.
func (f *file) findSpans() {
	add := func(n ast.Node, why string) {
		f.spans = append(f.spans, span{f.line(n.Pos()), f.line(n.End()), why})
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				// The initial value of a package variable; a function
				// literal in it runs later.
				f.spans = append(f.spans, f.initial(d)...)
			}
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				f.spans = append(f.spans, f.initial(d)...)
			}
			f.findConditions(d.Body)
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.findConditions(n.Body)
		case *ast.CallExpr:
			switch name := calleeName(n); {
			case name == "panic":
				add(n, "only in a panic")
			case strings.HasSuffix(name, ".Do") && len(n.Args) == 1:
				if lit, ok := n.Args[0].(*ast.FuncLit); ok && strings.Contains(strings.ToLower(name), "once") {
					add(lit.Body, "runs once")
				}
			case name == "sync.OnceFunc" || name == "sync.OnceValue" || name == "sync.OnceValues":
				add(n, "runs once")
			}
		case *ast.CompositeLit:
			if lit := poolNew(n); lit != nil {
				add(lit, "only when the pool is empty")
			}
		case *ast.ReturnStmt:
			if k := len(n.Results); k > 0 && makesError(n.Results[k-1]) {
				add(n, "only when there is an error")
			}
		}
		return true
	})
}

// findConditions adds the branches of a function, without those of the
// literals in it, that steady work does not take.
func (f *file) findConditions(body *ast.BlockStmt) {
	if body == nil {
		return
	}
	fresh := map[string]bool{} // local variables that are new in each call
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ValueSpec:
			for _, id := range n.Names {
				_, pointer := n.Type.(*ast.StarExpr)
				fresh[id.Name] = len(n.Values) == 0 && !pointer
			}
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && n.Tok == token.DEFINE && len(n.Rhs) == 1 && makesStruct(n.Rhs[0]) {
				fresh[id.Name] = true
			}
		case *ast.IfStmt:
			why := coldCondition(n.Cond, n.Body)
			if name, _, _ := strings.Cut(nilCheck(n.Cond, token.EQL), "."); why != "" && !fresh[name] {
				f.addBody(n.Body, why)
			}
			if nilCheck(n.Cond, token.EQL) == errorName && n.Else != nil {
				f.spans = append(f.spans, span{f.line(n.Else.Pos()), f.line(n.Else.End()), "only when there is an error"})
			}
		}
		return true
	})
}

// makesStruct reports whether an expression is T{}, &T{} or new(T).
func makesStruct(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		_, ok := e.X.(*ast.CompositeLit)
		return ok && e.Op == token.AND
	case *ast.CallExpr:
		return calleeName(e) == "new"
	}
	return false
}

// addBody adds the lines of a block. The line of its opening brace also has the
// condition, whose calls are always executed.
func (f *file) addBody(b *ast.BlockStmt, why string) {
	from, to := f.line(b.Pos()), f.line(b.End())
	if from < to {
		from++
	}
	f.spans = append(f.spans, span{from, to, why})
}

// initial returns the spans of a declaration's values, or of init, outside of
// function literals.
func (f *file) initial(d ast.Decl) []span {
	inside := map[int]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			for l := f.line(lit.Pos()); l <= f.line(lit.End()); l++ {
				inside[l] = true
			}
		}
		return true
	})
	var out []span
	for l := f.line(d.Pos()); l <= f.line(d.End()); l++ {
		if !inside[l] {
			out = append(out, span{l, l, "runs once, at the start"})
		}
	}
	return out
}

// errorName represents any expression that is named like an error.
const errorName = "err"

// nilCheck returns the expression that op compares with nil: errorName for an
// error, the name of any other, or "".
func nilCheck(cond ast.Expr, op token.Token) string {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op != op {
		return ""
	}
	if id, ok := b.Y.(*ast.Ident); !ok || id.Name != "nil" {
		return ""
	}
	name := exprName(b.X)
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if last == "err" || strings.HasSuffix(last, "err") || strings.HasSuffix(last, "error") {
		return errorName
	}
	return name
}

// coldCondition returns why the body of an if statement is cold: an error is
// checked, or something is made the first time it is needed.
func coldCondition(cond ast.Expr, body *ast.BlockStmt) string {
	if nilCheck(cond, token.NEQ) == errorName {
		return "only when there is an error"
	}
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		if nilCheck(b.X, token.NEQ) == errorName && b.Op == token.LAND || nilCheck(b.Y, token.NEQ) == errorName && b.Op == token.LAND {
			return "only when there is an error"
		}
	}
	name := nilCheck(cond, token.EQL)
	if name == "" || name == errorName {
		return ""
	}
	for _, s := range body.List {
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			for _, l := range a.Lhs {
				// A local variable is nil in each call.
				if n := exprName(l); n == name && strings.Contains(n, ".") {
					return "only the first time"
				}
			}
		}
	}
	return ""
}

// poolNew returns the function literal in &sync.Pool{New: func…}.
func poolNew(n *ast.CompositeLit) *ast.FuncLit {
	if !strings.HasSuffix(exprName(n.Type), "Pool") {
		return nil
	}
	for _, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && exprName(kv.Key) == "New" {
			if lit, ok := kv.Value.(*ast.FuncLit); ok {
				return lit
			}
		}
	}
	return nil
}

// makesError reports whether an expression that is returned last makes an
// error.
func makesError(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		name := calleeName(e)
		if name == "fmt.Errorf" || name == "errors.New" || name == "errors.Join" {
			return true
		}
		last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
		return strings.HasPrefix(last, "new") && strings.HasSuffix(last, "error")
	case *ast.UnaryExpr:
		if lit, ok := e.X.(*ast.CompositeLit); ok && e.Op == token.AND {
			return strings.HasSuffix(exprName(lit.Type), "Error")
		}
	}
	return false
}

func calleeName(c *ast.CallExpr) string { return exprName(ast.Unparen(c.Fun)) }

// exprName returns the dotted name of an expression, or "".
func exprName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x := exprName(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	case *ast.StarExpr:
		return exprName(e.X)
	case *ast.ParenExpr:
		return exprName(e.X)
	case *ast.CallExpr:
		return exprName(e.Fun)
	}
	return ""
}
