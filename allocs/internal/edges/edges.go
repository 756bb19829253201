// SPDX-License-Identifier: Apache-2.0

// Package edges finds the callees that machine code does not show: those of
// calls through interfaces and function values.
//
// It uses variable type analysis, which follows the types and functions that
// can flow to a call. On the same program it finds one callee where class
// hierarchy analysis finds dozens. It analyzes the source, so it runs once for
// all toolchains.
package edges

import (
	"cmp"
	"context"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// Callee is a function that a dynamic call can reach.
type Callee struct {
	Name string // run-time spelling; "" for a function literal
	File string // file of a function literal
	Line int
}

// Table has the callees of dynamic calls.
type Table struct {
	// Lines is by "file:line" of the call; files of the standard library are
	// below "$GOROOT".
	Lines map[string][]Callee
	// Funcs is by the name of the calling function, for a standard library
	// of another release, where lines differ.
	Funcs map[string][]Callee
	// Version is the release whose standard library Lines is about.
	Version string
}

// goroot represents the directory of the standard library.
const goroot = "$GOROOT"

// Key returns the form of a place in Lines.
func Key(file string, line int, root string) string {
	return fmt.Sprintf("%s:%d", inRoot(file, root), line)
}

func inRoot(file, root string) string {
	if rest, ok := strings.CutPrefix(file, root+string(filepath.Separator)); ok && root != "" {
		return goroot + "/" + filepath.ToSlash(rest)
	}
	return file
}

// At returns the functions that a call at the place can reach; ok is false when
// the call is not known.
func (t *Table) At(caller, file string, line int, root, version string) (callees []Callee, ok bool) {
	key := Key(file, line, root)
	if !strings.HasPrefix(key, goroot) || version == t.Version {
		callees, ok = t.Lines[key]
	} else {
		callees, ok = t.Funcs[caller]
	}
	return callees, ok
}

// Config sets which module is analysed.
type Config struct {
	Dir      string
	Patterns []string
	GOROOT   string
	Version  string
}

// Build returns the table.
func Build(ctx context.Context, c Config) (*Table, error) {
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: c.Dir, Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
	}, c.Patterns...)
	if err != nil {
		return nil, err
	}
	prog, _ := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	graph := vta.CallGraph(ssautil.AllFunctions(prog), cha.CallGraph(prog))
	t := &Table{Lines: map[string][]Callee{}, Funcs: map[string][]Callee{}, Version: c.Version}
	for fn, node := range graph.Nodes {
		if fn != nil && fn.Synthetic == "" || fn != nil && fn.Origin() != nil {
			t.calls(c, prog.Fset, fn, node)
		}
	}
	tidy(t.Lines)
	tidy(t.Funcs)
	return t, nil
}

// Most is the maximum number of callees of a call that are kept. More of them
// mean only that the analysis does not know which.
const Most = 9

// calls adds the dynamic calls of a function. A call without possible callees
// has an empty entry: it is known.
func (t *Table) calls(c Config, fset *token.FileSet, fn *ssa.Function, node *callgraph.Node) {
	bySite := map[ssa.CallInstruction][]*callgraph.Node{}
	for _, e := range node.Out {
		if e.Site != nil {
			bySite[e.Site] = append(bySite[e.Site], e.Callee)
		}
	}
	ends := ends(fn)
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			site, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if _, builtin := site.Common().Value.(*ssa.Builtin); builtin {
				continue
			}
			at := []token.Pos{site.Pos()}
			if _, deferred := in.(*ssa.Defer); deferred {
				at = append(at, ends...)
			} else if site.Common().StaticCallee() != nil {
				continue
			}
			for _, pos := range at {
				t.add(c, fset, fn, pos, bySite[site])
			}
		}
	}
}

// ends returns the places where a function runs its deferred calls: at each
// return, and at its end.
func ends(fn *ssa.Function) []token.Pos {
	var out []token.Pos
	if fn.Syntax() != nil {
		out = append(out, fn.Syntax().End()-1)
	}
	for _, b := range fn.Blocks {
		if r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && r.Pos().IsValid() {
			out = append(out, r.Pos())
		}
	}
	return out
}

// add adds the callees of a call to those at its position.
func (t *Table) add(c Config, fset *token.FileSet, fn *ssa.Function, pos token.Pos, nodes []*callgraph.Node) {
	at := fset.Position(pos)
	key := Key(at.Filename, at.Line, c.GOROOT)
	callees := t.Lines[key]
	if callees == nil {
		callees = []Callee{}
	}
	for _, callee := range nodes {
		if len(callees) >= Most {
			break
		}
		for _, to := range targets(callee) {
			callees = with(callees, describe(c, fset, to))
		}
	}
	t.Lines[key] = callees
	if !strings.HasPrefix(key, goroot) {
		return
	}
	caller := Name(fn)
	all := t.Funcs[caller]
	if all == nil {
		all = []Callee{}
	}
	for _, x := range callees {
		all = with(all, x)
	}
	t.Funcs[caller] = all
}

// with adds a callee unless it is there or there are too many.
func with(list []Callee, c Callee) []Callee {
	if len(list) >= Most || slices.Contains(list, c) {
		return list
	}
	return append(list, c)
}

// targets skips the wrappers that the analysis inserts between a call and a
// method. It enters each wrapper once: in large programs wrappers lead to each
// other on thousands of paths.
func targets(n *callgraph.Node) []*ssa.Function {
	var out []*ssa.Function
	seen := map[*callgraph.Node]bool{}
	var follow func(n *callgraph.Node, depth int)
	follow = func(n *callgraph.Node, depth int) {
		if seen[n] {
			return
		}
		seen[n] = true
		if n.Func.Synthetic == "" || n.Func.Origin() != nil || depth > 4 {
			out = append(out, n.Func)
			return
		}
		for _, e := range n.Out {
			follow(e.Callee, depth+1)
		}
	}
	follow(n, 0)
	return out
}

func describe(c Config, fset *token.FileSet, fn *ssa.Function) Callee {
	if fn.Parent() != nil {
		at := fset.Position(fn.Pos())
		return Callee{File: inRoot(at.Filename, c.GOROOT), Line: at.Line}
	}
	return Callee{Name: Name(fn)}
}

// Name returns the run-time spelling of a function; a function literal has that
// of the enclosing function.
func Name(fn *ssa.Function) string {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	if fn.Origin() != nil {
		fn = fn.Origin()
	}
	obj, ok := fn.Object().(*types.Func)
	if !ok || obj.Pkg() == nil {
		return fn.RelString(nil)
	}
	path := obj.Pkg().Path()
	sig := obj.Signature()
	name := obj.Name()
	if sig.TypeParams().Len() > 0 {
		name += "[...]"
	}
	if sig.Recv() == nil {
		return path + "." + name
	}
	t := sig.Recv().Type()
	p, star := t.(*types.Pointer)
	if star {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return path + "." + name
	}
	recv := named.Obj().Name()
	if named.TypeParams().Len() > 0 || named.TypeArgs().Len() > 0 {
		recv += "[...]"
	}
	if star {
		recv = "(*" + recv + ")"
	}
	return path + "." + recv + "." + name
}

// tidy sorts the callees, so that the table is the same each time.
func tidy(m map[string][]Callee) {
	for _, list := range m {
		slices.SortFunc(list, func(a, b Callee) int {
			return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
	}
}
