// SPDX-License-Identifier: Apache-2.0

package fixes

import (
	"maps"
	"slices"

	"github.com/nib-log/nib/allocs/internal/runs"
)

// Counts are the counts of the benchmarks and tests of a toolchain, for one
// operation of each.
type Counts map[string]*Leaf

// Leaf has the counts of one of them.
type Leaf struct {
	Total float64
	Lines map[Place]float64 // keyed by the innermost line of the module on the stack
}

// Count sums the results of runs. inModule reports which files count.
func Count(results []runs.Result, inModule func(file string) bool) Counts {
	out := Counts{}
	for _, r := range results {
		if r.Failed != "" {
			continue
		}
		l := &Leaf{r.PerOp, map[Place]float64{}}
		out[r.Package+"."+r.Name] = l
		for _, s := range r.Sites {
			for _, f := range s.Stack {
				if inModule(f.File) {
					l.Lines[Place{f.File, f.Line}] += s.PerOp
					break
				}
			}
		}
	}
	return out
}

// At returns the count of a leaf at lines of a file.
func (l *Leaf) At(file string, lines []int) (n float64) {
	for _, line := range slices.Compact(slices.Sorted(slices.Values(lines))) {
		n += l.Lines[Place{file, line}]
	}
	return n
}

// Worst returns the leaf that counted most at lines of a file.
func (c Counts) Worst(file string, lines []int) (leaf string, most float64) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if n := c[name].At(file, lines); n > most {
			leaf, most = name, n
		}
	}
	return leaf, most
}
