// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// addImport adds a package of the standard library where gofmt would put it:
// among the others, or before all imports. A single import becomes a list.
//
// Edits of several fixes may coincide: equal edits count once, and insertions
// at one place are sorted by their text.
func addImport(fset *token.FileSet, file *ast.File, pkg string) []analysis.TextEdit {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			break
		}
		specs := group(fset, g)
		switch {
		case len(g.Specs) == 0:
		case g.Lparen.IsValid() && specs == nil:
			return []analysis.TextEdit{Insert(start(g.Specs[0]), strconv.Quote(pkg)+"\n\n\t")}
		case g.Lparen.IsValid():
			return []analysis.TextEdit{among(specs, pkg)}
		case specs != nil && g.Specs[0].(*ast.ImportSpec).Comment == nil:
			return []analysis.TextEdit{
				{Pos: g.TokPos + token.Pos(len("import")), End: g.Specs[0].Pos(), NewText: []byte(" (\n\t")},
				among(specs, pkg),
				Insert(g.Specs[0].End(), "\n)"),
			}
		}
	}
	return []analysis.TextEdit{Insert(file.Name.End(), "\n\nimport "+strconv.Quote(pkg))}
}

// among inserts the package into a sorted group.
func among(specs []ast.Spec, pkg string) analysis.TextEdit {
	for _, s := range specs {
		if importPath(s) > pkg {
			return Insert(start(s), strconv.Quote(pkg)+"\n\t")
		}
	}
	last := specs[len(specs)-1].(*ast.ImportSpec)
	end := last.End()
	if last.Comment != nil {
		end = last.Comment.End()
	}
	return Insert(end, "\n\t"+strconv.Quote(pkg))
}

// group returns the first imports without a blank line between them of which
// one is of the standard library, or nil.
func group(fset *token.FileSet, g *ast.GenDecl) []ast.Spec {
	line := func(p token.Pos) int { return fset.Position(p).Line }
	from, standard := 0, false
	for i, s := range g.Specs {
		if i > 0 && line(start(s)) > line(g.Specs[i-1].End())+1 {
			if standard {
				return g.Specs[from:i]
			}
			from = i
		}
		first, _, _ := strings.Cut(importPath(s), "/")
		standard = standard || first != "C" && !strings.Contains(first, ".")
	}
	if !standard {
		return nil
	}
	return g.Specs[from:]
}

func importPath(s ast.Spec) string {
	p, err := strconv.Unquote(s.(*ast.ImportSpec).Path.Value)
	if err != nil {
		return ""
	}
	return p
}

// start returns where an import begins, with the comment above it.
func start(s ast.Spec) token.Pos {
	if doc := s.(*ast.ImportSpec).Doc; doc != nil {
		return doc.Pos()
	}
	return s.Pos()
}
