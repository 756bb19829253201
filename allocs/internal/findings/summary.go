// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"slices"
	"sort"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Status is the category of a root. Each root has one.
type Status string

// The states of a root, the worst first.
const (
	Above   Status = "above"   // more is allocated than its comment allows
	Always  Status = "always"  // a line below it always allocates
	Unknown Status = "unknown" // a line below it can allocate
	Clean   Status = "clean"   // only lines that grow or are cold, if any
	Absent  Status = "absent"  // the function has no code
)

// Missing is the evidence that would resolve a site whose verdict is unknown.
type Missing string

// Missing evidence.
const (
	Benchmark Missing = "benchmark" // no benchmark or test executes the line
	Branch    Missing = "branch"    // the calls take another branch
	Agreement Missing = "agreement" // the code always allocates there, and according to runs never
)

// Summary has the numbers that every report shows.
type Summary struct {
	Roots map[Status]int `json:"roots"` // numbers of roots
	// Sites counts each line and kind once, however many roots are above
	// it, with the worst verdict of any of them and of any toolchain.
	Sites      SiteCounts   `json:"sites"`
	Toolchains []SiteCounts `json:"toolchains"` // the same for each toolchain
	// Missing counts the unknown ones of Sites by the evidence they lack.
	Missing map[Missing]int `json:"missing,omitempty"`
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

// place identifies a site across roots.
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
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i][0], out[j][0]
		if a.File != b.File {
			return a.File < b.File
		}
		return a.Line < b.Line
	})
	return out
}

// Sum fills in the totals over all roots.
func (d *Document) Sum() {
	s := &d.Summary
	*s = Summary{Roots: map[Status]int{}, Sites: SiteCounts{}, Missing: map[Missing]int{}}
	for range d.Toolchains {
		s.Toolchains = append(s.Toolchains, SiteCounts{})
	}
	for _, r := range d.Roots {
		r.Status = r.status()
		s.Roots[r.Status]++
		s.Calls = append(s.Calls, r.Calls...)
	}
	s.Calls = once(s.Calls)
	reached := d.reached()
	for _, same := range d.Same() {
		worst := verdict.Absent
		for t := range d.Toolchains {
			v := verdict.Absent
			for _, x := range same {
				if have := x.Answers[t].Verdict; have.Rank() > v.Rank() {
					v = have
				}
			}
			s.Toolchains[t][v]++
			if v.Rank() > worst.Rank() {
				worst = v
			}
		}
		s.Sites[worst]++
		if m := missing(same, reached); worst == verdict.Unknown {
			s.Missing[m]++
		}
	}
}

func (r *Root) status() Status {
	switch w := r.Worst(); {
	case r.Over():
		return Above
	case w == verdict.Always:
		return Always
	case w == verdict.Unknown || !r.Proven():
		return Unknown
	case w == verdict.Absent:
		return Absent
	}
	return Clean
}

// missing sets the evidence that the unknown sites of one place lack, and
// returns it: it is the same for all of them.
func missing(same []*Site, reached map[line]bool) Missing {
	m := Benchmark
	if reached[line{same[0].File, same[0].Line}] {
		m = Branch
	}
	for _, s := range same {
		for _, a := range s.Answers {
			if a.Verdict != verdict.Unknown {
				continue
			}
			if a.Conflict != "" {
				m = Agreement
			} else if m == Benchmark && a.Evidence != nil && a.Evidence.Visited {
				m = Branch
			}
		}
	}
	for _, s := range same {
		if s.Worst() == verdict.Unknown {
			s.Missing = m
		}
	}
	return m
}

// line is a source line.
type line struct {
	file string
	n    int
}

// reached returns the lines that runs execute.
func (d *Document) reached() map[line]bool {
	out := map[line]bool{}
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			for _, a := range s.Answers {
				if e := a.Evidence; e != nil && (e.Visited || len(e.Runs) > 0) {
					out[line{s.File, s.Line}] = true
				}
			}
		}
	}
	return out
}

// addCalls adds the calls that are not followed on a toolchain, except those
// that are cold.
func (r *Root) addCalls(d *Document, dynamic []verdict.Dynamic, holds func(file string) bool) {
	for _, x := range dynamic {
		for _, f := range x.Stack {
			if holds(f.File) && x.Reach < verdict.Rarely {
				r.Calls = append(r.Calls, Call{binary.Normalise(f.Func), d.relative(f.File), f.Line})
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
	return slices.CompactFunc(calls, func(a, b Call) bool { return a.File == b.File && a.Line == b.Line })
}
