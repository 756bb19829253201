// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/findings"
)

// kinds are statements that allocate, by the name of a function.
var kinds = []struct{ name, statement string }{
	{"Make", "numbers = make([]int, size)"},
	{"Append", "numbers = append([]int(nil), size)"},
	{"Concat", "text = text[:size] + \" and then some more\""},
	{"Box", "boxed = n + 100000"},
	{"Closure", "call = func() int { return n }"},
	{"Map", "numbered = map[int]int{n: size}"},
	{"Convert", "text = string(bytes)"},
	{"Build", "var b strings.Builder; b.WriteString(text); text = b.String()"},
}

const oftenHead = `package often

import "strings"

var (
	numbers  []int
	size     = 20
	text     = strings.Repeat("x", 40)
	boxed    any
	call     func() int
	numbered map[int]int
	bytes    = make([]byte, 40)
)
`

// oftenEvery is how often a statement is executed: in each nth operation.
var oftenEvery = []int{1, 2, 5, 20, 100, 1000, 5000}

// oftenFiles has a function for each kind and frequency. The rarest has a
// benchmark of its own, so that nothing else makes the window of it longer.
func oftenFiles() map[string]string {
	var code, bench strings.Builder
	code.WriteString(oftenHead)
	bench.WriteString("package often\n\nimport \"testing\"\n")
	for _, k := range kinds {
		var calls strings.Builder
		for i, n := range oftenEvery {
			name := fmt.Sprint(k.name, n)
			fmt.Fprintf(&code, "\n//alloc:none\nfunc %s(n int) ", name)
			fmt.Fprintf(&code, "{ if n%%%d == 0 { %s } }\n", n, k.statement)
			fmt.Fprintf(&calls, "%s(i); ", name)
			if i >= len(oftenEvery)-2 {
				fmt.Fprintf(&bench, "\nfunc Benchmark%s(b *testing.B) ", name)
				fmt.Fprintf(&bench, "{ for i := range b.N { %s } }\n", &calls)
				calls.Reset()
			}
		}
	}
	return map[string]string{"m.go": code.String(), "m_test.go": bench.String()}
}

// What allocates once in 5,000 operations allocates, whatever it is.
func TestRareAllocationsAreNotClean(t *testing.T) {
	d := examine(t).runs
	roots, leaves := rootsOf(d, "often/m.go"), leavesOf(d, "often")
	for _, k := range kinds {
		for _, n := range oftenEvery {
			r := roots[fmt.Sprint(k.name, n)]
			if r == nil || r.Status != findings.Above {
				t.Errorf("%s%d: got %+v, want above what is allowed", k.name, n, r)
			}
		}
		if l := leaves["Benchmark"+k.name+"5000"]; l.N < 10000 {
			t.Errorf("%s: got a leaf of %d operations, want 10,000", k.name, l.N)
		}
	}
}
