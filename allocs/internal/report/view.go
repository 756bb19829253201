// SPDX-License-Identifier: Apache-2.0

// Package report shows a document: in a terminal, as a page, and as JSON. The
// terminal and the page show the same view of it.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
	"github.com/nib-log/nib/allocs/internal/why"
)

// JSON writes the document.
func JSON(w io.Writer, d *findings.Document) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

// view is what is shown of a document.
type view struct {
	Module   string
	Baseline bool
	Gate     []baseline.Change
	Releases []release
	RootSum  string
	Roots    []root  // the worst first
	Missing  []group // the possible lines, by the evidence they lack
	document *findings.Document
}

type release struct {
	Name, Sum string
	Trouble   []string
	Leaves    []leaf // those that allocate, the heaviest first
	Free      []leaf
}

type leaf struct {
	Name, Few   string
	PerOp, Size float64
	Lines       []line
}

type root struct {
	ID, Mark, Title, Where, Count, Leaf, Besides string
	Status                                       findings.Status
	Over                                         bool
	Unproven                                     []string
	Lines                                        []line
}

// group has the possible lines that lack the same evidence.
type group struct {
	Text  string
	Lines []line
}

type line struct {
	PerOp, Size float64
	Verdict     verdict.Verdict // "" for a line of a leaf
	File        string
	Line        int // 0 for what is on no line
	Source      string
	Facts       []fact
}

// fact is a row below a line: why it allocates, with the name of the pattern,
// or what helps.
type fact struct{ Label, Text, Pattern string }

// Count returns the count, or the verdict of a line without one.
func (l line) Count() string {
	if l.PerOp > 0 || l.Verdict == "" {
		return times(l.PerOp)
	}
	return string(l.Verdict)
}

// Bytes returns the bytes in the line of a leaf.
func (l line) Bytes() string {
	if l.Verdict != "" {
		return ""
	}
	return bytes(l.Size)
}

// Where returns the place.
func (l line) Where() string {
	if l.Line == 0 {
		return "elsewhere"
	}
	return fmt.Sprintf("%s:%d", l.File, l.Line)
}

func (l *line) fact(label, text, pattern string) {
	if text != "" {
		l.Facts = append(l.Facts, fact{label, text, pattern})
	}
}

func times(perOp float64) string { return "×" + verdict.Number(perOp) }

