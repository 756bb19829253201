// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/runs"
)

// Input is the evidence about a module on one toolchain.
type Input struct {
	Programs []*binary.Program
	Escapes  *compiler.Index
	InModule func(file string) bool
	Waived   func(f binary.Frame) bool
	Runs     []runs.Result
	Visits   []*Visit

	bodies map[string][]body    // functions with code, by the declaration they are in
	active map[roots.Place]bool // lines that any run saw allocating when warm
}

// Visit has the lines that the runs of a program execute in each operation.
type Visit struct {
	runs.Visited
	Program *binary.Program

	calls map[key]bool // whether a function has one because another is inlined into it
}

type body struct {
	program *binary.Program
	f       *binary.Func
}

// Result holds the findings below one root.
type Result struct {
	Root    roots.Root
	Sites   []*Site
	Dynamic []Dynamic // calls that could not be followed
	Absent  bool      // no executable has code for the root
	Reached bool      // runs execute the root in each operation
}

// Root walks from one root and decides on every site below it.
func (in *Input) Root(r roots.Root) Result {
	w := &walker{stop: in.Waived, seen: map[*binary.Func]bool{}}
	res := Result{Root: r, Absent: !in.start(w, r)}
	w.walk()
	res.Dynamic = w.dynamic
	sites := map[key]*Site{}
	for _, f := range w.found {
		in.addFound(sites, f, r)
	}
	for i := range in.Runs {
		for j := range in.Runs[i].Sites {
			in.addMeasured(sites, &in.Runs[i], &in.Runs[i].Sites[j], r)
		}
	}
	res.Reached = in.reached(r)
	for _, s := range sites {
		in.explainEscape(s)
		s.Evidence.Visited = in.visited(s, r)
		s.Evidence.Came = in.came(roots.Place{File: s.File, Line: s.Line})
		s.Evidence.Gone = s.Evidence.Visited && in.gone(s)
		s.Evidence.SetUp = in.setUp(s)
		s.Evidence.Unreached = s.Evidence.SetUp && !res.Reached
		s.decide()
		res.Sites = append(res.Sites, s)
	}
	order(res.Sites)
	return res
}

// order sorts sites by place.
func order(sites []*Site) {
	slices.SortFunc(sites, func(a, b *Site) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Callee, b.Callee))
	})
}

// start gives the walker the functions of the root.
func (in *Input) start(w *walker, r roots.Root) bool {
	found := false
	if r.Kind != roots.LogCall {
		for _, p := range in.Programs {
			for _, f := range p.Lookup(r.Func) {
				w.push(step{program: p, f: f})
				found = true
			}
			if found {
				break
			}
		}
		return found
	}
	for _, b := range in.bodiesOf(r.Func) {
		only := func(c *binary.Call) bool { return inRegion(c.Stack, r) >= 0 }
		for i := range b.f.Calls {
			if only(&b.f.Calls[i]) {
				own := func(f binary.Frame) bool { return inRegion([]binary.Frame{f}, r) >= 0 }
				w.push(step{program: b.program, f: b.f, only: only, own: own})
				found = true
				break
			}
		}
	}
	return found
}

// bodiesOf returns the functions whose code can hold a line of the function
// named in: itself and the function literals in it.
func (in *Input) bodiesOf(name string) []body {
	if in.bodies == nil {
		in.bodies = map[string][]body{}
	}
	if b, ok := in.bodies[name]; ok {
		return b
	}
	var out []body
	for _, p := range in.Programs {
		var names []string
		p.Names(func(n string) {
			if n == name || strings.HasPrefix(n, name+".") {
				names = append(names, n)
			}
		})
		sort.Strings(names)
		for _, n := range names {
			for _, f := range p.Lookup(n) {
				out = append(out, body{p, f})
			}
		}
		if len(out) > 0 {
			break
		}
	}
	in.bodies[name] = out
	return out
}

// inRegion returns the index of the frame that is in the lines of the root, or
// -1.
func inRegion(stack []binary.Frame, r roots.Root) int {
	return slices.IndexFunc(stack, func(f binary.Frame) bool {
		return f.File == r.File && f.Line >= r.Line && f.Line <= r.End
	})
}

// cut returns the part of a stack from the allocation to the root, or nil when
// the root is not on it.
func cut(stack []binary.Frame, r roots.Root) []binary.Frame {
	if r.Kind == roots.LogCall {
		if i := inRegion(stack, r); i >= 0 {
			return stack[:i+1]
		}
		return nil
	}
	for i, f := range stack {
		if binary.Normalise(f.Func) == r.Func {
			return stack[:i+1]
		}
	}
	return nil
}

// holds returns InModule for a stack that ends with the root. The file of the
// root is in the module whatever its name is: in generated code, a comment
// //line can name another one.
func (in *Input) holds(stack []binary.Frame) func(file string) bool {
	own := stack[len(stack)-1].File
	return func(file string) bool { return file == own || in.InModule(file) }
}

