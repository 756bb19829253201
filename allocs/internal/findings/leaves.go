// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"maps"
	"math"
	"slices"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Leaf is a benchmark without sub-benchmarks.
type Leaf struct {
	Package string  `json:"package"`
	Name    string  `json:"name"`             // "BenchmarkX/sub"
	N       int     `json:"n,omitempty"`      // operations that were counted
	PerOp   float64 `json:"per_op"`           // allocations of the whole process for one operation
	Bytes   float64 `json:"bytes"`            // bytes of them
	Failed  string  `json:"failed,omitempty"` // why there is no count
	// Lines are the lines of the module that they are made on, the highest
	// count first.
	Lines []Line `json:"lines,omitempty"`
	// Cut is the part of PerOp whose stacks are cut off.
	Cut float64 `json:"cut,omitempty"`
}

// Count is the number of allocations of one leaf below a root, for one
// operation, on one toolchain.
type Count struct {
	Toolchain string  `json:"toolchain"`
	Leaf      string  `json:"leaf"`
	PerOp     float64 `json:"per_op"`
}

// Most returns the highest count that a leaf has below the root, on any
// toolchain, and its name. What no leaf executes is not in it.
func (r *Root) Most() (n float64, leaf string) {
	for _, c := range r.Counts {
		if c.PerOp > n {
			n, leaf = c.PerOp, c.Leaf
		}
	}
	return n, leaf
}

// leaves returns the runs of a toolchain, and how many of them were measured.
func (b *builder) leaves(t *check.Toolchain) (out []Leaf, measured int) {
	for i, r := range t.Runs {
		if r.Failed == "" {
			measured++
		}
		out = append(out, Leaf{
			Package: r.Package, Name: r.Name, N: r.N, PerOp: r.PerOp, Bytes: r.Bytes,
			Failed: r.Failed, Cut: r.Cut(), Lines: b.lines(t.Leaves[i]),
		})
	}
	return out, measured
}

// sum fills in the totals over the sites.
func (r *Root) sum(toolchains []Toolchain) {
	for t, tc := range toolchains {
		r.Allocs = append(r.Allocs, int(math.Ceil(r.count(t, tc.Name)-inexact)))
	}
}

// inexact is the error that a sum of counts may have, since they are fractions.
const inexact = 1e-9

// count returns the allocations of the root on a toolchain, in the leaf that
// has most. Each leaf is summed separately, since no operation runs two of
// them.
func (r *Root) count(t int, toolchain string) (most float64) {
	perOp := map[string]float64{}
	for _, s := range r.Sites {
		if a := s.Answers[t]; a.Verdict == verdict.Counted && a.Evidence != nil {
			for _, run := range a.Evidence.Runs {
				perOp[run.Name] += run.PerOp
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(perOp)) {
		r.Counts = append(r.Counts, Count{toolchain, name, perOp[name]})
		most = max(most, perOp[name])
	}
	return most
}

// Count returns the measured count and its leaf, or the number of calls in the
// code if nothing was measured.
func (a *Answer) Count() (n float64, leaf string) {
	if a.Evidence == nil {
		return 0, ""
	}
	for _, r := range a.Evidence.Runs {
		if r.PerOp > n {
			n, leaf = r.PerOp, r.Name
		}
	}
	if n == 0 {
		return float64(a.Evidence.Calls), ""
	}
	return n, leaf
}

func (a *Answer) perOp() float64 {
	if n, leaf := a.Count(); leaf != "" {
		return n
	}
	return 0
}
