// SPDX-License-Identifier: Apache-2.0

// Package outline follows calls in the source alone, for releases whose
// executables are not read: which escapes that the compiler printed are below a
// root, and whether every path through the source executes them.
//
// It sees less than the code shows. Calls through interfaces and function
// values are not followed, nor are those that leave the module, and the
// compiler's text is silent about growing slices. So it also returns the lines
// that are below a root: of those that no run has executed, nothing is known.
package outline

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"sort"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Module is the source of a module with the compiler's output for it.
type Module struct {
	fset    *token.FileSet
	cold    verdict.Coldness
	waived  func(binary.Frame) bool
	inlined compiler.Inlined
	byName  map[string]*function
	byPlace map[compiler.Position]*function // functions by the place of their name: a package and its test variant have different objects
	escapes map[string][]*compiler.Escape   // escapes by file, in the order of their lines
}

// function is a declared function with a body.
type function struct {
	name   string // name as at run time
	file   string
	decl   *ast.FuncDecl
	info   *types.Info
	spans  []span // parts that are not on every path
	calls  []call
	lines  []int // lines on which statements begin
	counts []*compiler.Escape
}

// call is a call whose callee the source shows.
type call struct {
	at     compiler.Position // its opening parenthesis, by which the compiler identifies it
	callee *types.Func
}

// New makes the outline of the packages. The text is that of one toolchain.
func New(src *load.Source, text map[string]*compiler.Text, cold verdict.Coldness, waived func(binary.Frame) bool) *Module {
	m := &Module{fset: src.Fset, cold: cold, waived: waived, inlined: compiler.Inlined{},
		byName: map[string]*function{}, byPlace: map[compiler.Position]*function{}, escapes: map[string][]*compiler.Escape{}}
	for _, t := range text {
		for at, names := range t.Inlined {
			m.inlined[at] = append(m.inlined[at], names...)
		}
		for i := range t.Escapes {
			e := &t.Escapes[i]
			m.escapes[e.Stack[0].File] = append(m.escapes[e.Stack[0].File], e)
		}
	}
	for _, p := range src.Packages {
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					m.add(p.PkgPath, fn, p.TypesInfo)
				}
			}
		}
	}
	return m
}

func (m *Module) add(path string, decl *ast.FuncDecl, info *types.Info) {
	f := &function{name: roots.FuncName(path, decl), file: m.fset.Position(decl.Pos()).Filename, decl: decl, info: info}
	f.spans = conditional(decl)
	seen := map[int]bool{}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false // a goroutine does no work for the root
		case *ast.CallExpr:
			if callee := static(info, n); callee != nil {
				f.calls = append(f.calls, call{m.position(n.Lparen), callee})
			}
		case *ast.BlockStmt:
		case ast.Stmt:
			if line := m.fset.Position(n.Pos()).Line; !seen[line] {
				seen[line] = true
				f.lines = append(f.lines, line)
			}
		}
		return true
	})
	sort.Ints(f.lines)
	from, to := m.position(decl.Pos()), m.position(decl.End())
	for _, e := range m.escapes[f.file] {
		if at := e.Stack[0]; !before(at, from) && before(at, to) {
			f.counts = append(f.counts, e)
		}
	}
	m.byName[f.name] = f
	m.byPlace[m.position(decl.Name.Pos())] = f
}

func (m *Module) position(p token.Pos) compiler.Position {
	at := m.fset.Position(p)
	return compiler.Position{File: at.Filename, Line: at.Line, Col: at.Column}
}

func before(a, b compiler.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
}

// static returns the function that a call calls, or nil when that is decided
// at run time.
func static(info *types.Info, c *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	fn, ok := info.Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return nil
	}
	return fn.Origin()
}

// Root returns the calls and sites below a root.
func (m *Module) Root(r roots.Root) verdict.Outline {
	f := m.byName[r.Func]
	if f == nil {
		return verdict.Outline{Unknown: fmt.Sprintf("there is no source of %s", r.Func)}
	}
	w := &walk{Module: m, root: r, seen: map[visit]bool{}}
	w.push(step{f: f})
	for reach := range w.queues {
		// Calls found on the way are at most as certain, so earlier queues stay
		// empty.
		for len(w.queues[reach]) > 0 {
			s := w.queues[reach][0]
			w.queues[reach] = w.queues[reach][1:]
			w.enter(s)
		}
	}
	return w.out
}

