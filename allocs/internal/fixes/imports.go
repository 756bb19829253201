// SPDX-License-Identifier: Apache-2.0

package fixes

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strconv"
)

// tidy removes the imports that a file needed before and no longer needs, and
// returns their lines. It formats the file only if it was formatted before, so
// that only the rewritten lines can change.
func tidy(name string, old, text []byte) (out []byte, gone []int, err error) {
	before, err := parser.ParseFile(token.NewFileSet(), name, old, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, s := range before.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		// Only those of the standard library certainly have the name
		// that their path ends in, and no fix removes others.
		if err == nil && taken[path] && s.Name == nil && !used(file, path) {
			gone = append(gone, importLines(fset, file, path, lines)...)
		}
	}
	for _, n := range gone {
		lines[n-1] = nil
	}
	out = bytes.Join(lines, nil)
	if formatted, err := format.Source(old); err != nil || !bytes.Equal(formatted, old) {
		return out, gone, nil
	}
	formatted, err := format.Source(out)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if bytes.Count(formatted, []byte("\n")) == bytes.Count(out, []byte("\n")) {
		out = formatted // otherwise the positions of the fixes would be unknown
	}
	return out, gone, nil
}

// importLines returns the lines to take out for an import: its own, that of its
// declaration, and one of two blank lines around it. It returns none if a line
// has other text.
func importLines(fset *token.FileSet, file *ast.File, path string, lines [][]byte) []int {
	blank := func(n int) bool { return n > 0 && n <= len(lines) && len(bytes.TrimSpace(lines[n-1])) == 0 }
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		for _, s := range g.Specs {
			s := s.(*ast.ImportSpec)
			if p, err := strconv.Unquote(s.Path.Value); err != nil || p != path || s.Doc != nil || g.Doc != nil && len(g.Specs) == 1 {
				continue
			}
			var node ast.Node = s
			if len(g.Specs) == 1 {
				node = g
			}
			from, to := fset.Position(node.Pos()).Line, fset.Position(node.End()).Line
			if blank(from-1) && (blank(to+1) || len(g.Specs) > 1 && bytes.HasPrefix(lines[to], []byte(")"))) {
				from--
			} else if bytes.HasSuffix(bytes.TrimSpace(lines[max(from-2, 0)]), []byte("(")) && blank(to+1) {
				to++
			}
			var out []int
			for n := from; n <= to; n++ {
				out = append(out, n)
			}
			return out
		}
	}
	return nil
}

// taken lists the packages whose calls fixes remove.
var taken = map[string]bool{"fmt": true, "strings": true, "sort": true, "strconv": true, "io": true}

// used reports whether a file refers to the package.
func used(file *ast.File, path string) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == path && id.Obj == nil {
				found = true
			}
		}
		return !found
	})
	return found
}
