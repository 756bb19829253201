// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
)

var inlinedAway = map[string]string{
	"m.go": `package m

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
`,
	"m_test.go": `package m

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
`,
}

// TestInlinedAway looks at functions that have no code: unused generic ones,
// and those that are inlined wherever they are used, where objects for their
// parameters are made on the line of the call. They have a verdict
// nevertheless.
func TestInlinedAway(t *testing.T) {
	dir := module(t, inlinedAway)
	for _, bench := range []*regexp.Regexp{nil, regexp.MustCompile(".")} {
		r, err := check.Run(context.Background(), check.Options{
			Dir: dir, Patterns: []string{"."}, Bench: bench,
		})
		if err != nil {
			t.Fatal(err)
		}
		d := findings.New(r)
		if trouble := d.Toolchains[0].Trouble; len(trouble) > 0 {
			t.Errorf("benchmarks %v: trouble %q, want none", bench, trouble)
		}
		got := map[string]string{}
		for _, root := range d.Roots {
			got[strings.TrimPrefix(root.ID, "example.com/m.")] = worst(root)
		}
		want := map[string]string{
			"(*Box[...]).Keep": "any run", "(*Box[...]).Add": "size", "(*Box[...]).Len": "none", "Unused[...]": "any run", "Plain": "any run",
		}
		if bench != nil {
			want["(*Box[...]).Add"] = "counted" // it grows now and then, and that is counted
		}
		if !maps.Equal(got, want) {
			t.Errorf("benchmarks %v: got %v, want %v", bench, got, want)
		}
	}
}
