// SPDX-License-Identifier: Apache-2.0

// Package rule provides the common parts of the checks: making an analyzer and
// iterating over the files of a package.
package rule

import (
	"go/ast"
	"iter"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Pass is one run of a check over a package.
type Pass struct {
	*analysis.Pass
	files []inspector.Cursor
}

// New makes a check of all files that are not generated, including tests.
func New(name, doc string, run func(*Pass)) *analysis.Analyzer {
	return analyzer(name, doc, run, func(string) bool { return true })
}

// Steady makes a check that ignores test files: allocations of tests do not
// matter.
func Steady(name, doc string, run func(*Pass)) *analysis.Analyzer {
	return analyzer(name, doc, run, func(file string) bool { return !strings.HasSuffix(file, "_test.go") })
}

func analyzer(name, doc string, run func(*Pass), wanted func(file string) bool) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     name,
		Doc:      doc,
		URL:      "https://github.com/nib-log/nib/blob/main/docs/zero-alloc.md#" + name,
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			p := &Pass{Pass: pass}
			for file := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root().Children() {
				f := file.Node().(*ast.File)
				// Generated files would be overwritten.
				if wanted(pass.Fset.Position(f.FileStart).Filename) && !ast.IsGenerated(f) {
					p.files = append(p.files, file)
				}
			}
			run(p)
			return nil, nil
		},
	}
}

// Nodes iterates over the nodes of a type.
func Nodes[N ast.Node](p *Pass) iter.Seq2[inspector.Cursor, N] {
	return func(yield func(inspector.Cursor, N) bool) {
		for _, file := range p.files {
			for cur, n := range Below[N](file) {
				if !yield(cur, n) {
					return
				}
			}
		}
	}
}

// Below iterates over the nodes of a type at and below a place.
func Below[N ast.Node](c inspector.Cursor) iter.Seq2[inspector.Cursor, N] {
	return func(yield func(inspector.Cursor, N) bool) {
		var none N
		for cur := range c.Preorder(none) {
			if !yield(cur, cur.Node().(N)) {
				return
			}
		}
	}
}

// Around returns the innermost node of a type that contains a place, or a nil
// N.
func Around[N ast.Node](c inspector.Cursor) N {
	var none N
	for cur := range c.Enclosing(none) {
		if cur != c {
			return cur.Node().(N)
		}
	}
	return none
}

// Function returns the body of the innermost function around a place, and the
// function itself; nil outside of functions.
func Function(c inspector.Cursor) (fn inspector.Cursor, body *ast.BlockStmt) {
	for cur := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.FuncDecl:
			return cur, n.Body
		case *ast.FuncLit:
			return cur, n.Body
		}
	}
	return c, nil
}
