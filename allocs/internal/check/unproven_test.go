// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"slices"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/must"
)

const unprovenSource = `package small

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"
)

var deferred any

//alloc:none
func Sprint(n int) string { return fmt.Sprint(n) }

//alloc:none
func Format(t time.Time) string { return t.Format(time.RFC3339) }

//alloc:none
func Itoa(n int) string { return strconv.Itoa(n) }

//alloc:none
func Quote(s string) string { return strconv.Quote(s) }

//alloc:none
func Base64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

//alloc:none
func Address(a netip.Addr) string { return a.String() }

//alloc:none
func Appended(b []byte) []byte { return append(b, 1) }

//alloc:none
func Measured(b []byte) []byte { return append(b, 1) }

//alloc:none
func Called(f func()) { f() }

//alloc:none
func Deferred(s string) { defer func() { deferred = s }() }

//alloc:none
func Free(n int) int { return n + 1 }

//alloc:none
func Shown(n int) int { return n + 1 }

//alloc:none
func Generic[T any](v T) T { return v }

//alloc:none
func Fails(n int) (int, error) {
	if n < 0 {
		return 0, errors.New("below zero")
	}
	return n, nil
}
`

const unprovenTest = "package small\n\nimport \"testing\"\n\n" +
	"func BenchmarkMeasured(b *testing.B) {\n\tbuf := make([]byte, 0, 8)\n" +
	"\tfor range b.N {\n\t\tMeasured(buf)\n\t\tFree(1)\n\t}\n}\n"

// gate returns the functions of a file that are unproven, and those above their
// limits.
func gate(t *testing.T, d *findings.Document, file string) (unproven, worse []string) {
	t.Helper()
	o, err := baseline.Compare(nil, d)
	must.Succeed(t, err)
	of := func(changes []baseline.Change) (out []string) {
		for name, r := range rootsOf(d, file) {
			same := func(c baseline.Change) bool { return c.Root == r.ID }
			if slices.ContainsFunc(changes, same) {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	return of(o.Unproven), of(o.Worse)
}

// A function is clean only if a benchmark executes it, or no path through its
// code can allocate.
func TestCleanMeansShown(t *testing.T) {
	d := examine(t).runs
	unproven, _ := gate(t, d, "small/unproven.go")
	clean := map[string]bool{"Measured": true, "Free": true, "Shown": true}
	roots := rootsOf(d, "small/unproven.go")
	for name, r := range roots {
		if reported := slices.Contains(unproven, name) || r.Over(); reported == clean[name] {
			t.Errorf("%s: unproven are %q, above %v", name, unproven, r.Over())
		}
	}
	if len(roots) != 14 {
		t.Errorf("got %d functions, want 14", len(roots))
	}
}

const everyPathSource = `package small

//alloc:none
func None() { named = new([3]int) }

//alloc:max=1
func Max() { named = new([3]int) }

//alloc:max=1
func Grows(b []byte) []byte { return append(b, 1) }
`

// What is on every path of a function fails no gate as above its limit while no
// benchmark executes it: it is unproven, with //alloc:max as well.
func TestOnEveryPathIsUnprovenWithoutALeaf(t *testing.T) {
	d := examine(t)
	for name, d := range map[string]*findings.Document{"without runs": d.static, "with runs": d.runs} {
		unproven, worse := gate(t, d, "small/everypath.go")
		if len(worse) != 0 || !slices.Equal(unproven, []string{"Max", "None"}) {
			t.Errorf("%s: got %q worse and %q unproven, want none, Max and None",
				name, worse, unproven)
		}
	}
}

const strictSource = `package small

//alloc:none
func Branch(n int) {
	if n > 1 {
		named = new([3]int)
	}
}

//alloc:none
func Nothing(n int) int { return n + 1 }
`

const strictTest = "package small\n\nimport \"testing\"\n\n" +
	"func BenchmarkBranch(b *testing.B) {\n\tfor range b.N {\n" +
	"\t\tBranch(1)\n\t\tNothing(1)\n\t}\n}\n"

// With Strict, a branch that no benchmark takes leaves a function unproven that
// a benchmark executes.
func TestStrictNeedsThatNothingIsPossible(t *testing.T) {
	d := examine(t)
	if got, _ := gate(t, d.runs, "small/strict.go"); len(got) > 0 {
		t.Errorf("without Strict: unproven are %q, want none", got)
	}
	if got, _ := gate(t, d.strict, "small/strict.go"); !slices.Equal(got, []string{"Branch"}) {
		t.Errorf("unproven are %q, want Branch", got)
	}
}
