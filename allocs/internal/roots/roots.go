// SPDX-License-Identifier: Apache-2.0

// Package roots finds the roots of a report: the functions with an //alloc
// comment, the log calls, and the functions named on the command line. It also
// finds the waivers.
package roots

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/internal/load"
)

// Kind is the reason why a place is a root.
type Kind string

// The kinds of roots.
const (
	Annotated Kind = "annotated" // //alloc:none or //alloc:max=N
	LogCall   Kind = "log call"
	Named     Kind = "named" // --root
)

// Unlimited is the Max of a root that is only reported.
const Unlimited = -1

// Root is a place at which the walk starts.
type Root struct {
	ID   string // the same on every toolchain, and when lines move
	Kind Kind
	Max  int    // allocations per call that the user allows, or Unlimited
	Func string // the function in run-time spelling: pkg/path.(*T).Method
	Pkg  string
	File string
	Line int // the declaration, or the first line of the call
	End  int
	Text string // source of a log call, on one line
}

// Place is one source line.
type Place struct {
	File string
	Line int
}

// Set holds the roots and waivers that were found.
type Set struct {
	Roots   []Root
	Waivers map[Place]string // reason of //alloc:ok by line
	Cold    map[string]bool  // functions with //alloc:cold
}

// Find searches for roots in the packages. names are functions in any common
// spelling, or the beginning of one and an asterisk; logCalls includes log
// calls without a comment.
func Find(src *load.Source, names []string, logCalls bool) (*Set, error) {
	s := &Set{Waivers: map[Place]string{}, Cold: map[string]bool{}}
	wanted, err := named(src, names)
	if err != nil {
		return nil, err
	}
	for _, p := range src.Packages {
		for _, file := range p.Syntax {
			if err := s.file(src.Fset, p, file, wanted, logCalls); err != nil {
				return nil, err
			}
		}
	}
	s.order()
	return s, nil
}

// order sorts the roots by place and numbers them.
func (s *Set) order() {
	slices.SortStableFunc(s.Roots, func(a, b Root) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	s.number()
}

// number makes the IDs of log calls unique: the n-th of the same text in its
// function. Line numbers are left out, so that an edit above changes nothing.
func (s *Set) number() {
	seen := map[string]int{}
	for i := range s.Roots {
		r := &s.Roots[i]
		r.ID = r.Func
		if r.Kind == LogCall {
			r.ID += " › " + r.Text
		}
		seen[r.ID]++
		if n := seen[r.ID]; n > 1 {
			r.ID = fmt.Sprintf("%s #%d", r.ID, n)
		}
	}
}

func (s *Set) file(
	fset *token.FileSet, p *packages.Package, file *ast.File, wanted map[string]bool, logCalls bool,
) error {
	name := fset.Position(file.FileStart).Filename
	// Made by cgo, with the name of its source before the package clause.
	if !strings.HasSuffix(name, ".go") {
		name = fset.Position(file.Package).Filename
		if !filepath.IsAbs(name) || !strings.HasSuffix(name, ".go") {
			return nil // there is none
		}
	}
	var functions []*ast.FuncDecl
	docs := map[*ast.CommentGroup]bool{}
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			functions, docs[fn.Doc] = append(functions, fn), true
		}
	}
	for _, g := range file.Comments {
		for _, c := range g.List {
			line := fset.Position(c.Slash).Line
			reason, ok := directive(c.Text, "ok")
			switch {
			case ok && reason == "":
				return fmt.Errorf("%s:%d: //alloc:ok needs a reason", name, line)
			case ok:
				s.Waivers[Place{name, line}] = reason
			case spaced.MatchString(c.Text):
				const text = "%s:%d: write //%s, without a space"
				return fmt.Errorf(text, name, line, spaced.FindStringSubmatch(c.Text)[1])
			case strings.HasPrefix(c.Text, "//alloc:") && !docs[g]:
				const text = "%s:%d: %s is above no function with a body"
				return fmt.Errorf(text, name, line, c.Text)
			}
		}
	}
	for _, fn := range functions {
		r := declared(fset, p, fn)
		if err := s.function(&r, fn, fset, wanted); err != nil {
			return err
		}
		if logCalls {
			s.calls(fset, p.TypesInfo, fn, r)
		}
	}
	return nil
}

// spaced matches a comment that is not a directive because of a space.
var spaced = regexp.MustCompile(`^//[ \t]+(alloc:(?:none|cold|ok|max=\d+))(?:\s|$)`)

// declared returns a declaration as a root.
func declared(fset *token.FileSet, p *packages.Package, fn *ast.FuncDecl) Root {
	at := fset.Position(fn.Pos())
	return Root{
		Func: FuncName(p.PkgPath, p.TypesInfo.Defs[fn.Name].(*types.Func)), Pkg: p.PkgPath,
		File: at.Filename, Line: at.Line, End: fset.Position(fn.End()).Line, Max: Unlimited,
	}
}

// function adds the declaration if a comment or a flag makes it a root.
func (s *Set) function(
	r *Root, fn *ast.FuncDecl, fset *token.FileSet, wanted map[string]bool,
) error {
	if wanted[r.Func] {
		r.Kind = Named
	}
	if fn.Doc != nil {
		for _, c := range fn.Doc.List {
			at := fset.Position(c.Slash)
			if _, ok := directive(c.Text, "cold"); ok {
				s.Cold[r.Func] = true
			} else if _, ok := directive(c.Text, "none"); ok {
				r.Kind, r.Max = Annotated, 0
			} else if n, ok := strings.CutPrefix(c.Text, "//alloc:max="); ok {
				if _, err := fmt.Sscanf(n, "%d", &r.Max); err != nil || r.Max < 0 {
					return fmt.Errorf("%s: //alloc:max=%s: want a number", at, n)
				}
				r.Kind = Annotated
			} else if _,
				ok := directive(c.Text, "ok"); !ok && strings.HasPrefix(c.Text, "//alloc:") {
				return fmt.Errorf("%s: %s: no such directive; there are none, max=N, ok and cold",
					at, c.Text)
			}
		}
	}
	if r.Kind != "" {
		s.Roots = append(s.Roots, *r)
	}
	return nil
}

// directive reports whether a comment is //alloc:name, and the text after it.
func directive(comment, name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(comment, "//alloc:"+name)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// FuncName returns the name of a declared function as the runtime prints it,
// except for package main: there it begins with the import path, as in test
// binaries.
func FuncName(path string, fn *types.Func) string {
	generic := func(name string, params *types.TypeParamList) string {
		if params.Len() > 0 {
			return name + "[...]"
		}
		return name
	}
	sig := fn.Signature()
	name := generic(fn.Name(), sig.TypeParams())
	if sig.Recv() == nil {
		return path + "." + name
	}
	t, format := sig.Recv().Type(), "%s.%s.%s"
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t, format = p.Elem(), "%s.(*%s).%s"
	}
	recv := ""
	if n, ok := types.Unalias(t).(*types.Named); ok {
		recv = generic(n.Obj().Name(), n.TypeParams())
	}
	return fmt.Sprintf(format, path, recv, name)
}
