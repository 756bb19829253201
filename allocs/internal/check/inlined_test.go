// SPDX-License-Identifier: Apache-2.0

package check_test

import "testing"

const inlinedSource = `package small

type Box[T any] struct{ v []T }

var kept any

//alloc:none
func (b *Box[T]) Keep(v T) { kept = &v }

//alloc:none
func (b *Box[T]) Add(v T) { b.v = append(b.v, v) }

//alloc:none
func (b *Box[T]) Len() int { return len(b.v) }

//alloc:none
func Plain(v [3]int) { kept = &v }

//alloc:none
func Unused[T any](v T) { kept = &v }
`

const inlinedTest = `package small

import "testing"

var total int

func BenchmarkBox(b *testing.B) {
	var x Box[[3]int]
	for i := 0; i < b.N; i++ {
		x.Keep([3]int{i})
		x.Add([3]int{i})
		Plain([3]int{i})
		total += x.Len()
	}
}
`

// TestInlinedAway looks at functions that have no code: unused generic ones,
// and those that are inlined wherever they are used, where objects for their
// parameters are made on the line of the call. They have a verdict
// nevertheless.
func TestInlinedAway(t *testing.T) {
	d := examine(t)
	want := map[string]string{
		"(*Box[...]).Keep": "any run", "(*Box[...]).Add": "size", "(*Box[...]).Len": "none",
		"Unused[...]": "any run", "Plain": "any run",
	}
	compareWorst(t, d.static, "small/inlined.go", want)
	want["(*Box[...]).Add"] = "counted" // it grows now and then, and that is counted
	compareWorst(t, d.runs, "small/inlined.go", want)
}
