// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
)

// What a sub-benchmark allocates counts for its benchmark, which is not on the
// stack of the goroutine that allocates.
func TestBenchmarksHaveTheAllocationsOfTheirSubBenchmarks(t *testing.T) {
	d := examine(t, check.Options{Bench: regexp.MustCompile(".")}, map[string]string{
		"m.go": `package m

var Sink any

func New(n int) { Sink = make([]byte, n) }

func Free(n int) int { return n + 1 }
`,
		"m_test.go": `package m

import (
	"fmt"
	"testing"
)

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint("size ", n), func(b *testing.B) {
			b.Run("inner", func(b *testing.B) {
				for i := 0; i < b.N; i++ {
					New(n)
				}
			})
		})
	}
}

func BenchmarkFree(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint("size ", n), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				Free(n)
			}
		})
	}
}
`})
	// The set-up of Free formats names, which can grow a buffer.
	want := map[string]string{"BenchmarkNew": "counted", "BenchmarkFree": "possible"}
	if len(d.Roots) != len(want) {
		t.Errorf("got %d roots, want %d", len(d.Roots), len(want))
	}
	for _, r := range d.Roots {
		for _, site := range r.Sites {
			if !strings.HasPrefix(site.Chain[0].Func, r.Func) {
				t.Errorf("%s: the calls begin with %s", r.Func, site.Chain[0].Func)
			}
		}
		name := r.Func[len("example.com/m."):]
		if string(r.Status) != want[name] {
			t.Errorf("%s: got %s, want %s", name, r.Status, want[name])
		}
		allocs := map[string]int{"BenchmarkNew": 2} // the slice and its box
		if r.Allocs[0] != allocs[name] {
			t.Errorf("%s: got %d allocations, want %d", name, r.Allocs[0], allocs[name])
		}
	}
}
