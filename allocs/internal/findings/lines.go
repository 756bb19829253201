// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"cmp"
	"slices"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/source"
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
}

// lines returns the lines of the module that the allocations of a run are made
// on, the highest count first.
func (d *Document) lines(
	r *runs.Result, holds func(file string) bool, files *source.Files,
) []Line {
	type place struct {
		file string
		line int
	}
	at := map[place]*Line{}
	for _, s := range r.Sites {
		i := slices.IndexFunc(s.Stack, func(f binary.Frame) bool { return holds(f.File) })
		if i < 0 || s.PerOp <= 0 {
			continue
		}
		f := s.Stack[i]
		key := place{f.File, f.Line}
		if at[key] == nil {
			at[key] = &Line{
				Func: binary.Normalise(f.Func), File: d.relative(f.File), Line: f.Line,
				Source: files.Line(f.File, f.Line),
			}
		}
		at[key].PerOp += s.PerOp
		at[key].Bytes += s.Bytes
	}
	var out []Line
	for _, l := range at {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(
			cmp.Compare(b.PerOp, a.PerOp), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
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
