// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sort"

	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Score measures how well a report agrees with the truth.
type Score struct {
	Lines    int // lines that the profile shows
	Reported int // of Lines: with a verdict other than none
	Always   int // of Lines: with the verdict always
	Behind   int // of Lines: not reported, but below roots that have calls which are not followed
	Claimed  int // lines with the verdict always that the benchmarks execute
	Right    int // of Claimed: shown by the profile
	NotSeen  int // lines with the verdict always that no benchmark executes: nothing is known about them
	Pairs    int // benchmark and line, in the profile
	Agreed   int // of Pairs: also seen by the tool's own runs
	Equal    int // of Pairs: with the same count
	Often    int // lines that the profile shows at 0.5 or more per operation
	Missed   int // of Often: not reported
	Extra    int // pairs that only the tool's own runs saw
	// Deviations describe each line that is not as expected.
	Deviations []Deviation
}

func (s *Score) add(other *Score) {
	for _, n := range []struct{ to, from *int }{
		{&s.Lines, &other.Lines}, {&s.Reported, &other.Reported}, {&s.Always, &other.Always}, {&s.Behind, &other.Behind},
		{&s.Claimed, &other.Claimed}, {&s.Right, &other.Right}, {&s.NotSeen, &other.NotSeen}, {&s.Pairs, &other.Pairs},
		{&s.Equal, &other.Equal}, {&s.Often, &other.Often}, {&s.Missed, &other.Missed},
	} {
		*n.to += *n.from
	}
}

// Deviation is a line on which the tool and the profile disagree.
type Deviation struct{ Line, What, Detail string }

// Result is the evaluation of a module.
type Result struct {
	Module  Module
	Truth   *Truth
	Go      string
	Roots   int
	With    Score // the score with runs
	Without Score // the score with code and compiler alone
	Reasons []Reason
	Trouble []string
}

// Reason is the tool's report on a line that the profile shows.
type Reason struct {
	Line            string
	PerOp           float64
	Source          string
	Pattern, Reason string
}

// Evaluator evaluates modules.
type Evaluator struct {
	Dir   string // directory of the module allocs
	Store Store
	Stale bool // accept kept reports of another build of the tool
	Say   func(string)
}

// Evaluate measures a module and asks the tool, unless the store has both.
// Copies go to dir.
func (e *Evaluator) Evaluate(ctx context.Context, m Module, dir string) (*Result, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	t, err := build(ctx, e.Dir, dir)
	if err != nil {
		return nil, err
	}
	sum := t.sum
	if e.Stale {
		sum = ""
	}
	of, err := e.Store.reports(&m, sum)
	if err != nil {
		return nil, err
	}
	truth, err := e.Store.truth(&m)
	if err != nil {
		return nil, err
	}
	at := ""
	if of == nil || truth == nil {
		e.Say(m.Name + ": fetching")
		if at, err = m.fetch(ctx, e.Dir, dir); err != nil {
			return nil, err
		}
	}
	// Run the tool first: files that measuring leaves in the directory are not
	// part of the module.
	if of == nil {
		if of, err = e.ask(ctx, &m, t, at); err != nil {
			return nil, err
		}
	}
	if truth == nil {
		if truth, err = m.measure(ctx, at, e.Say); err != nil {
			return nil, err
		}
		if err := e.Store.keepTruth(&m, truth); err != nil {
			return nil, err
		}
	}
	return &Result{
		Module: m, Truth: truth, Go: of.With.Go, Roots: of.With.Roots, Trouble: of.With.Trouble,
		With: judge(truth, of.With, true), Without: judge(truth, of.Without, false), Reasons: reasons(truth, of.With),
	}, nil
}

// ask asks the tool about the copy of a module, and keeps its report.
func (e *Evaluator) ask(ctx context.Context, m *Module, t *tool, at string) (*reports, error) {
	r := &reports{Tool: t.sum}
	var err error
	e.Say(m.Name + ": allocs with runs")
	if r.With, err = t.ask(ctx, m, at, true); err != nil {
		return nil, err
	}
	e.Say(m.Name + ": allocs with code and compiler alone")
	if r.Without, err = t.ask(ctx, m, at, false); err != nil {
		return nil, err
	}
	return r, e.Store.keepReports(m, r)
}

