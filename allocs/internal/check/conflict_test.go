// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"maps"
	"strings"
	"testing"
)

var conflictSource = `package small

import (
	iobytes "bytes"
	"slices"
	"strings"
	"weak"
)

var keptText string

//alloc:none
func InBranch(n int) *[3]int {
	if n == 1 {
		return &[3]int{n}
	}
	return nil
}

//alloc:none
func Text(b []byte) string { return string(b) }

//alloc:none
func Copied(s string) string { return strings.Clone(s) }

//alloc:none
func Buffered(b *iobytes.Buffer) string { return b.String() }

//alloc:none
func Boxed(n int) any {
	if n > 0 {
		return n
	}
	return nil
}

//alloc:none
func Paused(n int) {
	if n == 1 {
		named = &[3]int{n}
	}
}

//alloc:none
func Order(name string) func(a, b int) bool {
	if name != "" {
		named = &[3]int{}
	}
	return func(a, b int) bool {
		return a < b
	}
}

//go:noinline
func makes(n int) { named = &[3]int{n} }

//alloc:none
func InOthers(n int) {
	if n == 1 {
		makes(n)
	}
}

//alloc:none
func OneLine(s []int) { slices.SortFunc(s, func(a, b int) int { return a - b }) }

//alloc:none
func Named[T interface {
	comparable
	Name() string
}](v T) string {
	return v.Name()
}

//alloc:none
func Weak(p *int) weak.Pointer[int] { return weak.Make(p) }

//alloc:none
func ManyDeferred(b []byte) {
	keep := func() { keptText = string(b) }
` + conflictDefers + `}
`

// Nine deferred calls are more than the compiler puts at the end of a function.
var conflictDefers = strings.Repeat("\tdefer keep()\n", 9)

const conflictGenerated = `package small

//line generated.go:7
//alloc:none
func Generated(n int) { named = &[3]int{n} }
`

const conflictTest = `package small

import (
	iobytes "bytes"
	"testing"
)

func BenchmarkConflict(b *testing.B) {
	n, text, one, less := 0, []byte("text"), []int{1}, Order("name")
	buffer := iobytes.NewBuffer(text)
	for i := range b.N {
		n += InBranch(1)[0] + len(Text(text)) + len(Copied("text")) + len(Buffered(buffer))
		b.StopTimer()
		Paused(1)
		b.StartTimer()
		if Boxed(i+1000) != nil {
			n++
		}
		makes(1)
		InOthers(2)
		OneLine(one)
		if less(i, n) {
			n++
		}
	}
}
`

// No function is proven by a run into which it is inlined without what its code
// allocates, or that executes it while the timer is stopped, or only a literal
// in it. Neither is code that allocates through a function of the runtime or a
// deferred call, or in lines with another name. A line on which runs allocate,
// below another function, is no such conflict.
func TestEvidenceThatConflictsProvesNothing(t *testing.T) {
	d := examine(t).runs
	roots := rootsOf(d, "small/conflict.go")
	maps.Copy(roots, rootsOf(d, "small/generated.go"))
	if len(roots) != 13 {
		t.Errorf("got %d functions, want 13", len(roots))
	}
	for name, r := range roots {
		if want := name == "OneLine" || name == "InOthers"; r.Proven() != want {
			t.Errorf("%s: got proven %v, want %v: %q", name, r.Proven(), want, r.Unproven)
		}
		const noCode = "it has no code: call it in a test, with the types that you use"
		if name == "Named[...]" && r.Unproven[0] != noCode {
			t.Errorf("%s: unproven as %q, want %q", name, r.Unproven[0], noCode)
		}
	}
}
