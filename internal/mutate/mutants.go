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
	file     string // base name of the file
	line     int
	col      int
	from, to int // bytes of the file that are replaced
	text     string
	what     string // "function: before => after", equal on every machine and line
	tuning   bool   // the mutant changes a number, or whether a tuning constant is included
	switched *insertion
	covered  token.Position // its position in a coverage profile
}

// A span is the condition of a case. Coverage profiles do not record
// conditions, so the coverage of the switch statement is used.
type span struct{ from, to, covered token.Pos }

func (m mutant) String() string { return fmt.Sprintf("%s:%d:%d: %s", m.file, m.line, m.col, m.what) }

// key identifies a mutant in the list of explanations, which does not change
// when lines are added above it.
func (m mutant) key() string { return m.file + " " + m.what }

// swaps are the operators that replace each other. Of && and ||, mutants drop
// one operand instead, which fewer tests notice.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.ADD: token.SUB, token.SUB: token.ADD,
	token.MUL: token.QUO, token.QUO: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.AND: token.OR, token.OR: token.AND,
}

// names are the identifiers that replace each other.
var names = map[string]string{"min": "max", "max": "min", "true": "false", "false": "true"}

// A maker collects the mutants of a file.
type maker struct {
	fset   *token.FileSet
	name   string
	src    []byte
	consts map[string]bool // tuning constants of the package
	fn     string
	seen   map[string]int
	plain  map[ast.Stmt]bool // statements of blocks, which an if statement can be around
	cases  []span
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
	k := &maker{fset: fset, name: name, src: src, consts: consts, seen: map[string]int{}, plain: map[ast.Stmt]bool{}}
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

// add adds the mutant that has text in place of the source between from and to.
// shown is the part of the source that its description shows.
func (k *maker) add(from, to token.Pos, text string, shown ast.Node) {
	at := k.fset.Position(from)
	m := mutant{file: k.name, line: at.Line, col: at.Column, from: at.Offset, to: k.fset.Position(to).Offset, text: text}
	m.covered = at
	for _, c := range k.cases { // the innermost one is the last one
		if from >= c.from && from < c.to {
			m.covered = k.fset.Position(c.covered)
		}
	}
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
	case *ast.GenDecl:
		return n.Tok != token.CONST
	case *ast.BlockStmt:
		k.block(n.List)
	case *ast.SwitchStmt:
		for _, c := range n.Body.List {
			for _, x := range c.(*ast.CaseClause).List {
				k.cases = append(k.cases, span{x.Pos(), x.End(), n.Pos()})
			}
		}
	case *ast.SelectStmt:
		for _, c := range n.Body.List {
			if x := c.(*ast.CommClause).Comm; x != nil {
				k.cases = append(k.cases, span{x.Pos(), x.End(), n.Pos()})
			}
		}
	case *ast.CaseClause:
		k.block(n.Body)
	case *ast.CommClause:
		k.block(n.Body)
	case *ast.IfStmt:
		k.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			k.negate(n.Cond)
		}
	case *ast.BinaryExpr:
		k.binary(n)
	case *ast.BasicLit:
		if n.Kind == token.INT {
			k.add(n.Pos(), n.End(), "("+n.Value+"+1)", n)
			k.list[len(k.list)-1].tuning = true
		}
	case *ast.Ident:
		if other, ok := names[n.Name]; ok {
			k.add(n.Pos(), n.End(), other, n)
			if n.Name == "true" || n.Name == "false" {
				k.around(n, "("+onlyIn+" != ", ")")
			}
		}
	case *ast.ExprStmt, *ast.DeferStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt:
		k.drop(n.(ast.Stmt))
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			k.drop(n)
		}
	case *ast.BranchStmt:
		if other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; other != "" && n.Label == nil {
			k.add(n.Pos(), n.End(), other, n)
		}
	case *ast.ReturnStmt:
		k.results(n)
	case *ast.KeyValueExpr: // the names of fields are not variables
		ast.Inspect(n.Value, k.visit)
		return false
	}
	return true
}

func (k *maker) block(list []ast.Stmt) {
	for _, s := range list {
		k.plain[s] = true
	}
}

// drop leaves out a statement.
func (k *maker) drop(s ast.Stmt) {
	k.add(s.Pos(), s.End(), "", s)
	if k.plain[s] && !isPanic(s) { // a function may need panic as its last statement
		k.around(s, "if !"+onlyIn+" { ", " }")
	}
}

func isPanic(s ast.Stmt) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "panic"
}

// binary swaps operators, and drops operands of && and ||.
func (k *maker) binary(n *ast.BinaryExpr) {
	if op, ok := swaps[n.Op]; ok {
		k.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), op.String(), n)
		k.list[len(k.list)-1].tuning = k.boundary(n)
		switch n.Op {
		case token.EQL, token.NEQ:
			k.around(n, "("+onlyIn+" != (", "))")
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			k.around(n, "(!"+onlyIn+" && ", " || "+onlyIn+" && "+k.source(n.X)+" "+op.String()+" "+k.source(n.Y)+")")
		}
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		without := "(" + onlyIn + " || ("
		if n.Op == token.LOR {
			without = "(!" + onlyIn + " && ("
		}
		k.add(n.Pos(), n.Y.Pos(), "", n)
		k.around(n.X, without, "))")
		k.add(n.X.End(), n.End(), "", n)
		k.around(n.Y, without, "))")
	}
}

func (k *maker) source(n ast.Node) string {
	return string(k.src[k.fset.Position(n.Pos()).Offset:k.fset.Position(n.End()).Offset])
}

// negate adds the negation of a condition, unless another mutant has it.
func (k *maker) negate(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	k.add(cond.Pos(), cond.End(), "!("+k.source(cond)+")", cond)
	k.around(cond, onlyIn+" != (", ")")
}

// boundary reports whether n compares with a tuning constant, so that its
// mutant only changes whether that very value is included.
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

// results adds returns that drop an error.
func (k *maker) results(r *ast.ReturnStmt) {
	if len(r.Results) == 0 {
		return
	}
	last := r.Results[len(r.Results)-1]
	if id, ok := last.(*ast.Ident); ok && (id.Name == "err" || strings.HasPrefix(id.Name, "Err") || strings.HasPrefix(id.Name, "err")) {
		k.add(last.Pos(), last.End(), "nil", r)
		k.around(last, "mutantZero("+onlyIn+", ", ")")
	}
}
