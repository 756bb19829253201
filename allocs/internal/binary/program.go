// SPDX-License-Identifier: Apache-2.0

package binary

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// Program is an executable whose functions can be looked up.
type Program struct {
	im     *image
	lines  *lineTable
	byName map[string][]int // normalised name → indexes of im.symbols

	decoded map[uint64]*Func
}

// Func is a compiled function.
type Func struct {
	Symbol string // the linker's name, with the shapes of type arguments
	Name   string // Symbol with "[...]", as in stack traces
	Entry  uint64
	Calls  []Call

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
	Target string // symbol of the callee; "" if it is determined at run time
	Entry  uint64 // address of the callee, or 0
	Stack  []Frame
	Doomed bool // no path leads from here to a return: the function panics

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
	p, err := Read(f, main)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// Read is like Open for an executable that is open already; r is no longer
// needed when it returns.
func Read(r io.ReaderAt, main string) (*Program, error) {
	im, err := newImage(r)
	if err != nil {
		return nil, err
	}
	lines, err := newLineTable(im)
	if err != nil {
		return nil, err
	}
	p := &Program{im: im, lines: lines, byName: map[string][]int{}, decoded: map[uint64]*Func{}}
	im.main = main
	for i := range im.symbols {
		s := &im.symbols[i]
		s.name = im.renamed(s.name)
		name := Normalise(s.name)
		p.byName[name] = append(p.byName[name], i)
	}
	return p, nil
}

// Normalise converts a linker symbol to the spelling of run-time stacks: type
// arguments are "[...]", escaped path elements are plain.
func Normalise(symbol string) string {
	symbol = strings.TrimSuffix(symbol, ".abi0")
	if i := strings.IndexByte(symbol, '['); i >= 0 {
		if j := strings.LastIndexByte(symbol, ']'); j > i {
			symbol = symbol[:i] + "[...]" + symbol[j+1:]
		}
	}
	if strings.Contains(symbol, "%") {
		symbol = escaped.ReplaceAllStringFunc(symbol, func(s string) string {
			return string(rune(unhex(s[1])<<4 | unhex(s[2])))
		})
	}
	return symbol
}

var escaped = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

func unhex(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	}
	return c - '0'
}

// Lookup returns the functions with a normalised name: none if all calls were
// inlined or the function is not used, several if it is generic.
func (p *Program) Lookup(name string) []*Func {
	var out []*Func
	for _, i := range p.byName[name] {
		out = append(out, p.decode(p.im.symbols[i]))
	}
	return out
}

// Names calls f with every normalised name of a function.
func (p *Program) Names(f func(name string)) {
	for name := range p.byName {
		f(name)
	}
}

// At returns the function that starts at or holds addr, or nil.
func (p *Program) At(addr uint64) *Func {
	s, ok := p.im.named(addr)
	if !ok {
		return nil
	}
	return p.decode(s)
}

// decode reads the code of a function, once.
func (p *Program) decode(s symbol) *Func {
	if f := p.decoded[s.addr]; f != nil {
		return f
	}
	f := &Func{Symbol: s.name, Name: Normalise(s.name), Entry: s.addr}
	p.decoded[s.addr] = f
	r := p.lines.find(s.addr)
	if r == nil {
		return f
	}
	g := newGraph(p.im.arch.decode(p.im.code(s), s.addr), s.addr, s.end, p.ends)
	f.graph = g
	for i, in := range g.insts {
		out := (in.flow == jump || in.flow == branch) && (in.target < s.addr || in.target >= s.end)
		if in.flow != call && in.flow != callAny && !out {
			continue
		}
		c := Call{Doomed: g.doomed(i), at: i}
		if in.flow != callAny {
			to, ok := p.im.named(in.target)
			if !ok {
				continue
			}
			c.Target, c.Entry = to.name, to.addr
		}
		c.Stack = p.lines.stack(r, in.pc)
		f.Calls = append(f.Calls, c)
	}
	return f
}

// ends reports whether a call to the function at addr never returns.
func (p *Program) ends(addr uint64) bool {
	s, ok := p.im.named(addr)
	return ok && neverReturns(s.name)
}

func neverReturns(symbol string) bool {
	name, ok := strings.CutPrefix(symbol, "runtime.")
	if !ok {
		return symbol == "os.Exit" || symbol == "log.Fatal" || symbol == "log.Fatalf" || symbol == "log.Panic" || symbol == "log.Panicf"
	}
	name = strings.TrimSuffix(name, ".abi0")
	switch name {
	case "gopanic", "throw", "fatal", "Goexit", "goexit", "block", "sigpanic":
		return true
	}
	return strings.HasPrefix(name, "panic") || strings.HasPrefix(name, "goPanic")
}
