// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
)

// The leaf with most comes first, and below each leaf is all that it has.
func TestLeavesAddUp(t *testing.T) {
	reasons := []findings.Reason{{Pattern: "new-object", Reason: "it is made", Fix: "keep it"}}
	d := &findings.Document{Module: "m.org/m", Toolchains: []findings.Toolchain{{
		Name: "go1.26.8", Runs: 3, Leaves: []findings.Leaf{
			{Package: "m.org/m", Name: "BenchmarkLow", N: 20000},
			{Package: "m.org/m", Name: "BenchmarkX/a", N: 32, PerOp: 7, Bytes: 96, Lines: []findings.Line{
				{File: "m.go", Line: 3, Source: "x = new(T)", PerOp: 6, Bytes: 48, Reasons: reasons},
				{File: "m.go", Line: 9, Source: "y = new(T)", PerOp: 0.5, Bytes: 32, Reasons: reasons},
			}},
			{Package: "m.org/m", Name: "BenchmarkBad", Failed: "panic"},
		},
	}}}
	d.Sum()
	const want = `m.org/m on go1.26.8

go1.26.8: allocations and bytes of one operation
  BenchmarkX/a  ×7 96 B  (32 operations counted: what is rarer is not seen)
    ×6 48 B  m.go:3  x = new(T)
      why  it is made [new-object]
      fix  keep it
    ×0.5 32 B  m.go:9  y = new(T)
      why  new-object, as above
    ×0.5 16 B  not put on a line of the module
  BenchmarkLow  ×0 0 B

3 runs measured, 0.0 s
`
	if got := text(t, d, &baseline.Outcome{}, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
