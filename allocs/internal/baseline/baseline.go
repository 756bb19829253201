// SPDX-License-Identifier: Apache-2.0

// Package baseline compares a run with accepted results, and decides whether it
// got worse.
//
// An entry is a root and a site, by function and source text and not by line,
// so that code can move. It is kept for each minor Go release, because the
// answers differ between them. The baseline also keeps the available evidence:
// if some of it is missing later, a clean result means nothing.
package baseline

import (
	"errors"
	"fmt"
	"sort"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Change is one difference.
type Change struct {
	Kind      string `json:"kind"` // worse, new, better, gone or missing
	Toolchain string `json:"toolchain"`
	Root      string `json:"root"`
	Site      string `json:"site"`
	Text      string `json:"text"`
	Where     string `json:"where"`
}

// Outcome is the result of a comparison.
type Outcome struct {
	Baseline bool     `json:"baseline"` // whether a baseline exists
	Worse    []Change `json:"worse"`
	Better   []Change `json:"better"`
	Missing  []Change `json:"missing"`  // evidence that existed when the baseline was accepted
	Unproven []Change `json:"unproven"` // functions not shown to keep to //alloc:none
}

// ErrMissing indicates that the baseline has nothing about a toolchain.
var ErrMissing = errors.New("the baseline has nothing about this toolchain")

// Compare reports the changes. Without a baseline only the annotated roots
// count: they must stay within their limits.
func Compare(f *File, d *findings.Document) (*Outcome, error) {
	o := &Outcome{Baseline: f != nil}
	for t, tc := range d.Toolchains {
		c := &comparison{Outcome: o, d: d, t: t, line: tc.Line, accepted: &Accepted{}}
		if f != nil {
			var ok bool
			if c.accepted, ok = f.Accepts[tc.Line]; !ok || c.accepted == nil {
				return nil, fmt.Errorf("%w: %s (--accept adds it)", ErrMissing, tc.Line)
			}
		}
		c.have = f != nil
		c.within = c.accepted.within(d)
		c.all()
	}
	sort.SliceStable(o.Better, func(i, j int) bool { return o.Better[i].Text < o.Better[j].Text })
	return o, nil
}

// comparison is the work on one toolchain.
type comparison struct {
	*Outcome
	d        *findings.Document
	t        int
	line     string
	have     bool // there is a baseline
	accepted *Accepted
	within   func(pkg string) bool
}

func (c *comparison) all() {
	seen := map[string]bool{}
	for _, r := range c.d.Roots {
		seen[r.ID] = true
		c.root(r, c.accepted.Roots[r.ID])
	}
	for id, before := range c.accepted.Roots {
		if !seen[id] {
			c.gone(id, before)
		}
	}
	if c.have {
		c.runs()
		c.waivers()
	}
	c.cutOff()
}

func (c *comparison) change(kind, root, text string) Change {
	return Change{Kind: kind, Toolchain: c.line, Root: root, Text: text}
}

// root compares the sites of one root.
func (c *comparison) root(r *findings.Root, before *Root) {
	if before == nil {
		before = &Root{}
	}
	now := accepted(r, c.t)
	over := r.Allowed != nil && r.Allocs[c.t] > *r.Allowed
	lost := false // something that allocated no longer exists
	present := map[string]bool{}
	for _, s := range r.Sites {
		present[s.Key] = true
		lost = c.site(r, s, before.Sites[s.Key], over) || lost
	}
	for key := range before.Sites {
		if !present[key] {
			lost = true
			c.noLonger(r.ID, key)
		}
	}
	if c.t < len(r.Unproven) && r.Unproven[c.t] != "" {
		c.Unproven = append(c.Unproven, c.change("unproven", r.ID, r.ID+": "+r.Unproven[c.t]))
	}
	if !c.have {
		return
	}
	switch {
	case before.Reached && !now.Reached:
		c.missing(r.ID,
			r.ID+" was executed by the runs, and no run executes it in each operation any more")
	case before.Allowed != nil && now.Absent && !before.Absent:
		c.missing(r.ID, "there is no code for "+r.ID+" any more")
	case lost && now.Undecided > before.Undecided:
		c.missing(r.ID, fmt.Sprintf(
			"%s has places that no run decides: %d more than before, in place of what allocated",
			r.ID, now.Undecided-before.Undecided))
	}
	if before.Allowed != nil && r.Allowed != nil && *r.Allowed > *before.Allowed {
		c.Worse = append(c.Worse, c.change("worse", r.ID,
			fmt.Sprintf("%s was allowed %d, and is allowed %d", r.ID, *before.Allowed, *r.Allowed)))
	}
	if before.Allowed != nil && r.Allowed == nil {
		c.missing(r.ID, r.ID+" had a comment that says what it may allocate, and has none any more")
	}
}

// site compares a place. It reports whether the place used to allocate and no
// longer does.
func (c *comparison) site(r *findings.Root, s *findings.Site, was *Site, over bool) bool {
	a := &s.Answers[c.t]
	now := a.Finding
	n, leaf := a.Count()
	if was == nil && r.Allowed == nil && leaf != "" && n < noise {
		return false // a window may or may not have what is as rare as this
	}
	x := c.change("worse", r.ID, fmt.Sprintf("%s allocates: %s", r.ID, s.Reason))
	x.Site, x.Where = s.Key, fmt.Sprintf("%s:%d  %s", s.File, s.Line, s.Source)
	switch {
	case was != nil && now.Allocates():
		c.count(x, a, was, r.ID)
	case was != nil && undecided(now):
		x.Kind, x.Text = "missing", fmt.Sprintf(
			"%s allocated ×%s, and no run shows whether it still does: %s", r.ID,
			verdict.Number(was.Count), a.Because)
		if now.Missing == verdict.Agreement {
			x.Text = fmt.Sprintf(
				"%s allocated ×%s, and no run shows it any more, although every way through the "+
					"code does: the runs may end early", r.ID, verdict.Number(was.Count))
		}
		c.Missing = append(c.Missing, x)
	case was != nil:
		x.Kind, x.Text = "better", fmt.Sprintf("%s allocated ×%s, and no longer does: %s", r.ID,
			verdict.Number(was.Count), s.Reason)
		c.Better = append(c.Better, x)
		return true
	case !now.Allocates():
	case now.Verdict == verdict.Possible && r.Allowed != nil: // it is unproven
	case c.have:
		x.Kind = "new"
		c.Worse = append(c.Worse, x)
	case over:
		x.Text = fmt.Sprintf("%s allows %d and has %d: %s", r.ID, *r.Allowed, r.Allocs[c.t],
			s.Reason)
		c.Worse = append(c.Worse, x)
	}
	return false
}

// noise is the difference to ignore between counts that are not whole numbers.
const noise = 0.05

// count compares the allocation counts of a place.
func (c *comparison) count(x Change, a *findings.Answer, was *Site, root string) {
	n, leaf := a.Count()
	by := ""
	if leaf != "" {
		by = " in " + leaf
	}
	text := fmt.Sprintf("%s was ×%s, is ×%s%s",
		root, verdict.Number(was.Count), verdict.Number(n), by)
	switch {
	case n > was.Count+noise:
		x.Text = text
		c.Worse = append(c.Worse, x)
	case n < was.Count-noise:
		x.Kind, x.Text = "better", text
		c.Better = append(c.Better, x)
	default:
		c.leaves(x, a, was, root)
	}
}

// rise is the number of allocations per operation by which the count of a leaf
// other than the highest must grow to be reported. A fraction depends on how
// long the runs were.
const rise = 0.5

// leaves compares the counts of the leaves one by one: none may rise, even if
// another one is higher.
func (c *comparison) leaves(x Change, a *findings.Answer, was *Site, root string) {
	if a.Evidence == nil || was.Leaves == nil {
		return
	}
	for _, r := range a.Evidence.Runs {
		if n, ok := was.Leaves[r.Name]; ok && r.PerOp >= n+rise {
			x.Text = fmt.Sprintf("%s was ×%s, is ×%s in %s", root, verdict.Number(n),
				verdict.Number(r.PerOp), r.Name)
			c.Worse = append(c.Worse, x)
		}
	}
}

// gone reports a root of the baseline that the run did not examine.
func (c *comparison) gone(id string, before *Root) {
	if !c.within(before.Package) {
		return
	}
	if before.Allowed != nil {
		c.missing(id, id+" is not there any more, or has no comment that says what it may allocate")
		return
	}
	for key := range before.Sites {
		c.noLonger(id, key)
	}
}

// noLonger reports a place that allocated and that the run did not find.
func (c *comparison) noLonger(root, key string) {
	x := c.change("gone", root, root+" no longer has: "+key)
	x.Site = key
	c.Better = append(c.Better, x)
}
