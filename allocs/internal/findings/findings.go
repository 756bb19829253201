// SPDX-License-Identifier: Apache-2.0

// Package findings defines the result as it is shown and stored: the verdicts
// of all toolchains side by side, with reasons, in a stable form. Its JSON is
// the format of allocs --json; fields are added, never changed.
package findings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/source"
	"github.com/nib-log/nib/allocs/internal/verdict"
	"github.com/nib-log/nib/allocs/internal/why"
)

// Format is the version of the JSON.
const Format = 1

// Document is everything that one run found.
type Document struct {
	Format int `json:"format"`
	// In a workspace: the common prefix of its module paths.
	Module     string      `json:"module"`
	Modules    []string    `json:"modules,omitempty"` // the modules of a workspace
	Dir        string      `json:"dir"`
	Toolchains []Toolchain `json:"toolchains"`
	Summary    Summary     `json:"summary"`
	Roots      []*Root     `json:"roots"`
	Scope      Scope       `json:"scope"`
}

// Toolchain is a Go release.
type Toolchain struct {
	Name    string   `json:"name"` // "go1.26.8"
	Line    string   `json:"line"` // "go1.26": the key in baselines
	Seconds float64  `json:"seconds"`
	Runs    int      `json:"runs"`              // benchmarks that were measured
	Trouble []string `json:"trouble,omitempty"` // evidence that could not be obtained
	// Leaves are all benchmarks without sub-benchmarks, measured or failed.
	Leaves []Leaf `json:"leaves,omitempty"`
}

// Root is a place that was checked.
type Root struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Func    string `json:"function"`
	Package string `json:"package"`
	File    string `json:"file"` // relative to the module, with slashes
	Line    int    `json:"line"`
	End     int    `json:"end"`
	Text    string `json:"text,omitempty"`
	Allowed *int   `json:"allowed,omitempty"` // the limit set by //alloc:none or //alloc:max=N
	Allocs  []int  `json:"allocs"`            // the count of an operation in the leaf with most
	Proof
	// Calls are the calls through interfaces and function values, which are not
	// followed, on any toolchain.
	Calls []Call `json:"unfollowed_calls,omitempty"`
	// Counts are the counts of each leaf.
	Counts []Count `json:"counts,omitempty"`
	Sites  []*Site `json:"sites"`
	// Status is the category of the root.
	Status Status `json:"status"`
}

// Site is a line of the module below which memory is taken.
type Site struct {
	Key             string `json:"key"` // unchanged when lines move
	Func            string `json:"function"`
	File            string `json:"file"`
	Line            int    `json:"line"`
	Source          string `json:"source"`
	verdict.Finding        // the worst of all toolchains
	Kind            string `json:"kind"`
	Callee          string `json:"callee,omitempty"`
	Pattern         string `json:"pattern,omitempty"`
	Reason          string `json:"reason"`
	Fix             string `json:"fix,omitempty"`
	// Chain has the calls to the site, the root first, on a toolchain with the
	// worst verdict.
	Chain   []Frame  `json:"chain,omitempty"`
	Answers []Answer `json:"versions"` // one for each toolchain
}

