// SPDX-License-Identifier: Apache-2.0

package check_test

import "testing"

const setUpSource = `package small

var (
	state   struct{ lazy *[3]int }
	handler func(n int)
)

func init() {
	handler = func(n int) {
		named = &[3]int{n}
	}
}

//alloc:none
func Set(n int) {
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

const setUpTest = `package small

import "testing"

func BenchmarkSetUp(b *testing.B) {
	Set(4)
	for i := 0; i < b.N; i++ {
		Lazy()[0]++
	}
}
`

// A clean verdict takes evidence for each call: none comes from a run that
// executes a function in its set-up, or from where a function literal is made.
func TestCodeThatRunsOnceIsNotTakenForCodeThatIsMadeOnce(t *testing.T) {
	d := examine(t).runs
	compareWorst(t, d, "small/setup.go", map[string]string{
		"Set": "benchmark", "Lazy": "benchmark", "Handle": "none", "Fresh": "any run",
	})
	for name, r := range rootsOf(d, "small/setup.go") {
		executed := name == "Lazy" // in each operation
		if r.Proven() != executed {
			t.Errorf("%s: got proven %v, want %v", name, r.Proven(), executed)
		}
	}
}
