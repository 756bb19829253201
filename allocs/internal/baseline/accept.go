// SPDX-License-Identifier: Apache-2.0

package baseline

import (
	"maps"
	"slices"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// undecided reports whether nothing shows that a place does not allocate: a
// size or a first use that the runs do not have is a reason, an untaken branch
// is none.
func undecided(f verdict.Finding) bool {
	return f.Verdict == verdict.Possible && f.Missing != verdict.Size && f.Missing != verdict.First
}

// Of returns the baseline that accepts everything in d that would fail a gate.
func Of(d *findings.Document) *File {
	f := &File{Format: format, Accepts: map[string]*Accepted{}}
	for t, tc := range d.Toolchains {
		a := &Accepted{
			Patterns: d.Scope.Patterns, Packages: d.Scope.Packages,
			Runs: map[string][]string{}, Roots: map[string]*Root{},
			Waivers: maps.Collect(maps.All(d.Scope.Waivers)),
		}
		for _, l := range tc.Leaves {
			if l.Failed == "" {
				a.Runs[l.Package] = append(a.Runs[l.Package], l.Name)
			}
		}
		for p, names := range a.Runs {
			slices.Sort(names)
			a.Runs[p] = slices.Compact(names)
		}
		for _, r := range d.Roots {
			if x := accepted(r, t); x.Allowed != nil || len(x.Sites) > 0 {
				a.Roots[r.ID] = x
			}
		}
		f.Accepts[tc.Line] = a
	}
	return f
}

// accepted returns the part of a root that a baseline keeps.
func accepted(r *findings.Root, t int) *Root {
	x := &Root{Package: r.Package, Allowed: r.Allowed, Reached: at(r.Reached, t),
		Absent: at(r.NoCode, t), Sites: map[string]*Site{}}
	for _, s := range r.Sites {
		a := &s.Answers[t]
		if a.Allocates() {
			n, leaf := a.Count()
			x.Sites[s.Key] = &Site{Count: n, Leaf: leaf, Leaves: byLeaf(a)}
		} else if undecided(a.Finding) {
			x.Undecided++
		}
	}
	return x
}

// byLeaf returns the counts of the leaves that showed a place, if there are
// several.
func byLeaf(a *findings.Answer) map[string]float64 {
	if a.Evidence == nil || len(a.Evidence.Runs) < 2 {
		return nil
	}
	out := map[string]float64{}
	for _, r := range a.Evidence.Runs {
		out[r.Name] = r.PerOp
	}
	return out
}

func at(list []bool, i int) bool { return i < len(list) && list[i] }

// within returns a function that reports whether a package is in the scope of a
// run: it matches, or would match if it existed.
func (a *Accepted) within(d *findings.Document) func(pkg string) bool {
	same := len(a.Patterns) > 0 && slices.Equal(a.Patterns, d.Scope.Patterns)
	return func(pkg string) bool { return same || slices.Contains(d.Scope.Packages, pkg) }
}

// With returns the baseline updated with another one; entries outside the scope
// of the other run stay.
func (f *File) With(other *File, d *findings.Document) *File {
	if f == nil {
		return other
	}
	for line, now := range other.Accepts {
		if before := f.Accepts[line]; before != nil {
			now.keep(before, before.within(d))
		}
		f.Accepts[line] = now
	}
	return f
}

// keep copies the entries of packages outside the scope of a run.
func (a *Accepted) keep(before *Accepted, within func(pkg string) bool) {
	for _, p := range before.Packages {
		if within(p) {
			continue
		}
		a.Patterns = before.Patterns
		a.Packages = append(slices.Clip(a.Packages), p)
		if w := before.Waivers[p]; len(w) > 0 {
			a.Waivers[p] = w
		}
		if names := before.Runs[p]; len(names) > 0 {
			a.Runs[p] = names
		}
	}
	slices.Sort(a.Packages)
	for id, r := range before.Roots {
		if !within(r.Package) {
			a.Roots[id] = r
		}
	}
}
