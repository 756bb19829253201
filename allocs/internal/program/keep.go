// SPDX-License-Identifier: Apache-2.0

// Package program links the packages of a module into executables in which
// every function has code, whether or not it is called.
//
// The linker drops unused functions, and a library alone is not linked at all.
// So each package gets one more file, in an overlay that only the go command
// sees: a variable that refers to every function and method. A main package,
// also in the overlay, refers to these variables.
package program

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/load"
)

// keepName returns the variable that keeps a package's functions. Each package
// has its own name for it, because a dot import merges the names of two
// packages.
func keepName(importPath string) string {
	return fmt.Sprintf("AllocsKeepsThese%08x", crc32.ChecksumIEEE([]byte(importPath)))
}

// keepFile returns the source of the file that is added to the package.
func keepFile(p *load.Package) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nvar %s = []interface{}{\n", p.Name, keepName(p.ImportPath))
	for _, ref := range References(p.Dir, slices.Concat(p.GoFiles, p.CgoFiles), nil) {
		fmt.Fprintf(&b, "\t%s,\n", ref)
	}
	b.WriteString("}\n")
	return b.String()
}

// References returns expressions for all functions and methods that the files
// declare, in a directory and of one package. Types can also be declared in the
// others: a test file adds methods to a type of its package.
func References(dir string, names, others []string) []string {
	var out []string
	declared := &generics{map[string]*ast.FieldList{}, map[string]*ast.InterfaceType{}}
	var files []*ast.File
	for i, name := range slices.Concat(names, others) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			// The toolchain has compiled the file, so its language is newer than this
			// program's parser: its functions are in the executable only if they are
			// called.
			continue
		}
		if i < len(names) {
			files = append(files, f)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, s := range g.Specs {
					declared.add(s.(*ast.TypeSpec))
				}
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if ref := reference(fn, declared); ref != "" {
					out = append(out, ref)
				}
			}
		}
	}
	return out
}

// reference returns an expression for the function, or "" when there is none. A
// generic function has no code until it is instantiated, so the reference has
// type arguments.
func reference(fn *ast.FuncDecl, declared *generics) string {
	name := fn.Name.Name
	if name == "_" {
		return ""
	}
	if fn.Recv == nil {
		args, ok := declared.arguments(fn.Type.TypeParams)
		if !ok || name == "init" || name == "main" {
			return ""
		}
		return name + args
	}
	t, star := receiver(fn.Recv.List[0].Type)
	id, ok := t.(*ast.Ident)
	if !ok {
		return ""
	}
	args, ok := declared.arguments(declared.types[id.Name])
	own, okOwn := declared.arguments(fn.Type.TypeParams) // methods have type parameters since Go 1.27
	if !ok || !okOwn {
		return ""
	}
	if star {
		return "(*" + id.Name + args + ")." + name + own
	}
	return id.Name + args + "." + name + own
}

// receiver returns the type of a receiver without star, parentheses and type
// parameters.
func receiver(t ast.Expr) (named ast.Expr, star bool) {
	for {
		switch e := t.(type) {
		case *ast.ParenExpr:
			t = e.X
		case *ast.StarExpr:
			t, star = e.X, true
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		default:
			return t, star
		}
	}
}