// walk is the walk from one root: the most certain calls first, so that each
// function is entered on the surest chain.
type walk struct {
	*Module
	root   roots.Root
	seen   map[visit]bool
	queues [verdict.Rarely + 1][]step
	out    verdict.Outline
}

type visit struct {
	f       *function
	inlined bool
}

// step is a function to enter: above are the frames from its call to the root.
type step struct {
	f       *function
	above   []binary.Frame
	reach   verdict.Reach
	why     string
	inlined bool
}

func (w *walk) push(s step) { w.queues[s.reach] = append(w.queues[s.reach], s) }

// depthLimit is the maximum length of a chain.
const depthLimit = 40

// enter looks at a function. The escapes of one that was inlined count where
// they were printed, at the call, so only the calls in it are followed.
func (w *walk) enter(s step) {
	if w.seen[visit{s.f, s.inlined}] || len(s.above) > depthLimit {
		return
	}
	w.seen[visit{s.f, s.inlined}] = true
	if !s.inlined {
		for _, e := range s.f.counts {
			if frame, reach, why, ok := w.at(s, e.Stack[0]); ok {
				w.found(s.f, e, append([]binary.Frame{frame}, s.above...), reach, why)
			}
		}
	}
	for _, c := range s.f.calls {
		g := w.byPlace[w.position(c.callee.Pos())]
		if g == nil {
			continue
		}
		if frame, reach, why, ok := w.at(s, c.at); ok {
			w.push(step{g, append([]binary.Frame{frame}, s.above...), reach, why, w.inlined.At(c.at, c.callee.Name())})
		}
	}
	for _, line := range s.f.lines {
		if frame, reach, _, ok := w.at(s, compiler.Position{Line: line}); ok && reach < verdict.Rarely {
			w.out.Lines = append(w.out.Lines, roots.Place{File: frame.File, Line: line})
		}
	}
}

// at returns how certainly a place in a function is executed; ok is false if it
// is waived, or outside of the lines of the log call that is the root.
func (w *walk) at(s step, p compiler.Position) (frame binary.Frame, reach verdict.Reach, why string, ok bool) {
	frame, reach, why = binary.Frame{Func: s.f.name, File: s.f.file, Line: p.Line}, s.reach, s.why
	if w.waived(frame) {
		return frame, reach, why, false
	}
	if len(s.above) == 0 && w.root.Kind == roots.LogCall {
		// The arguments of a log call are evaluated whenever it is, whatever precedes
		// it.
		return frame, reach, why, p.Line >= w.root.Line && p.Line <= w.root.End
	}
	if reach < verdict.Maybe && s.f.conditional(w.fset, p) {
		reach = verdict.Maybe
	}
	if reason := w.cold(frame); reason != "" && reach < verdict.Rarely {
		reach, why = verdict.Rarely, reason
	}
	return frame, reach, why, true
}

// found adds an escape, unless it allocates nothing.
func (w *walk) found(f *function, e *compiler.Escape, stack []binary.Frame, reach verdict.Reach, why string) {
	own := e
	if g, there := w.origin(f, e); g != nil {
		f, own = g, there
		stack = append([]binary.Frame{{Func: g.name, File: g.file, Line: there.Stack[0].Line}}, stack...)
	}
	kind, rule, ok, sure := w.kindOf(f, own)
	if !ok {
		return
	}
	if !sure && reach < verdict.Maybe {
		reach = verdict.Maybe
	}
	w.out.Said = append(w.out.Said, verdict.Said{
		Found:  verdict.Found{Stack: stack, Kind: kind, Rule: rule, Reach: reach, Why: why},
		Escape: e,
	})
}

// origin finds where an escape is in the source of a function that was inlined
// at its position: that of the same value in the function by itself.
func (w *walk) origin(f *function, e *compiler.Escape) (*function, *compiler.Escape) {
	if w.expression(f, e) != nil {
		return nil, nil
	}
	for _, c := range f.calls {
		if g := w.byPlace[w.position(c.callee.Pos())]; g != nil && c.at == e.Stack[0] && w.inlined.At(c.at, c.callee.Name()) {
			for _, own := range g.counts {
				if own.What == e.What {
					return g, own
				}
			}
		}
	}
	return nil, nil
}
