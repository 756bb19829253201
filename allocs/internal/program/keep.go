// SPDX-License-Identifier: Apache-2.0

// Package program links the packages of a module into executables in which
// every function has code, whether or not anything calls it.
//
// The linker drops what is not used, and a library on its own is not linked at
// all. So each package gets one more file, in an overlay that only the go
// command sees: a variable that refers to every function and method. A main
// package, also in the overlay, refers to these variables.
package program

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// keepName is the variable that keeps a package's functions.
const keepName = "AllocsKeepsThese"

// keepFile returns the source of the file that is added to the package.
func keepFile(p *load.Package) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nvar %s = []interface{}{\n", p.Name, keepName)
	for _, ref := range References(p.Dir, slices.Concat(p.GoFiles, p.CgoFiles)) {
		fmt.Fprintf(&b, "\t%s,\n", ref)
	}
	b.WriteString("}\n")
	return b.String()
}

// References are expressions for all functions and methods that the files declare,
// in a directory and of one package.
func References(dir string, names []string) []string {
	var out []string
	generic := map[string]bool{}
	var files []*ast.File
	for _, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			// The toolchain has compiled it, so its language is newer than
			// this program's parser: its functions are in the executable only
			// as far as others call them.
			continue
		}
		files = append(files, f)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, s := range g.Specs {
					if t := s.(*ast.TypeSpec); t.TypeParams != nil {
						generic[t.Name.Name] = true
					}
				}
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if ref := reference(fn, generic); ref != "" {
					out = append(out, ref)
				}
			}
		}
	}
	return out
}

// reference is an expression for the function, or "" when there is none: a
// generic function has no code until it is used with types.
func reference(fn *ast.FuncDecl, generic map[string]bool) string {
	name := fn.Name.Name
	if name == "_" || fn.Type.TypeParams != nil {
		return ""
	}
	if fn.Recv == nil {
		if name == "init" || name == "main" {
			return ""
		}
		return name
	}
	t := fn.Recv.List[0].Type
	star := false
	for {
		if p, ok := t.(*ast.ParenExpr); ok {
			t = p.X
		} else if p, ok := t.(*ast.StarExpr); ok {
			t, star = p.X, true
		} else {
			break
		}
	}
	id, ok := t.(*ast.Ident)
	if !ok || generic[id.Name] {
		return ""
	}
	if star {
		return "(*" + id.Name + ")." + name
	}
	return id.Name + "." + name
}