func (in *Input) addFound(sites map[key]*Site, f Found, r roots.Root) {
	st := cut(f.Stack, r)
	if st == nil {
		st = f.Stack
	}
	k, at := place(st, f.Kind, in.holds(st))
	reach := f.Reach
	s := sites[k]
	if s == nil {
		s = newSite(k, st, at, f.Kind)
		s.Evidence = Evidence{Code: true, Calls: 1, Reach: reach, Why: f.Why, Rule: f.Rule}
		sites[k] = s
		return
	}
	e := &s.Evidence
	if reach < e.Reach || reach == e.Reach && f.Rule < e.Rule {
		e.Reach, e.Why, e.Rule = reach, f.Why, f.Rule
		s.Stack, s.Inner = st, f.Kind
		e.Calls = 1
	} else if reach == e.Reach && f.Rule == e.Rule {
		e.Calls++
	}
}

func (in *Input) addMeasured(sites map[key]*Site, run *runs.Result, m *runs.Site, r roots.Root) {
	all, kind := trimRuntime(m.Stack)
	st := cut(all, r)
	if st == nil {
		return
	}
	if slices.ContainsFunc(st, in.Waived) {
		return
	}
	seen := Seen{run.Shown(), m.PerOp, m.Total, m.Bytes}
	if kind == "" { // the runtime allocates for itself
		if m.PerOp <= 0 {
			return // no code allocates it, and it does not persist
		}
		kind = heapcalls.Object
	}
	k, at := place(st, kind, in.holds(st))
	s := sites[k]
	if s == nil {
		s = newSite(k, st, at, kind)
		s.Evidence.Reach = Maybe
		sites[k] = s
	}
	s.Evidence.add(seen)
	if m.PerOp > 0 {
		s.measuredAt(st, kind, m.PerOp)
	}
}

// add adds a count to those of the same run.
func (e *Evidence) add(seen Seen) {
	for i := range e.Runs {
		if r := &e.Runs[i]; r.Name == seen.Name {
			r.PerOp += seen.PerOp
			r.Total += seen.Total
			r.Bytes += seen.Bytes
			return
		}
	}
	e.Runs = append(e.Runs, seen)
}

// visited reports whether runs executed the line of a site, and none of them,
// for this root or another, saw it allocate when warm.
func (in *Input) visited(s *Site, r roots.Root) bool {
	if e := s.Evidence.Escape; e != nil && e.Moved && s.File == r.File && s.Line == r.Line {
		// A parameter: where the function is inlined, the line of the
		// call allocates.
		return false
	}
	if in.active == nil {
		in.active = map[roots.Place]bool{}
		for _, r := range in.Runs {
			for _, m := range r.Sites {
				if i := home(m.Stack, in.InModule); i >= 0 && m.PerOp > 0 {
					in.active[roots.Place{File: m.Stack[i].File, Line: m.Stack[i].Line}] = true
				}
			}
		}
	}
	at := roots.Place{File: s.File, Line: s.Line}
	return !in.active[at] && in.came(at)
}

// setUp reports whether it is known that no run executes the line of the site
// in each operation. For test files it is not.
func (in *Input) setUp(s *Site) bool {
	return len(in.Visits) > 0 && !strings.HasSuffix(s.File, "_test.go") && !s.Evidence.Came
}

// came reports whether a run executed the line.
func (in *Input) came(p roots.Place) bool {
	return slices.ContainsFunc(in.Visits,
		func(v *Visit) bool { return v.Line(p.File, p.Line) })
}

// gone reports whether no program whose runs execute the line of the site has
// its call there, because of what it is inlined into. If small results may stay
// on the stack there, the call may be for larger ones only, and does not count.
// The calls of a generic function depend on the types.
func (in *Input) gone(s *Site) bool {
	if strings.Contains(s.Func, "[...]") {
		return false
	}
	at := key{s.File, s.Line, s.Kind, s.Callee}
	return !slices.ContainsFunc(in.Visits, func(v *Visit) bool {
		inlined, ok := v.has(at, in.InModule)
		return v.Line(s.File, s.Line) && ok && !(inlined && s.mayStay())
	})
}

// mayStay reports whether the site is of a kind for which small results stay on
// the stack, unless they outlive the function, as this one does.
func (s *Site) mayStay() bool {
	return s.Kind == heapcalls.Inside && s.Evidence.Escape != nil &&
		(strings.HasPrefix(s.Evidence.Escape.What, "make(") ||
			sizeRules[s.Inner] == sizeRules[heapcalls.Concat])
}

// has reports whether the program has a call for a site, and one in a function
// into which the one of the site is inlined.
func (v *Visit) has(at key, inModule func(file string) bool) (inlined, ok bool) {
	if v.calls == nil {
		v.calls = map[key]bool{}
		for f := range v.Program.Within(inModule) {
			for i := range f.Calls {
				c := &f.Calls[i]
				kind, _, ok := heapcalls.Of(c.Target)
				st := c.Stack
				switch {
				case ok:
				case c.Target != "" && heapcalls.Opaque(c.Target):
					continue
				default: // the callee may allocate
					st = append([]binary.Frame{{Func: c.Target}}, st...)
				}
				if k, at := place(st, kind, inModule); at >= 0 {
					v.calls[k] = v.calls[k] || at < len(st)-1
				}
			}
		}
	}
	inlined, ok = v.calls[at]
	return inlined, ok
}

// reached reports whether runs execute the root in each operation.
func (in *Input) reached(r roots.Root) bool {
	return slices.ContainsFunc(in.Visits, func(v *Visit) bool {
		if r.Kind == roots.LogCall {
			return v.Line(r.File, r.Line)
		}
		return v.Function(r.File, r.Line, r.End)
	})
}
