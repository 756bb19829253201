// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// maxExported is the number of names that users can refer to: constants,
// variables, functions, types and methods of the packages that they import. A
// new name costs each of them something, so one that is added should replace
// another.
const maxExported = 848

// exported returns the exported names of a tree's public packages, such as
// "sink/file.Sink.Rotate", sorted.
func exported(t *tree) (names []string) {
	for _, s := range t.files {
		if !s.isGo() || s.isTest() || !isPublic(s.folder) {
			continue
		}
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
func checkTwins(t *tree) (violations []string) {
	first := map[string]string{}
	for _, s := range t.files {
		if !s.isGo() || s.isTest() || !isPublic(s.folder) {
			continue
		}
		for _, d := range s.syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				name := spec.(*ast.TypeSpec).Name.Name
				if !ast.IsExported(name) || slices.Contains(oneMeaning, name) {
					continue
				}
				if other, ok := first[name]; ok && other != s.folder {
					violations = append(violations, fmt.Sprintf("%s: type %s: %s has one of this name, too", s.at(spec), name, other))
				}
				first[name] = s.folder
			}
		}
	}
	return violations
}

// checkInternalConstants finds exported constants whose value is the name of an
// internal one, which is all that godoc shows.
func checkInternalConstants(t *tree) (violations []string) {
	for _, s := range t.files {
		if !s.isGo() || s.isTest() || !isPublic(s.folder) {
			continue
		}
		internal := map[string]bool{}
		paths, _ := s.imports()
		for _, p := range paths {
			internal[path.Base(p)] = strings.Contains(p, "/internal/")
		}
		for _, d := range s.syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				if len(v.Values) > 0 && ast.IsExported(v.Names[0].Name) && isHidden(v.Values[0], internal) {
					violations = append(violations, fmt.Sprintf("%s: constant %s: write its value", s.at(v), v.Names[0].Name))
				}
			}
		}
	}
	return violations
}

// isHidden reports whether godoc shows an unexported or internal name for x.
func isHidden(x ast.Expr, internal map[string]bool) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return !ast.IsExported(x.Name) && x.Name != "iota" && x.Name != "true" && x.Name != "false"
	case *ast.SelectorExpr:
		p, ok := x.X.(*ast.Ident)
		return ok && internal[p.Name]
	}
	return false
}

func TestExportedNames(t *testing.T) {
	loaded, _ := repository(t)
	names := exported(loaded)
	if n := len(names); n > maxExported {
		t.Errorf("the public packages export %d names, want at most %d; make exported lists them", n, maxExported)
	}
	for _, n := range names {
		t.Log(n)
	}
	t.Logf("%d names", len(names))

	small := exported(parse(t, map[string]string{
		"a.go":             "package a\nconst A, b = 1, 2\ntype T struct{}\nfunc (t *T) M() {}\nfunc (T) m() {}\ntype I interface{ N() }\ntype u int\nfunc (u) M() {}\n",
		"a_test.go":        "package a\nfunc Helper() {}\n",
		"x/b.go":           "package x\nfunc F() {}\n",
		"x/b_linux.go":     "package x\nfunc F() {}\n",
		"internal/z/c.go":  "package z\nfunc G() {}\n",
		"cmd/nib/main.go":  "package main\nfunc H() {}\n",
		"x/internal/y.go":  "package y\nfunc K() {}\n",
		"bench/peers/p.go": "package peers\nfunc L() {}\n",
	}))
	if want := []string{"..A", "..I", "..I.N", "..T", "..T.M", "x.F"}; !slices.Equal(small, want) {
		t.Errorf("got %q, want %q", small, want)
	}
}

func TestTypeNamesHaveOneMeaning(t *testing.T) {
	tryOn(t, checkTwins, []fixture{
		{"good", map[string]string{"a/a.go": "package a\ntype Config struct{}\ntype X int\n", "b/b.go": "package b\ntype Config struct{}\ntype x int\n"}, nil},
		{"bad", map[string]string{"a/a.go": "package a\ntype X int\n", "b/b.go": "package b\ntype X int\n"}, []string{"type X"}},
		{"not public", map[string]string{"a/a.go": "package a\ntype X int\n", "internal/b/b.go": "package b\ntype X int\n", "cmd/x/x.go": "package x\ntype X int\n"}, nil},
	})
	loaded, _ := repository(t)
	report(t, checkTwins(loaded))
}

func TestConstantsShowTheirValues(t *testing.T) {
	internal := "package a\nimport \"" + root + "/internal/z\"\n"
	tryOn(t, checkInternalConstants, []fixture{
		{"good", map[string]string{"a.go": internal + "const (\n A = 1\n B T = iota\n c = z.C\n D = -B\n)\n"}, nil},
		{"internal", map[string]string{"a.go": internal + "const A = z.A\n"}, []string{"constant A"}},
		{"unexported", map[string]string{"a.go": "package a\nconst A = a\nconst a = 1\n"}, []string{"constant A"}},
	})
	loaded, _ := repository(t)
	report(t, checkInternalConstants(loaded))
}

// parse makes a tree of files.
func parse(t *testing.T, files map[string]string) *tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	loaded, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}
