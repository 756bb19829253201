// SPDX-License-Identifier: Apache-2.0

// Package guard finds the log calls that are guarded by a check of the level:
// their arguments are boxed only when they are logged.
package guard

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// Guarded reports whether an if around the place, or one before it that leaves
// the block, checks the level.
func Guarded(c inspector.Cursor) bool {
	for cur := range c.Enclosing() {
		switch n := cur.Node().(type) {
		case *ast.IfStmt:
			if asks(n.Init) || asks(n.Cond) {
				return true
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if asks(e) {
					return true
				}
			}
			if before(n.Body, c.Node().Pos()) {
				return true
			}
		case *ast.BlockStmt:
			if before(n.List, c.Node().Pos()) {
				return true
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		}
	}
	return false
}

// before reports whether the block is left early when the level is off.
func before(list []ast.Stmt, at token.Pos) bool {
	for _, s := range list {
		if s.Pos() >= at {
			return false
		}
		i, ok := s.(*ast.IfStmt)
		if !ok || !asks(i.Init) && !asks(i.Cond) || len(i.Body.List) == 0 {
			continue
		}
		switch i.Body.List[len(i.Body.List)-1].(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			return true
		}
	}
	return false
}

// asks reports whether a condition checks a level, judging by its names: each
// logger names it differently, and many programs have their own flag.
func asks(n ast.Node) bool {
	if n == nil {
		return false
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			name := strings.ToLower(id.Name)
			for _, part := range []string{"enabled", "level", "debug", "trace", "verbos", "isinfo"} {
				found = found || strings.Contains(name, part)
			}
			found = found || id.Name == "Check" || id.Name == "V"
		}
		return !found
	})
	return found
}
