// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"cmp"
	"testing"

	"github.com/nib-log/nib/allocs/internal/findings"
)

const sureSource = `package small

var (
	text  string
	bytes []byte
	named *[3]int
)

//alloc:none
func String(b []byte) { text = string(b) }

//alloc:none
func Concat(a, b string) { text = a + ": " + b }

//alloc:none
func ConcatNothing(a string) { text = a + "" }

//alloc:none
func Bytes(s string) { bytes = []byte(s) }

//alloc:none
func Returned(b []byte) string { return string(b) }

//alloc:none
func Local(b []byte) int { s := string(b) + "!"; return len(s) + int(s[0]) }

//alloc:none
func Compared(b []byte) bool { return string(b) == text }

//alloc:none
func New() *[3]int { return &[3]int{} }
`

// worst returns what the worst site of a root lacks, or its verdict.
func worst(r *findings.Root) string {
	w := r.Worst()
	return cmp.Or(string(w.Missing), string(w.Verdict))
}

const sureTest = `package small

import "testing"

func BenchmarkSure(b *testing.B) {
	named = New()
	String(nil)
	for i := 0; i < b.N; i++ {
		named[0]++
	}
}
`

// The benchmark executes some of the functions in its set-up alone.
func TestWhatAllocatesOnEveryPathFailsWithoutARun(t *testing.T) {
	want := map[string]string{
		"String": "any run", "Concat": "any run", "ConcatNothing": "size", "Bytes": "any run",
		"Returned": "any run", "Local": "size", "Compared": "none", "New": "any run",
	}
	d := examine(t)
	compareWorst(t, d.static, "small/sure.go", want)
	compareWorst(t, d.runs, "small/sure.go", want)
}
