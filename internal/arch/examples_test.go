// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// withoutExample are constructors and types that no Example function shows,
// each for a reason. One that is not needed any more is a violation.
var withoutExample = map[string]string{
	"..Default":          "programs call Info and the like, which use it",
	"metrics.Of":         "for sinks that wrap others",
	"pool/list.New":      "the zero List is ready to use",
	"setup.Kinds":        "for programs that list the targets",
	"sink.RouteRule":     "AtLeast, Below and Between return one",
	"sink/spool.OwnerOf": "for tools; View.Owner has the same",
	"target.Spec":        "packages with a destination declare one, such as dest/kafka",
}

// checkExamples wants an Example function that uses each constructor, and each
// struct that users fill in. A constructor is a function that returns a type of
// its package. Users fill in a struct if an exported function or method takes
// it by value, or as the element of a slice, or if such a struct has it as a
// field.
func checkExamples(t *tree, exceptions map[string]string) (violations []string) {
	packages := map[string]*exampleUse{}
	for _, s := range t.files {
		if !s.isGo() || !isPublic(s.folder) {
			continue
		}
		p := packages[s.folder]
		if p == nil {
			p = &exampleUse{name: s.folder, structs: map[string]*ast.StructType{}, taken: map[string]bool{}, shown: map[string]bool{}}
			packages[s.folder] = p
		}
		if s.isTest() {
			p.addExamples(s.syntax)
		} else {
			p.addDeclarations(s.syntax)
		}
	}
	used := map[string]bool{}
	for _, p := range packages {
		for _, name := range p.wanted() {
			full := p.name + "." + name
			if _, ok := exceptions[full]; ok && !p.shown[name] {
				used[full] = true
			} else if !p.shown[name] {
				violations = append(violations, full+": no Example function uses it")
			}
		}
	}
	for full, reason := range exceptions {
		if !used[full] {
			violations = append(violations, full+": the exception is not needed any more")
		}
		if reason == "" {
			violations = append(violations, full+": the exception has no reason")
		}
	}
	slices.Sort(violations)
	return violations
}

// An exampleUse has the names that a package declares and its examples use.
type exampleUse struct {
	name         string
	constructors []string
	structs      map[string]*ast.StructType
	taken        map[string]bool // types of arguments
	shown        map[string]bool
}

func (p *exampleUse) addExamples(file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if x, ok := n.(*ast.Ident); ok {
				p.shown[x.Name] = true
			}
			return true
		})
	}
}

func (p *exampleUse) addDeclarations(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !ast.IsExported(d.Name.Name) {
				continue
			}
			for _, a := range d.Type.Params.List {
				p.taken[elementOf(a.Type)] = true
			}
			if d.Recv == nil && isConstructed(d.Type.Results) {
				p.constructors = append(p.constructors, d.Name.Name)
			}
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				spec := spec.(*ast.TypeSpec)
				if s, ok := spec.Type.(*ast.StructType); ok && ast.IsExported(spec.Name.Name) {
					p.structs[spec.Name.Name] = s
				}
			}
		}
	}
}

// wanted returns the names that an Example function must use.
func (p *exampleUse) wanted() (names []string) {
	names = slices.Clone(p.constructors)
	var add func(name string)
	add = func(name string) {
		s, ok := p.structs[name]
		if !ok || slices.Contains(names, name) || !hasExportedField(s) {
			return
		}
		names = append(names, name)
		for _, f := range s.Fields.List {
			if len(f.Names) > 0 && ast.IsExported(f.Names[0].Name) {
				add(elementOf(f.Type))
			}
		}
	}
	for name := range p.taken {
		add(name)
	}
	return names
}

// isConstructed reports whether the first result of a function is a type of the
// package. Options are not: their number is large, and one looks like another.
// An Event belongs to its Logger.
func isConstructed(results *ast.FieldList) bool {
	if results == nil {
		return false
	}
	name := resultOf(results.List[0].Type)
	return ast.IsExported(name) && name != "Option" && name != "Event"
}

func hasExportedField(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		return slices.ContainsFunc(f.Names, (*ast.Ident).IsExported)
	})
}

// elementOf returns the name of a type of the package, or of the elements of a
// slice of it.
func elementOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.ArrayType:
		return elementOf(x.Elt)
	case *ast.Ellipsis:
		return elementOf(x.Elt)
	}
	return ""
}

// resultOf returns the name of a type of the package, or of the target of a
// pointer to it.
func resultOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return resultOf(x.X)
	case *ast.IndexExpr:
		return resultOf(x.X)
	}
	return ""
}

func TestConstructorsHaveExamples(t *testing.T) {
	const code = "package a\ntype T struct{ n int }\nfunc New(c Config) *T { return nil }\nfunc Do() error { return nil }\n" +
		"type Config struct{ Rules []Rule }\ntype Rule struct{ N int }\ntype Stats struct{ N int }\nfunc (t *T) Stats() Stats { return Stats{} }\n"
	test := func(body string) map[string]string {
		return map[string]string{"a.go": code, "a_test.go": "package a_test\nfunc Example() { " + body + " }\n"}
	}
	for _, c := range []struct {
		name       string
		files      map[string]string
		exceptions map[string]string
		want       []string
	}{
		{"good", test("a.New(a.Config{Rules: []a.Rule{{N: 1}}})"), nil, nil},
		{"bad", test("a.Do()"), nil, []string{"..Config", "..New", "..Rule"}},
		{"exception", test("a.New(a.Config{})"), map[string]string{"..Rule": "it is plain"}, nil},
		{"exception not needed", test("a.New(a.Config{Rules: []a.Rule{}})"), map[string]string{"..Rule": "it is plain"}, []string{"not needed"}},
		{"exception without a reason", test("a.New(a.Config{})"), map[string]string{"..Rule": ""}, []string{"no reason"}},
	} {
		compare(t, c.name, checkExamples(parse(t, c.files), c.exceptions), c.want)
	}
	loaded, _ := repository(t)
	report(t, checkExamples(loaded, withoutExample))
}
