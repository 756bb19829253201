// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
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

const oftenHead = `package m

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

// What allocates once in 5,000 operations allocates, whatever it is.
func TestRareAllocationsAreNotClean(t *testing.T) {
	var code, bench strings.Builder
	code.WriteString(oftenHead)
	bench.WriteString("package m\n\nimport \"testing\"\n")
	every := []int{1, 2, 5, 20, 100, 1000, 5000}
	for _, k := range kinds {
		for _, n := range every {
			name := fmt.Sprint(k.name, n)
			fmt.Fprintf(&code, "\n//alloc:none\nfunc %s(n int) ", name)
			fmt.Fprintf(&code, "{ if n%%%d == 0 { %s } }\n", n, k.statement)
			fmt.Fprintf(&bench, "\nfunc Benchmark%s(b *testing.B) ", name)
			fmt.Fprintf(&bench, "{ for i := range b.N { %s(i) } }\n", name)
		}
	}
	d := examine(t, check.Options{Bench: regexp.MustCompile(".")}, map[string]string{
		"m.go": code.String(), "m_test.go": bench.String(),
	})
	if want := len(kinds) * len(every); len(d.Roots) != want {
		t.Fatalf("got %d functions, want %d", len(d.Roots), want)
	}
	for _, r := range d.Roots {
		if r.Status != findings.Above {
			t.Errorf("%s: got %s, want above what is allowed", r.Func, r.Status)
		}
		name := "Benchmark" + r.Func[len("example.com/m."):]
		leaves := d.Toolchains[0].Leaves
		i := slices.IndexFunc(leaves, func(l findings.Leaf) bool { return l.Name == name })
		if i < 0 || leaves[i].N < 10000 {
			t.Errorf("%s: got no leaf of 10,000 operations", r.Func)
		}
	}
}
