// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"slices"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Status is the category of a root. Each root has one.
type Status string

// The states of a root, the worst first.
const (
	Above    Status = "above"    // more is allocated than its comment allows
	Counted  Status = "counted"  // runs counted allocations below it
	Unproven Status = "unproven" // nothing shows that it keeps to //alloc:none, or it has no code
	Possible Status = "possible" // a line below it can allocate
	None     Status = "none"     // nothing below it can allocate
)

// States are all of them, the worst first.
var States = []Status{Above, Counted, Unproven, Possible, None}

// Summary has the numbers that every report shows.
type Summary struct {
	Roots map[Status]int `json:"roots"` // numbers of roots
	// Sites counts each line and kind once, however many roots are above
	// it, with the worst verdict of any of them and of any toolchain.
	Sites SiteCounts `json:"sites"`
	// Missing counts the possible ones of Sites by the evidence they lack.
	Missing map[verdict.Missing]int `json:"missing,omitempty"`
	// Calls are the lines with calls that are not followed, each once.
	Calls []Call `json:"unfollowed_calls,omitempty"`
}

// SiteCounts are numbers of sites by their verdict.
type SiteCounts map[verdict.Verdict]int

// Call is a line of the module that calls something through an interface or a
// function value, itself or further below, that is not followed.
type Call struct {
	Func string `json:"function"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// place identifies a site across roots and toolchains.
type place struct {
	file, kind, callee string
	line               int
}

// Same returns the sites of all roots, those of one place together, in the
// order of their files and lines.
func (d *Document) Same() [][]*Site {
	at := map[place]int{}
	var out [][]*Site
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			p := place{s.File, s.Kind, s.Callee, s.Line}
			i, ok := at[p]
			if !ok {
				i = len(out)
				at[p] = i
				out = append(out, nil)
			}
			out[i] = append(out[i], s)
		}
	}
	slices.SortStableFunc(out, func(a, b []*Site) int {
		return cmp.Or(cmp.Compare(a[0].File, b[0].File), cmp.Compare(a[0].Line, b[0].Line))
	})
	return out
}

// Sum fills in the totals over all roots.
func (d *Document) Sum() {
	s := &d.Summary
	*s = Summary{Roots: map[Status]int{}, Sites: SiteCounts{}, Missing: map[verdict.Missing]int{}}
	for _, r := range d.Roots {
		r.Status = r.status()
		s.Roots[r.Status]++
		s.Calls = append(s.Calls, r.Calls...)
	}
	s.Calls = once(s.Calls)
	for _, same := range d.Same() {
		all := verdict.Finding{Verdict: verdict.None}
		for _, x := range same {
			all = all.Or(x.Worst())
		}
		s.Sites[all.Verdict]++
		if all.Verdict == verdict.Possible {
			s.Missing[all.Missing]++
		}
	}
}

func (r *Root) status() Status {
	switch w := r.Worst(); {
	case r.Over():
		return Above
	case w.Verdict == verdict.Counted:
		return Counted
	case !r.Proven() || r.Absent():
		return Unproven
	case w.Verdict == verdict.Possible:
		return Possible
	}
	return None
}

// addCalls adds the calls that are not followed on a toolchain, except those
// that are cold.
func (r *Root) addCalls(d *Document, dynamic []verdict.Dynamic, holds func(file string) bool) {
	for _, x := range dynamic {
		for _, f := range x.Stack {
			if holds(f.File) && x.Reach < verdict.Rarely {
				r.Calls = append(r.Calls,
					Call{binary.Normalise(f.Func), d.relative(f.File), f.Line})
				break
			}
		}
	}
	r.Calls = once(r.Calls)
}

// once keeps one call for each line, and sorts the calls by their lines.
func once(calls []Call) []Call {
	slices.SortFunc(calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.CompactFunc(calls, func(a, b Call) bool {
		return a.File == b.File && a.Line == b.Line
	})
}
