// SPDX-License-Identifier: Apache-2.0

package outline

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"sort"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/roots"
)

const text = `package m

var kept interface{}

type object struct{ a, b int }

func sure() { kept = &object{} }

func branch(n int) {
	if n > 1 {
		kept = &object{n, n}
	}
	kept = &object{a: n}
}

func after(n int) {
	if n > 1 {
		return
	}
	kept = &object{n, n}
}

func either(n int) bool { return n > 1 && keep(&object{n, n}) }

func keep(o *object) bool { kept = o; return true }

func box(s string) { kept = s }

func calls(s string) { box(s) }

func maybe(s string) {
	for i := 0; i < 3; i++ {
		box(s)
	}
}

func boxes(n int, p *object, b byte, o object, f float64) {
	kept = n
	kept = p
	kept = b
	kept = o
	kept = f
	kept = "text"
	kept = struct{}{}
	kept = 1000
}

func pointer() {
	kept = &object{a: 1}
}

func concat(a, b string) { kept = a + b }

func moved() { var o object; kept = &o }

func started() { go sure() }

func interfaces(f interface{ M() }) { f.M() }
`

// answer makes an answer of the compiler's from lines such as "7:22 &object{}",
// or "29:27 =box" for a call that was inlined.
func answer(t *testing.T, lines []string) *compiler.Text {
	t.Helper()
	out := &compiler.Text{Inlined: compiler.Inlined{}}
	for _, line := range lines {
		p := compiler.Position{File: "m.go"}
		if _, err := fmt.Sscanf(line, "%d:%d", &p.Line, &p.Col); err != nil {
			t.Fatal(line, err)
		}
		_, what, _ := strings.Cut(line, " ")
		if callee, ok := strings.CutPrefix(what, "="); ok {
			out.Inlined[p] = append(out.Inlined[p], callee)
			continue
		}
		variable, moved := strings.CutPrefix(what, "moved ")
		out.Escapes = append(out.Escapes, compiler.Escape{Stack: []compiler.Position{p}, What: variable, Moved: moved, Outer: true})
	}
	return out
}

func outlineOf(t *testing.T, said *compiler.Text) *Module {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "m.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("m", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	src := &load.Source{Fset: fset, Packages: []*packages.Package{{PkgPath: "m", Name: "m", Syntax: []*ast.File{file}, Types: pkg, TypesInfo: info}}}
	return New(src, map[string]*compiler.Text{"m": said}, func(f binary.Frame) string { return "" }, func(binary.Frame) bool { return false })
}

func TestRoot(t *testing.T) {
	for _, c := range []struct {
		root string
		said string
		want string // lines of the stack, the innermost first, reach and kind
	}{
		{"sure", "7:22 &object{}", "7 surely object"},
		{"branch", "11:10 &object{n, n}|13:9 &object{a: n}", "11 maybe object|13 surely object"},
		{"after", "20:9 &object{n, n}", "20 maybe object"},
		{"either", "23:48 &object{n, n}", "23 maybe object"},
		{"either", "25:34 o", ""}, // a pointer becomes an interface value
		{"calls", "27:29 s", "27 29 surely box"},
		{"maybe", "27:29 s", "27 33 maybe box"},
		// Inlined code counts where it is printed, and has the callee's line.
		{"calls", "27:29 s|29:27 =box|29:27 s", "27 29 surely box"},
		{"calls", "27:29 s|29:27 =box", ""},
		{"started", "7:22 &object{}", ""},
		{"interfaces", "", ""},
		// Not all that is printed takes memory.
		{"boxes", "38:9 n", "38 surely box-small"},
		{"boxes", "39:9 p", ""},
		{"boxes", "40:9 b", ""},
		{"boxes", "41:9 o", "41 surely box"},
		{"boxes", "42:9 f", "42 surely box-small"},
		{"boxes", `43:9 "text"`, ""},
		{"boxes", "44:17 struct{}{}", ""},
		{"boxes", "45:9 1000", ""},
		{"boxes", "41:9 ~r0", "41 maybe box"}, // of an unknown type
		{"pointer", "49:16 &object literal", "49 surely object"},
		{"pointer", "49:7 &object literal", ""}, // the pointer becomes an interface value
		{"concat", "52:37 a + b", "52 surely concat"},
		{"moved", "54:20 moved o", "54 surely object"},
	} {
		var got []string
		for _, s := range outlineOf(t, answer(t, strings.FieldsFunc(c.said, func(r rune) bool { return r == '|' }))).Root(roots.Root{Kind: roots.Named, Func: "m." + c.root}).Said {
			line := ""
			for _, f := range s.Stack {
				line += fmt.Sprint(f.Line, " ")
			}
			got = append(got, fmt.Sprint(line, [...]string{"surely", "maybe", "rarely"}[s.Reach], " ", s.Kind))
		}
		sort.Strings(got)
		if joined := strings.Join(got, "|"); joined != c.want {
			t.Errorf("%s, %q: got %q, want %q", c.root, c.said, joined, c.want)
		}
	}
}

// TestUnseen checks the report on lines that no run may have executed.
func TestUnseen(t *testing.T) {
	o := outlineOf(t, answer(t, nil)).Root(roots.Root{Kind: roots.Named, Func: "m.maybe"})
	var got []int
	for _, p := range o.Lines {
		got = append(got, p.Line)
	}
	if want := []int{32, 33, 27}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got lines %v, want %v", got, want)
	}
	if o := outlineOf(t, answer(t, nil)).Root(roots.Root{Func: "m.none"}); o.Unknown == "" {
		t.Error("a root without source: got no word that nothing is known")
	}
	o = outlineOf(t, answer(t, []string{"27:29 s"})).Root(roots.Root{Kind: roots.LogCall, Func: "m.maybe", File: "m.go", Line: 33, End: 33})
	if len(o.Said) != 1 || o.Said[0].Reach != 0 || len(o.Lines) != 2 {
		t.Errorf("a log call: got %+v, want one escape, on every way through, and two lines", o)
	}
}
