// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/findings"
)

const leavesSource = "package small\n\nvar Sink any\n\n" +
	"func NewSink(n int) { Sink = make([]byte, n) }\n\n" +
	"func AddOne(n int) int { return n + 1 }\n"

const leavesTest = `package small

import (
	"fmt"
	"testing"
)

func BenchmarkX(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint("size ", n), func(b *testing.B) {
			b.Run("new", func(b *testing.B) {
				for i := 0; i < b.N; i++ {
					NewSink(n)
				}
			})
			b.Run("free", func(b *testing.B) {
				for i := 0; i < b.N; i++ {
					AddOne(n)
				}
			})
		})
	}
}
`

// The report has each sub-benchmark with its lines and their reasons, although
// the package has no root.
func TestLeavesHaveLinesWithReasons(t *testing.T) {
	all := slices.DeleteFunc(examine(t).runs.Toolchains[0].Heaviest(), func(l findings.Leaf) bool {
		return l.Package != "example.com/m/small" || !strings.HasPrefix(l.Name, "BenchmarkX/")
	})
	if len(all) != 4 {
		t.Fatalf("got %d leaves, want 4", len(all))
	}
	for i, name := range []string{"size_100/new", "size_1/new", "size_1/free", "size_100/free"} {
		l := all[i]
		if l.Name != "BenchmarkX/"+name {
			t.Errorf("leaf %d is %s, want %s", i, l.Name, name)
		}
		if i >= 2 {
			if len(l.Lines) != 0 || l.PerOp != 0 {
				t.Errorf("%s: got %+v, want no lines", name, l.Lines)
			}
			continue
		}
		if len(l.Lines) != 1 || l.PerOp != 2 {
			t.Fatalf("%s: got %+v, want one line with 2", name, l)
		}
		x := l.Lines[0]
		if x.PerOp != 2 || x.Line != 5 || len(x.Reasons) != 2 {
			t.Fatalf("%s: got %+v, want 2 on line 5 for two reasons", name, x)
		}
		for _, r := range x.Reasons {
			if r.PerOp != 1 || r.Reason == "" || r.Pattern == "" || r.Fix == "" {
				t.Errorf("%s: got %+v, want a reason and a fix", name, r)
			}
		}
	}
}
