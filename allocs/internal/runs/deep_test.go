// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"strings"
	"testing"
)

const deepBenchmarks = `package m

import "testing"

var bottom *[3]int

//go:noinline
func down(n int) int {
	if n == 0 {
		bottom = new([3]int)
		return 0
	}
	return down(n-1) + 1
}

//go:noinline
func root(n int) int { return down(n) + 1 }

func depth(b *testing.B, n int) {
	for i := 0; i < b.N; i++ {
		root(n)
	}
}

func Benchmark0(b *testing.B)    { depth(b, 0) }
func Benchmark40(b *testing.B)   { depth(b, 40) }
func Benchmark100(b *testing.B)  { depth(b, 100) }
func Benchmark200(b *testing.B)  { depth(b, 200) }
func Benchmark1500(b *testing.B) { depth(b, 1500) }
`

func TestAllocationsFarBelowARootAreCountedAtTheirLine(t *testing.T) {
	for _, release := range releases() {
		b, _ := build(t, release, quick, deepBenchmarks)
		results := run(t, b, quick)
		for _, r := range results {
			below, cut := 0.0, 0.0
			for _, s := range r.Sites {
				if s.Cut {
					cut += s.PerOp
				}
				at := ""
				for _, f := range s.Stack {
					if strings.HasPrefix(f.Func, "example.com/m.") && at == "" {
						at = f.Func
						if f.Line != 10 {
							at += " elsewhere"
						}
					}
					if f.Func == "example.com/m.root" && at == "example.com/m.down" {
						below += s.PerOp
					}
				}
			}
			want := [2]float64{1, 0}
			if r.Name == "Benchmark1500" { // deeper than any release notes
				want = [2]float64{0, 1}
			}
			if got := [2]float64{below, cut}; got != want || r.PerOp != 1 {
				t.Errorf("%s %s: got %v below the root at the line and cut, %v in all, want %v, 1", release, r.Name, got, r.PerOp, want)
			}
		}
		if len(results) != 5 {
			t.Errorf("%s: got %d results, want 5", release, len(results))
		}
	}
}
