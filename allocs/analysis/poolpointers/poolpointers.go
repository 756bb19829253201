// SPDX-License-Identifier: Apache-2.0

// Package poolpointers defines a check for pooled objects that keep others
// alive: a pointer field that is not cleared before Put holds its target for as
// long as the object is in the pool, and gives the collector work.
package poolpointers

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/nib-log/nib/allocs/analysis/internal/fields"
	"github.com/nib-log/nib/allocs/analysis/internal/pools"
	"github.com/nib-log/nib/allocs/analysis/internal/rule"
)

// Analyzer reports Put(x) where a field of x takes pointers from outside (it
// is assigned a parameter somewhere in the package) and nothing on the way to
// Put clears it. Fields that the object made for itself belong to it.
var Analyzer = rule.Steady("poolpointers",
	"report objects that go to a sync.Pool with pointers to what others own\n\nClear pointer, interface, function and channel fields before Put.", run)

func run(pass *rule.Pass) {
	var f *facts
	for cur, call := range rule.Nodes[*ast.CallExpr](pass) {
		arg := pools.Put(pass.TypesInfo, call)
		if arg == nil {
			continue
		}
		fn := rule.Around[*ast.FuncDecl](cur)
		id, ok := arg.(*ast.Ident)
		if !ok || fn == nil {
			continue
		}
		v, ok := pass.TypesInfo.ObjectOf(id).(*types.Var)
		if !ok {
			continue
		}
		if f == nil {
			f = collect(pass)
		}
		if left := f.left(fn, v); len(left) > 0 {
			pass.ReportRangef(call, "%s goes to the pool with its pointers: clear %s", id.Name, strings.Join(left, ", "))
		}
	}
}

// facts are the results of the check in a package.
type facts struct {
	info     *types.Info
	borrowed map[*types.Var]bool // fields that are assigned from a parameter
	bodies   map[*types.Func]*ast.FuncDecl
}

func collect(pass *rule.Pass) *facts {
	found := fields.Find(pass)
	f := &facts{pass.TypesInfo, found.Kept, map[*types.Func]*ast.FuncDecl{}}
	for field := range found.Consumed {
		delete(f.borrowed, field)
	}
	for _, fn := range rule.Nodes[*ast.FuncDecl](pass) {
		if o, ok := f.info.Defs[fn.Name].(*types.Func); ok && fn.Body != nil {
			f.bodies[o] = fn
		}
	}
	return f
}

// left returns the borrowed fields of v that are not cleared in the function.
func (f *facts) left(fn *ast.FuncDecl, v *types.Var) (names []string) {
	p, ok := types.Unalias(v.Type()).(*types.Pointer)
	if !ok {
		return nil
	}
	st, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	c := &clearing{facts: f, first: fn, fields: map[string]bool{}, seen: map[seen]bool{}}
	c.in(fn, v)
	if c.all {
		return nil
	}
	for field := range st.Fields() {
		switch field.Type().Underlying().(type) {
		case *types.Pointer, *types.Interface, *types.Signature, *types.Chan:
			if f.borrowed[field.Origin()] && !c.fields[field.Name()] {
				names = append(names, field.Name())
			}
		}
	}
	return names
}

// clearing follows an object through functions and records their assignments.
type clearing struct {
	*facts
	first  *ast.FuncDecl // the function with Put
	fields map[string]bool
	all    bool // *v = T{}, or a use that the check does not understand
	seen   map[seen]bool
}

type seen struct {
	fn *ast.FuncDecl
	v  *types.Var
}

func (c *clearing) in(fn *ast.FuncDecl, v *types.Var) {
	if c.all || v == nil || c.seen[seen{fn, v}] {
		return
	}
	c.seen[seen{fn, v}] = true
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && c.info.ObjectOf(id) == v
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				switch l := ast.Unparen(l).(type) {
				case *ast.StarExpr:
					c.all = c.all || is(l.X)
				case *ast.SelectorExpr:
					if is(l.X) && (fn != c.first || len(n.Lhs) != len(n.Rhs) || !c.variable(n.Rhs[i])) {
						c.fields[l.Sel.Name] = true
					}
				}
			}
		case *ast.CallExpr:
			c.call(n, is)
		}
		return !c.all
	})
}

// variable reports whether a value is that of a local variable: assigning it
// fills a field and does not clear it, whereas a variable of the package is
// kept alive anyway. In a called function, as in reset(nil), it can be either.
func (c *clearing) variable(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := c.info.Uses[id].(*types.Var)
	return ok && v.Parent() != v.Pkg().Scope()
}

// call follows the object into a function that is called with it.
func (c *clearing) call(call *ast.CallExpr, is func(ast.Expr) bool) {
	if pools.Put(c.info, call) != nil {
		return
	}
	callee, _ := typeutil.Callee(c.info, call).(*types.Func)
	var decl *ast.FuncDecl
	if callee != nil {
		decl = c.bodies[callee.Origin()]
	}
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && is(sel.X) {
		if decl == nil {
			c.all = true
		} else {
			c.in(decl, c.info.Defs[decl.Name].(*types.Func).Signature().Recv())
		}
	}
	for i, a := range call.Args {
		if !is(a) {
			continue
		}
		if decl == nil || i >= callee.Signature().Params().Len() {
			c.all = true
			return
		}
		c.in(decl, c.info.Defs[decl.Name].(*types.Func).Signature().Params().At(i))
	}
}
