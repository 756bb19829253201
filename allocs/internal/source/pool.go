// SPDX-License-Identifier: Apache-2.0

package source

import (
	"go/ast"
	"os"
	"path/filepath"
	"strings"
)

// PoolNew returns where the function literal starts that makes the values of
// the pool whose Get is called on a line. The pool is looked for by its name in
// the package of the file: a variable, or a field that is set in a literal.
func (fs *Files) PoolNew(name string, line int) (file string, at int, ok bool) {
	f := fs.get(name)
	if f == nil {
		return "", 0, false
	}
	pool := ""
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil || f.line(n.Pos()) > line || f.line(n.End()) < line {
			return false
		}
		if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 0 && f.line(c.End()) == line {
			if full := calleeName(c); strings.HasSuffix(full, ".Get") {
				full = strings.TrimSuffix(full, ".Get")
				pool = full[strings.LastIndexByte(full, '.')+1:]
			}
		}
		return true
	})
	if pool == "" {
		return "", 0, false
	}
	dir := filepath.Dir(name)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" {
			continue
		}
		other := filepath.Join(dir, e.Name())
		if f := fs.get(other); f != nil {
			if lit := f.newOf(pool); lit != nil {
				return other, f.line(lit.Pos()), true
			}
		}
	}
	return "", 0, false
}

// newOf returns the New of the pool of that name, or nil.
func (f *file) newOf(pool string) *ast.FuncLit {
	var found *ast.FuncLit
	value := func(name, e ast.Expr) {
		if full := exprName(name); full[strings.LastIndexByte(full, '.')+1:] != pool {
			return
		}
		if u, ok := e.(*ast.UnaryExpr); ok {
			e = u.X
		}
		if c, ok := e.(*ast.CompositeLit); ok && found == nil {
			found = poolNew(c)
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, v := range n.Values {
				if i < len(n.Names) {
					value(n.Names[i], v)
				}
			}
		case *ast.AssignStmt:
			for i, v := range n.Rhs {
				if i < len(n.Lhs) {
					value(n.Lhs[i], v)
				}
			}
		case *ast.KeyValueExpr:
			value(n.Key, n.Value)
		}
		return found == nil
	})
	return found
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