// often is the count of an allocation in every second operation or more.
const often = 0.5

// equal reports whether two counts are the same. A fraction
// differs a little with the number of iterations.
func equal(a, b float64) bool { return math.Abs(a-b) <= 0.02+0.01*max(a, b) }

// judge compares a report with the truth.
func judge(t *Truth, r *Report, runs bool) Score {
	var s Score
	lines := t.lines()
	for l, n := range lines {
		s.Lines++
		v := r.verdict(l)
		if n >= often {
			s.Often++
			if v == verdict.None {
				s.Missed++
			}
		}
		if v != verdict.None {
			s.Reported++
		} else {
			what := "missed"
			if r.leavesOpen(t.Roots[l]) {
				what = notFollowed
				s.Behind++
			}
			s.deviate(what, l, fmt.Sprintf("%.2f per operation", n))
		}
		if v == verdict.Always {
			s.Always++
		} else if runs && v != verdict.None {
			s.deviate(string(v), l, fmt.Sprintf("%.2f per operation", n))
		}
	}
	for l := range r.Sites {
		if r.verdict(l) != verdict.Always {
			continue
		}
		switch _, real := lines[l]; {
		case real:
			s.Claimed++
			s.Right++
		case t.Visited[l]:
			s.Claimed++
			s.deviate("false always", l, r.Sites[l][0].Source)
		default:
			s.NotSeen++
		}
	}
	if runs {
		s.pairs(t, r)
	}
	sort.Slice(s.Deviations, func(i, j int) bool {
		a, b := s.Deviations[i], s.Deviations[j]
		return a.Line+a.What < b.Line+b.What
	})
	return s
}

// pairs compares the counts of each benchmark.
func (s *Score) pairs(t *Truth, r *Report) {
	for _, b := range t.Benchmarks {
		for l, n := range t.PerOp[b] {
			if n < threshold {
				continue
			}
			s.Pairs++
			got := r.PerOp[b][l]
			if equal(got, n) {
				s.Equal++
			}
			if got >= threshold {
				s.Agreed++
				if !equal(got, n) {
					s.deviate("counted otherwise in "+b, l, fmt.Sprintf("%.2f per operation, the tool %.2f", n, got))
				}
			} else {
				s.deviate("not in the tool's run of "+b, l, fmt.Sprintf("%.2f per operation", n))
			}
		}
		for l, n := range r.PerOp[b] {
			// Growing happens less often in longer runs.
			if n >= threshold && t.PerOp[b][l] < threshold && r.verdict(l) == verdict.Always {
				s.Extra++
				s.deviate("only in the tool's run of "+b, l, fmt.Sprintf("%.2f per operation", n))
			}
		}
	}
}

// notFollowed describes a line that is missed, but below roots whose calls are
// not all followed, according to the report.
const notFollowed = "not followed"

// leavesOpen reports whether the report states for each root that it has calls
// that are not followed.
func (r *Report) leavesOpen(roots []string) bool {
	return len(roots) > 0 && !slices.ContainsFunc(roots, func(root string) bool { return !r.Unfollowed[root] })
}

func (s *Score) deviate(what string, l line, detail string) {
	s.Deviations = append(s.Deviations, Deviation{l.String(), what, detail})
}

// reasons lists the tool's reports on the lines of the profile.
func reasons(t *Truth, r *Report) []Reason {
	var out []Reason
	for l, n := range t.lines() {
		for _, s := range r.Sites[l] {
			if s.Verdict == r.verdict(l) {
				out = append(out, Reason{l.String(), n, s.Source, s.Pattern, s.Reason})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Line+out[i].Reason < out[j].Line+out[j].Reason })
	unique := out[:0]
	for i, x := range out {
		if i == 0 || x != out[i-1] {
			unique = append(unique, x)
		}
	}
	return unique
}
