// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// exported returns the exported names of a tree's public packages, such as
// "sink/file.Sink.Rotate", sorted: constants, variables, functions, types and
// methods.
func exported(t *tree) (names []string) {
	for _, s := range t.library() {
		add := func(parts ...string) {
			if !slices.ContainsFunc(parts, func(p string) bool { return !ast.IsExported(p) }) {
				names = append(names, s.folder+"."+strings.Join(parts, "."))
			}
		}
		for _, d := range s.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				add(strings.Split(functionName(d), ".")...)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addSpec(spec, add)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// addSpec adds the names of a declaration, and the methods of an interface.
func addSpec(spec ast.Spec, add func(parts ...string)) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			add(n.Name)
		}
	case *ast.TypeSpec:
		add(spec.Name.Name)
		if i, ok := spec.Type.(*ast.InterfaceType); ok {
			for _, m := range i.Methods.List {
				for _, n := range m.Names {
					add(spec.Name.Name, n.Name)
				}
			}
		}
	}
}

// oneMeaning are type names that several packages may have: the package gives
// the meaning, as in file.Config.
var oneMeaning = []string{"Config", "Destination", "Hook", "Option", "Sink", "Stats", "SyncPolicy"}

// checkTwins finds types of different packages with the same name.
func checkTwins(t *tree) (v faults) {
	first := map[string]string{}
	for _, s := range t.library() {
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				name := spec.Name.Name
				other, twin := first[name]
				twin = twin && other != s.folder && !slices.Contains(oneMeaning, name)
				if twin && ast.IsExported(name) {
					v.add("%s: type %s: package %s has one with this name", s.at(n), name, other)
				}
				first[name] = s.folder
			}
			_, function := n.(*ast.FuncDecl)
			return !function
		})
	}
	return v
}

// TestExportedNames lists the names; the ratchet has their number for each
// package.
func TestExportedNames(t *testing.T) {
	small := exported(treeOf(t, map[string]string{
		"a.go": "package a\nconst A, b = 1, 2\ntype I interface{ N() }\nfunc (t *T) M() {}\n" +
			"func (T) m() {}\nfunc (u) M() {}\n",
		"a_test.go": "package a\nfunc F() {}\n", "internal/z/c.go": "package z\nfunc G() {}\n",
		"x/b.go": "package x\nfunc F() {}\n", "x/b_linux.go": "package x\nfunc F() {}\n",
	}))
	if want := []string{"..A", "..I", "..I.N", "..T.M", "x.F"}; !slices.Equal(small, want) {
		t.Errorf("got %q, want %q", small, want)
	}
	names := exported(loaded(t))
	for _, n := range names {
		t.Log(n)
	}
	t.Logf("%d names", len(names))
}

func TestTypeNamesHaveOneMeaning(t *testing.T) {
	verify(t, checkTwins, map[string]string{
		"a/a.go": "package a\ntype Config struct{}\ntype X int\ntype y int\n",
		"b/b.go": "package b\ntype Config struct{}\ntype X int\ntype y int\n",
	}, "b/b.go:3: type X: package a has one")
}
