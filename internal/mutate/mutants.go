// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A mutant is one small change of a source file.
type mutant struct {
	file     string // base name
	line     int
	col      int
	from, to int // bytes of the file that are replaced
	text     string
	what     string // "function: before => after", equal on every machine and line
	tuning   bool   // it changes a number, or whether a tuning constant is included
}

func (m mutant) String() string { return fmt.Sprintf("%s:%d:%d: %s", m.file, m.line, m.col, m.what) }

// key identifies a mutant in the list of explanations, which does not change when
// lines are added above it.
func (m mutant) key() string { return m.file + " " + m.what }

// swaps are the operators that stand in for each other. Of && and ||, mutants
// drop one operand instead, which fewer tests notice.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.ADD: token.SUB, token.SUB: token.ADD,
	token.MUL: token.QUO, token.QUO: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.AND: token.OR, token.OR: token.AND,
}

// names are the identifiers that stand in for each other.
var names = map[string]string{"min": "max", "max": "min", "true": "false", "false": "true"}

// A maker collects the mutants of a file.
type maker struct {
	fset   *token.FileSet
	name   string
	src    []byte
	consts map[string]bool // tuning constants of the package
	fn     string
	seen   map[string]int
	list   []mutant
}

// tuningConstants adds the constants of a source file that are durations or
// sizes: their value has a unit of package time, or a shift by 10 or more.
func tuningConstants(name string, src []byte, consts map[string]bool) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			return true
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, value := range spec.Values {
				if isTuning(value) {
					consts[spec.Names[i].Name] = true
				}
			}
		}
		return false
	})
	return nil
}

func isTuning(value ast.Expr) (tuning bool) {
	ast.Inspect(value, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			tuning = tuning || ok && id.Name == "time"
		case *ast.BinaryExpr:
			lit, ok := n.Y.(*ast.BasicLit)
			tuning = tuning || n.Op == token.SHL && ok && len(lit.Value) > 1
		}
		return true
	})
	return tuning
}

// mutantsOf returns all mutants of a source file.
func mutantsOf(name string, src []byte, consts map[string]bool) ([]mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	k := &maker{fset: fset, name: name, src: src, consts: consts, seen: map[string]int{}}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			k.fn = functionName(fn)
			ast.Inspect(fn.Body, k.visit)
		}
	}
	slices.SortStableFunc(k.list, func(a, b mutant) int { return a.from - b.from })
	return k.list, nil
}

func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// add adds the mutant that has text instead of what stands between from and to.
// shown is the part of the source that its description shows.
func (k *maker) add(from, to token.Pos, text string, shown ast.Node) {
	at := k.fset.Position(from)
	m := mutant{file: k.name, line: at.Line, col: at.Column, from: at.Offset, to: k.fset.Position(to).Offset, text: text}
	first, last := k.fset.Position(shown.Pos()).Offset, k.fset.Position(shown.End()).Offset
	before := string(k.src[first:last])
	after := string(k.src[first:m.from]) + text + string(k.src[m.to:last])
	if after == "" {
		after = "(dropped)"
	}
	m.what = k.fn + ": " + short(before) + " => " + short(after)
	k.seen[m.what]++
	if n := k.seen[m.what]; n > 1 {
		m.what += " #" + strconv.Itoa(n)
	}
	k.list = append(k.list, m)
}

// short is text on one line, cut in the middle.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 90 {
		text = text[:60] + "…" + text[len(text)-27:]
	}
	return text
}

func (k *maker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		k.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			k.negate(n.Cond)
		}
	case *ast.BinaryExpr:
		if op, ok := swaps[n.Op]; ok {
			k.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String(), n)
			k.list[len(k.list)-1].tuning = k.boundary(n)
		}
		if n.Op == token.LAND || n.Op == token.LOR {
			k.add(n.Pos(), n.Y.Pos(), "", n)
			k.add(n.X.End(), n.End(), "", n)
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			k.add(n.Pos(), n.End(), "("+n.Value+"+1)", n)
			k.list[len(k.list)-1].tuning = true
		}
	case *ast.Ident:
		if other, ok := names[n.Name]; ok {
			k.add(n.Pos(), n.End(), other, n)
		}
	case *ast.ExprStmt, *ast.DeferStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt:
		k.add(n.Pos(), n.End(), "", n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			k.add(n.Pos(), n.End(), "", n)
		}
	case *ast.BranchStmt:
		if other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; other != "" && n.Label == nil {
			k.add(n.Pos(), n.End(), other, n)
		}
	case *ast.ReturnStmt:
		k.results(n)
	case *ast.KeyValueExpr: // the names of fields are no variables
		ast.Inspect(n.Value, k.visit)
		return false
	}
	return true
}

// negate adds the opposite of a condition, unless another mutant is that.
func (k *maker) negate(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	k.add(cond.Pos(), cond.End(), "!("+string(k.src[k.fset.Position(cond.Pos()).Offset:k.fset.Position(cond.End()).Offset])+")", cond)
}

// boundary reports whether n compares with a tuning constant, so that its mutant
// only changes whether that very value is included.
func (k *maker) boundary(n *ast.BinaryExpr) bool {
	switch n.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
	default:
		return false
	}
	for _, side := range []ast.Expr{n.X, n.Y} {
		if id, ok := side.(*ast.Ident); ok && k.consts[id.Name] {
			return true
		}
	}
	return false
}

// results adds returns that forget an error.
func (k *maker) results(r *ast.ReturnStmt) {
	if len(r.Results) == 0 {
		return
	}
	last := r.Results[len(r.Results)-1]
	if id, ok := last.(*ast.Ident); ok && (id.Name == "err" || strings.HasPrefix(id.Name, "Err") || strings.HasPrefix(id.Name, "err")) {
		k.add(last.Pos(), last.End(), "nil", r)
	}
}