func bytes(n float64) string { return fmt.Sprintf("%.0f B", n) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func newView(d *findings.Document, o *baseline.Outcome) *view {
	v := &view{
		Module: d.Module, document: d, Baseline: o.Baseline,
		Gate: slices.Concat(o.Missing, o.Worse, o.Unproven, o.Better), RootSum: states(d.Summary),
	}
	for i := range d.Toolchains {
		v.Releases = append(v.Releases, v.release(&d.Toolchains[i]))
	}
	worst := func(a, b *findings.Root) int {
		return slices.Index(findings.States, a.Status) - slices.Index(findings.States, b.Status)
	}
	for _, r := range slices.SortedStableFunc(slices.Values(d.Roots), worst) {
		v.Roots = append(v.Roots, v.root(r))
	}
	v.possible()
	return v
}

// states are the numbers of roots by their state.
func states(s findings.Summary) string {
	var parts []string
	for _, state := range findings.States {
		text := string(state)
		if state == findings.Above {
			text = "above what is allowed"
		}
		if n := s.Roots[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	return strings.Join(parts, ", ")
}

// rareIn is how many operations must be counted so that a window shows what one
// in 10,000 allocates.
const rareIn = 10000

func (v *view) release(tc *findings.Toolchain) release {
	r := release{Name: tc.Name, Trouble: tc.Trouble}
	for _, l := range tc.Heaviest() {
		name := shorten(v.document, l.Package+"."+l.Name)
		out := leaf{Name: name, PerOp: l.PerOp, Size: l.Bytes}
		if l.N < rareIn {
			out.Few = count(l.N, "operation") + " counted: what is rarer is not seen"
		}
		for _, x := range l.Lines {
			shown := line{
				PerOp: x.PerOp, Size: x.Bytes, File: x.File, Line: x.Line, Source: x.Source,
			}
			for _, r := range x.Reasons {
				shown.fact("why", r.Reason, r.Pattern)
				shown.fact("fix", r.Fix, r.Pattern)
			}
			out.Lines = append(out.Lines, shown)
		}
		if perOp, size := l.Elsewhere(); perOp > 0 {
			out.Lines = append(out.Lines,
				line{PerOp: perOp, Size: size, Source: "not put on a line of the module"})
		}
		if l.PerOp > 0 {
			r.Leaves = append(r.Leaves, out)
		} else {
			r.Free = append(r.Free, out)
		}
	}
	all := count(len(r.Leaves)+len(r.Free), "benchmark")
	r.Sum = fmt.Sprintf("%s, %d with allocations", all, len(r.Leaves))
	return r
}

// mark returns the symbol of a root: above its limit, unproven, within its
// limit, allocating without a comment, or neither.
func mark(r *findings.Root) string {
	switch {
	case r.Over():
		return "✗"
	case r.Status == findings.Unproven:
		return "?"
	case r.Allowed != nil:
		return "✓"
	case r.Worst().Allocates():
		return "●"
	}
	return "○"
}

func (v *view) root(r *findings.Root) root {
	out := root{
		ID: r.ID, Mark: mark(r), Status: r.Status, Over: r.Over(), Title: r.Text,
		Where: fmt.Sprintf("%s:%d", r.File, r.Line),
	}
	if out.Title == "" {
		out.Title = shorten(v.document, r.ID)
	}
	if r.Allowed != nil {
		out.Where += fmt.Sprintf("  allowed %d", *r.Allowed)
	}
	if n, leaf := r.Most(); leaf != "" {
		out.Count, out.Leaf = times(n), "in "+leaf
	}
	for t, why := range r.Unproven {
		if why != "" {
			out.Unproven = append(out.Unproven, v.document.Toolchains[t].Line+": "+why)
		}
	}
	hidden := 0
	var last *findings.Site
	for _, s := range r.Sites {
		switch {
		case s.Worst().Allocates() && last != nil && alike(last, s):
			out.Lines[len(out.Lines)-1].PerOp += s.PerOp()
		case s.Worst().Allocates():
			out.Lines, last = append(out.Lines, v.site(s)), s
		case s.Worst().Verdict == verdict.Possible:
			hidden++
		}
	}
	if hidden > 0 {
		out.Besides = fmt.Sprintf("besides: %d possible", hidden)
	}
	return out
}

// alike reports whether two sites of a line have the same reason.
func alike(a, b *findings.Site) bool {
	return a.File == b.File && a.Line == b.Line && a.Reason == b.Reason && a.Fix == b.Fix &&
		slices.EqualFunc(a.Answers, b.Answers,
			func(a, b findings.Answer) bool { return a.Finding == b.Finding })
}

func (v *view) site(s *findings.Site) line {
	worst := s.Worst()
	l := line{
		PerOp: s.PerOp(), Verdict: worst.Verdict, File: s.File, Line: s.Line, Source: s.Source,
	}
	l.fact("why", s.Reason, s.Pattern)
	i := slices.IndexFunc(s.Answers, func(a findings.Answer) bool { return a.Finding == worst })
	if worst.Verdict == verdict.Possible && i >= 0 {
		l.fact("when", s.Answers[i].Because, "")
	}
	if s.Differs() {
		l.fact("on", onReleases(v.document, s), "")
	}
	l.fact("path", path(s), "")
	l.fact("fix", s.Fix, s.Pattern)
	return l
}

// path shows the calls between the root and the site when there are any, and
// those from the site into the library that allocates.
func path(s *findings.Site) string {
	var names []string
	for _, f := range s.Chain {
		names = append(names, why.ShortName(f.Func))
	}
	names = slices.Compact(names)
	if len(names) < 2 {
		return ""
	}
	const most = 6
	if len(names) > most {
		names = append(append(names[:3:3], "…"), names[len(names)-2:]...)
	}
	return strings.Join(names, " → ")
}

// onReleases shows the verdict of each toolchain; adjacent toolchains that
// agree share an entry.
func onReleases(d *findings.Document, s *findings.Site) string {
	var parts []string
	for i := 0; i < len(s.Answers); {
		v, last := s.Answers[i].Verdict, i
		for last+1 < len(s.Answers) && s.Answers[last+1].Verdict == v {
			last++
		}
		name := d.Toolchains[i].Line
		if last > i {
			name += " to " + d.Toolchains[last].Line
		}
		parts = append(parts, name+" "+string(v))
		i = last + 1
	}
	return strings.Join(parts, " · ")
}

// possible groups the possible lines, each once, by the evidence they lack.
func (v *view) possible() {
	benchmark := "no benchmark was run for"
	ran := func(t findings.Toolchain) bool { return t.Runs > 0 }
	if slices.ContainsFunc(v.document.Toolchains, ran) {
		benchmark = "no benchmark reaches"
	}
	for _, lack := range []struct {
		verdict.Missing
		text string
	}{
		{verdict.AnyRun, "on every path, and " + benchmark},
		{verdict.Agreement, "on lines that the runs execute without it:"},
		{verdict.Benchmark, benchmark},
		{verdict.Branch, "in a branch that no benchmark takes:"},
		{verdict.Size, "beyond a size that no benchmark has:"},
		{verdict.First, "in a panic, an error or a first use:"},
	} {
		n := v.document.Summary.Missing[lack.Missing]
		g := group{Text: lack.text + " " + count(n, "site")}
		for _, same := range v.document.Same() {
			worst := slices.MaxFunc(same, func(a, b *findings.Site) int {
				return a.Worst().Rank() - b.Worst().Rank()
			})
			f := verdict.Finding{Verdict: verdict.Possible, Missing: lack.Missing}
			if worst.Worst() == f {
				g.Lines = append(g.Lines, v.site(worst))
			}
		}
		if n > 0 {
			v.Missing = append(v.Missing, g)
		}
	}
}

// shorten removes the module's path from the name of a function.
func shorten(d *findings.Document, id string) string {
	return strings.TrimLeft(strings.TrimPrefix(id, d.Module), "./")
}