// Answer is the verdict on one toolchain.
type Answer struct {
	Toolchain string `json:"toolchain"` // Toolchain.Name
	verdict.Finding
	Because  string    `json:"because,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
}

// Evidence has the findings of each source.
type Evidence struct {
	Code     string `json:"code,omitempty"`     // Paths; "" when the executable has no such call
	Calls    int    `json:"calls,omitempty"`    // such calls in the code of the line
	Compiler string `json:"compiler,omitempty"` // the value that escapes according to the compiler
	Visited  bool   `json:"visited,omitempty"`  // a run executed the line
	Runs     []Run  `json:"runs,omitempty"`
}

// Run is the count of a benchmark at the site.
type Run struct {
	Name  string  `json:"name"`
	PerOp float64 `json:"per_op"`
	Bytes float64 `json:"bytes"`
}

// Frame is a call on the way from the root to the allocation.
type Frame struct {
	Func string `json:"function"`
	File string `json:"file"`
	Line int    `json:"line"`
	// Inlined is set if the function is not called here: its code is part
	// of the frame before it.
	Inlined bool `json:"inlined,omitempty"`
}

// builder makes the document of a report.
type builder struct {
	r     *check.Report
	d     *Document
	files *source.Files
}

// New makes the document of a report.
func New(r *check.Report) *Document {
	d := &Document{Format: Format, Module: r.ModulePath, Modules: r.Modules, Dir: r.ModuleDir}
	b := &builder{r, d, source.New()}
	d.Scope = scope(r, b.files)
	for i, root := range r.Roots.Roots {
		x := &Root{ID: root.ID, Kind: string(root.Kind), Func: root.Func, Package: root.Pkg,
			File: d.relative(root.File), Line: root.Line, End: root.End, Text: root.Text,
			Sites: []*Site{}}
		if root.Max != roots.Unlimited {
			x.Allowed = &r.Roots.Roots[i].Max
		}
		d.Roots = append(d.Roots, x)
	}
	for _, t := range r.Toolchains {
		line := t.Toolchain.Version
		if f := strings.SplitN(line, ".", 3); len(f) == 3 {
			line = f[0] + "." + f[1]
		}
		all, measured := b.leaves(t)
		d.Toolchains = append(d.Toolchains,
			Toolchain{t.Toolchain.String(), line, t.Took.Seconds(), measured, t.Trouble, all})
	}
	for i, root := range d.Roots {
		b.merge(root, i)
	}
	d.Sum()
	return d
}

func (d *Document) relative(file string) string {
	if rel, err := filepath.Rel(d.Dir, file); err == nil && !strings.HasPrefix(rel, "..") {
		return filepath.ToSlash(rel)
	}
	return file
}

// merge joins the findings of the toolchains below a root.
func (b *builder) merge(root *Root, n int) {
	r, d, files := b.r, b.d, b.files
	sites := map[place]*Site{}
	for ti, t := range r.Toolchains {
		res := t.Results[n]
		// A log call that is not compiled is never executed.
		root.NoCode = append(root.NoCode, res.Absent && res.Root.Kind != roots.LogCall)
		root.Reached = append(root.Reached, res.Reached)
		root.addCalls(d, res.Dynamic, r.Holds)
		for _, s := range res.Sites {
			key := place{s.File, string(s.Kind), s.Callee, s.Line}
			x := sites[key]
			if x == nil {
				x = &Site{Func: s.Func, File: d.relative(s.File), Line: s.Line,
					Kind: string(s.Kind), Callee: s.Callee,
					Source: files.Line(s.File, s.Line), Answers: make([]Answer, len(r.Toolchains))}
				for i := range x.Answers {
					x.Answers[i].Verdict = verdict.None
				}
				x.Key = fmt.Sprintf("%s › %s › %s", x.Func, kindAndCallee(s),
					files.Statement(s.File, s.Line))
				sites[key] = x
				root.Sites = append(root.Sites, x)
			}
			if s.Rank() >= x.Worst().Rank() || x.Reason == "" {
				a := why.Explain(s, x.Source, files.Statement(s.File, s.Line),
					res.Root.Kind == roots.LogCall)
				x.Pattern, x.Reason, x.Fix = a.Pattern, a.Reason, a.Fix
				x.Chain = d.chain(s.Stack)
			}
			x.Answers[ti] = answer(s)
		}
	}
	root.order()
	root.sum(d.Toolchains)
	for ti, t := range r.Toolchains {
		root.Unproven = append(root.Unproven, root.unproven(ti, t.Results[n].Dynamic, r.Strict))
	}
	for _, s := range root.Sites {
		s.sum(d.Toolchains)
	}
}

func kindAndCallee(s *verdict.Site) string {
	if s.Kind == heapcalls.Inside {
		return "call " + s.Callee
	}
	return string(s.Kind)
}

func answer(s *verdict.Site) Answer {
	e := &Evidence{Visited: s.Evidence.Visited, Calls: s.Evidence.Calls}
	if s.Evidence.Code {
		e.Code = [...]string{"on every path", "behind a branch", "rare"}[s.Evidence.Reach]
	}
	if s.Evidence.Escape != nil {
		e.Compiler = s.Evidence.Escape.What
	}
	for _, r := range s.Evidence.Runs {
		e.Runs = append(e.Runs, Run{r.Name, r.PerOp, r.Bytes})
	}
	return Answer{Finding: s.Finding, Because: s.Reason, Evidence: e}
}

// chain reverses a stack, which has the allocation first. The function that
// measures, which is added to the tests of a package, is no part of it.
func (d *Document) chain(stack []binary.Frame) []Frame {
	var out []Frame
	for _, f := range slices.Backward(stack) {
		if strings.Contains(f.Func, ".allocsStart.") {
			continue
		}
		out = append(out,
			Frame{Func: f.Func, File: d.relative(f.File), Line: f.Line, Inlined: f.Inlined})
	}
	return out
}

// order sorts the sites by place, and numbers equal keys.
func (r *Root) order() {
	slices.SortStableFunc(r.Sites, func(a, b *Site) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key))
	})
	seen := map[string]int{}
	for _, s := range r.Sites {
		key := s.Key
		seen[key]++
		if n := seen[key]; n > 1 {
			s.Key = fmt.Sprintf("%s #%d", key, n)
		}
	}
}

// sum fills in the fields for all toolchains.
func (s *Site) sum(toolchains []Toolchain) {
	s.Finding = s.Worst()
	for i := range s.Answers {
		s.Answers[i].Toolchain = toolchains[i].Name
	}
}

// Worst returns the worst finding of any toolchain.
func (s *Site) Worst() verdict.Finding {
	worst := verdict.Finding{Verdict: verdict.None}
	for _, a := range s.Answers {
		worst = worst.Or(a.Finding)
	}
	return worst
}

// PerOp returns the highest count of any run on any toolchain; 0 without runs.
func (s *Site) PerOp() float64 {
	most := 0.0
	for i := range s.Answers {
		most = max(most, s.Answers[i].perOp())
	}
	return most
}

// Differs reports whether the toolchains disagree on the site.
func (s *Site) Differs() bool {
	return slices.ContainsFunc(s.Answers, func(a Answer) bool {
		return a.Verdict != s.Answers[0].Verdict
	})
}

// Worst returns the worst finding of any site and toolchain.
func (r *Root) Worst() verdict.Finding {
	worst := verdict.Finding{Verdict: verdict.None}
	for _, s := range r.Sites {
		worst = worst.Or(s.Worst())
	}
	return worst
}

// Over reports whether the root allocates more than it is allowed to on some
// toolchain.
func (r *Root) Over() bool {
	if r.Allowed == nil {
		return false
	}
	return slices.ContainsFunc(r.Allocs, func(n int) bool { return n > *r.Allowed })
}
