// SPDX-License-Identifier: Apache-2.0

// Package binary reads executables: which functions are in an executable, which
// calls they make, and on which source lines, with every inlined frame.
//
// The machine code is the only place where inlining, devirtualisation and
// escape analysis have all been decided. It lacks the reasons, which package
// compiler provides; package verdict joins the two on the full inline stack.
//
// Functions are decoded on demand, because a walk from a few roots reaches a
// small part of a program.
package binary

import (
	"fmt"
	"iter"
	"net/url"
	"os"
	"sort"
	"strings"
)

// Program is an executable whose functions can be looked up.
type Program struct {
	im        *image
	lines     *lineTable
	functions []function
	byName    map[string][]int // normalised name → indexes of functions

	decoded map[uint64]*Func
}

// Func is a compiled function.
type Func struct {
	Name  string // as in stack traces, with "[...]" for type arguments
	Entry uint64
	Calls []Call

	graph *graph
	known map[int]bool
}

// Always reports whether every path from the start of the function to a return
// executes the call.
func (f *Func) Always(c *Call) bool {
	if v, ok := f.known[c.at]; ok {
		return v
	}
	if f.known == nil {
		f.known = map[int]bool{}
	}
	f.known[c.at] = f.graph.always(c.at)
	return f.known[c.at]
}

// Call is one call instruction, or a jump to another function.
type Call struct {
	Target string // name of the callee; "" if it is determined at run time
	Entry  uint64 // address of the callee, or 0
	Stack  []Frame
	Doomed bool // every path from here ends in a panic, or an exit of the program

	at int
}

// Open reads an executable: ELF, Mach-O or PE. It fails rather than return a
// program that lacks calls or lines. main is the import path that replaces
// "main" in the names of functions; "" leaves them as they are.
func Open(path, main string) (*Program, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &Program{byName: map[string][]int{}, decoded: map[uint64]*Func{}}
	if p.im, err = newImage(f); err == nil {
		p.lines, err = newLineTable(p.im, main)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.functions = p.lines.all()
	for i := range p.functions {
		name := Normalise(p.functions[i].name)
		p.byName[name] = append(p.byName[name], i)
	}
	return p, nil
}

// Normalise converts the name of a function in code to the spelling of run-time
// stacks: type arguments are "[...]", escaped path elements are plain.
func Normalise(symbol string) string {
	if i := strings.IndexByte(symbol, '['); i >= 0 {
		if j := strings.LastIndexByte(symbol, ']'); j > i {
			symbol = symbol[:i] + "[...]" + symbol[j+1:]
		}
	}
	if strings.Contains(symbol, "%") {
		if plain, err := url.PathUnescape(symbol); err == nil {
			return plain
		}
	}
	return symbol
}

// Lookup returns the functions with a normalised name: none if all calls were
// inlined or the function is not used, several if it is generic.
func (p *Program) Lookup(name string) []*Func {
	var out []*Func
	for _, i := range p.byName[name] {
		out = append(out, p.decode(&p.functions[i]))
	}
	return out
}

// Names calls f with every normalised name of a function.
func (p *Program) Names(f func(name string)) {
	for name := range p.byName {
		f(name)
	}
}

// Within yields the functions that begin in files that holds accepts.
func (p *Program) Within(holds func(file string) bool) iter.Seq[*Func] {
	return func(yield func(*Func) bool) {
		for i := range p.functions {
			from := &p.functions[i]
			r := &record{fn: from.record, entry: from.entry, tables: map[uint32][]until{}}
			if holds(p.lines.file(r, from.entry)) && !yield(p.decode(from)) {
				return
			}
		}
	}
}

// At returns the function that starts at or holds addr, or nil.
func (p *Program) At(addr uint64) *Func {
	if f := p.holding(addr); f != nil {
		return p.decode(f)
	}
	return nil
}

// holding returns the function that holds addr, or nil: C has none.
func (p *Program) holding(addr uint64) *function {
	i := sort.Search(len(p.functions), func(i int) bool { return p.functions[i].entry > addr }) - 1
	if i < 0 || addr >= p.functions[i].end {
		return nil
	}
	return &p.functions[i]
}

// decode reads the code of a function, once.
func (p *Program) decode(from *function) *Func {
	if f := p.decoded[from.entry]; f != nil {
		return f
	}
	f := &Func{Name: Normalise(from.name), Entry: from.entry}
	p.decoded[from.entry] = f
	code := p.im.at(from.entry)
	if size := from.end - from.entry; size <= uint64(len(code)) {
		code = code[:size]
	}
	r := &record{fn: from.record, entry: from.entry, tables: map[uint32][]until{}}
	r.tree = p.lines.inlineTree(r)
	g := newGraph(p.im.arch(code, from.entry), from.entry, from.end, p.ends)
	f.graph = g
	doomed := g.doomed()
	for i, in := range g.insts {
		out := (in.flow == jump || in.flow == branch) &&
			(in.target < from.entry || in.target >= from.end)
		if in.flow != call && in.flow != callAny && !out {
			continue
		}
		c := Call{Doomed: doomed[i], at: i}
		if in.flow != callAny {
			to := p.holding(in.target)
			if to == nil {
				continue
			}
			c.Target, c.Entry = to.name, to.entry
		}
		c.Stack = p.lines.stack(r, in.pc)
		f.Calls = append(f.Calls, c)
	}
	return f
}

// ends reports whether a call to the function at addr never returns.
func (p *Program) ends(addr uint64) bool {
	f := p.holding(addr)
	return f != nil && neverReturns(f.name)
}

func neverReturns(function string) bool {
	name, ok := strings.CutPrefix(function, "runtime.")
	if !ok {
		name, ok = strings.CutPrefix(function, "log.")
		return ok && (name == "Fatal" || name == "Fatalf" || name == "Panic" || name == "Panicf") ||
			function == "os.Exit"
	}
	switch name {
	case "gopanic", "throw", "fatal", "Goexit", "goexit", "block", "sigpanic":
		return true
	}
	return strings.HasPrefix(name, "panic") || strings.HasPrefix(name, "goPanic")
}
