// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
)

const setUpSource = `package m

var (
	named   *[3]int
	state   struct{ lazy *[3]int }
	handler func(n int)
)

func init() {
	handler = func(n int) {
		named = &[3]int{n}
	}
}

//alloc:none
func Branch(n int) {
	if n > 3 {
		named = &[3]int{n}
	}
}

//alloc:none
func Lazy() *[3]int {
	if state.lazy == nil {
		state.lazy = &[3]int{}
	}
	return state.lazy
}

//alloc:none
func Handle(n int) {
	handler(n)
}

type encoder struct{ out *[3]int }

//alloc:none
func Fresh(n int) {
	e := encoder{}
	if e.out == nil {
		e.out = &[3]int{n}
	}
	named = e.out
}
`

// A clean verdict takes evidence for each call: none comes from a run that
// executes a function in its set-up, or from where a function literal is made.
func TestCodeThatRunsOnceIsNotTakenForCodeThatIsMadeOnce(t *testing.T) {
	bench := `package m

import "testing"

func BenchmarkSetUp(b *testing.B) {
	Branch(4)
	for i := 0; i < b.N; i++ {
		Lazy()[0]++
	}
}
`
	want := map[string]string{"Branch": "benchmark", "Lazy": "benchmark", "Handle": "none", "Fresh": "any run"}
	d := examine(t, check.Options{Bench: regexp.MustCompile(".")}, map[string]string{"m.go": setUpSource, "m_test.go": bench})
	for _, r := range d.Roots {
		f := strings.TrimPrefix(r.Func, "example.com/m.")
		executed := f == "Lazy" // in each operation
		if got := worst(r); got != want[f] || r.Proven() != executed {
			t.Errorf("%s: got %s, proven %v, want %s, %v", f, got, r.Proven(), want[f], executed)
		}
	}
}
