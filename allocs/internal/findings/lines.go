// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"slices"

	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/verdict"
	"github.com/nib-log/nib/allocs/internal/why"
)

// Line is what the operations of a leaf allocate on a line, or below it outside
// of the module.
type Line struct {
	Func   string  `json:"function"`
	File   string  `json:"file"`
	Line   int     `json:"line"`
	Source string  `json:"source"`
	PerOp  float64 `json:"per_op"`
	Bytes  float64 `json:"bytes"`
	// Reasons has the kinds of allocation on the line, the most frequent first.
	Reasons []Reason `json:"reasons"`
}

// Reason is why a line allocates.
type Reason struct {
	PerOp   float64 `json:"per_op"`
	Pattern string  `json:"pattern,omitempty"`
	Reason  string  `json:"reason"`
	Fix     string  `json:"fix,omitempty"`
}

// lines returns the lines that a leaf allocates on, the highest count first.
func (b *builder) lines(sites []*verdict.Site) []Line {
	at := map[roots.Place]*Line{}
	for _, s := range sites {
		key := roots.Place{File: s.File, Line: s.Line}
		l := at[key]
		if l == nil {
			l = &Line{
				Func: s.Func, File: b.d.relative(s.File), Line: s.Line,
				Source: b.files.Line(s.File, s.Line),
			}
			at[key] = l
		}
		seen := s.Evidence.Runs[0]
		l.PerOp, l.Bytes = l.PerOp+seen.PerOp, l.Bytes+seen.Bytes
		a := why.Explain(s, l.Source, b.files.Statement(s.File, s.Line), b.inLogCall(key))
		l.because(Reason{seen.PerOp, a.Pattern, a.Reason, a.Fix})
	}
	var out []Line
	for _, l := range at {
		slices.SortFunc(l.Reasons, func(a, b Reason) int {
			return cmp.Or(cmp.Compare(b.PerOp, a.PerOp), cmp.Compare(a.Reason, b.Reason))
		})
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(
			cmp.Compare(b.PerOp, a.PerOp), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// because adds a reason, or its count to the same one.
func (l *Line) because(r Reason) {
	for i := range l.Reasons {
		if have := &l.Reasons[i]; have.Reason == r.Reason && have.Fix == r.Fix {
			have.PerOp += r.PerOp
			return
		}
	}
	l.Reasons = append(l.Reasons, r)
}

// inLogCall reports whether a line is one of a log call.
func (b *builder) inLogCall(p roots.Place) bool {
	return slices.ContainsFunc(b.r.Roots.Roots, func(r roots.Root) bool {
		return r.Kind == roots.LogCall && r.File == p.File && r.Line <= p.Line && p.Line <= r.End
	})
}

// Elsewhere returns the allocations and bytes of the leaf that are on no line
// of the module: other goroutines have none, and stacks may be cut off. There
// are none if the lines have more than the whole: of what differs from window
// to window, the least is taken for the whole and for each stack.
func (l *Leaf) Elsewhere() (perOp, bytes float64) {
	perOp, bytes = l.PerOp, l.Bytes
	for _, x := range l.Lines {
		perOp, bytes = perOp-x.PerOp, bytes-x.Bytes
	}
	if perOp < inexact {
		return 0, 0
	}
	return perOp, max(bytes, 0)
}

// Heaviest returns the leaves that were measured on a toolchain, the highest
// count first.
func (t *Toolchain) Heaviest() []Leaf {
	out := slices.DeleteFunc(slices.Clone(t.Leaves), func(l Leaf) bool { return l.Failed != "" })
	slices.SortStableFunc(out, func(a, b Leaf) int {
		return cmp.Or(cmp.Compare(b.PerOp, a.PerOp), cmp.Compare(b.Bytes, a.Bytes))
	})
	return out
}
