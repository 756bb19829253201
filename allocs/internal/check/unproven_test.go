// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/check"
)

const unprovenSource = `package m

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"
)

var kept any

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
func Deferred(s string) { defer func() { kept = s }() }

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

// A function is clean only if a benchmark executes it, or no path through its
// code can allocate.
func TestCleanMeansShown(t *testing.T) {
	d := examine(t, check.Options{Bench: regexp.MustCompile(".")}, map[string]string{
		"m.go": unprovenSource,
		"m_test.go": "package m\n\nimport \"testing\"\n\n" +
			"func BenchmarkMeasured(b *testing.B) {\n\tbuf := make([]byte, 0, 8)\n" +
			"\tfor range b.N {\n\t\tMeasured(buf)\n\t\tFree(1)\n\t}\n}\n",
	})
	o, err := baseline.Compare(nil, d)
	if err != nil {
		t.Fatal(err)
	}
	unproven := map[string]string{}
	for _, c := range o.Unproven {
		unproven[c.Root] = c.Text
	}
	clean := map[string]bool{"Measured": true, "Free": true, "Shown": true}
	for _, r := range d.Roots {
		name := strings.TrimPrefix(r.ID, "example.com/m.")
		said := unproven[r.ID] != "" || r.Over()
		if said == clean[name] {
			t.Errorf("%s: unproven %q, above %v", name, unproven[r.ID], r.Over())
		}
	}
	if len(d.Roots) != 14 {
		t.Errorf("got %d functions, want 14", len(d.Roots))
	}
}

// What is on every path of a function fails no gate as above its limit while no
// benchmark executes it: it is unproven, with //alloc:max as well.
func TestOnEveryPathIsUnprovenWithoutALeaf(t *testing.T) {
	d := examine(t, check.Options{}, map[string]string{"m.go": `package m

var kept *[3]int

//alloc:none
func None() { kept = new([3]int) }

//alloc:max=1
func Max() { kept = new([3]int) }

//alloc:max=1
func Grows(b []byte) []byte { return append(b, 1) }
`})
	o, err := baseline.Compare(nil, d)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Worse) != 0 || len(o.Unproven) != 2 {
		t.Errorf("got %d worse and %d unproven, want 0 and 2", len(o.Worse), len(o.Unproven))
	}
}

// With Strict, a branch that no benchmark takes leaves a function unproven that
// a benchmark executes.
func TestStrictNeedsThatNothingIsPossible(t *testing.T) {
	for _, strict := range []bool{false, true} {
		o := check.Options{Bench: regexp.MustCompile("."), Strict: strict}
		d := examine(t, o, map[string]string{
			"m.go": `package m

var kept *[3]int

//alloc:none
func Branch(n int) {
	if n > 1 {
		kept = new([3]int)
	}
}

//alloc:none
func Free(n int) int { return n + 1 }
`,
			"m_test.go": "package m\n\nimport \"testing\"\n\n" +
				"func BenchmarkBranch(b *testing.B) {\n\tfor range b.N {\n" +
				"\t\tBranch(1)\n\t\tFree(1)\n\t}\n}\n",
		})
		outcome, err := baseline.Compare(nil, d)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range outcome.Unproven {
			got = append(got, c.Root)
		}
		want := []string(nil)
		if strict {
			want = []string{"example.com/m.Branch"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("strict %v: unproven are %q, want %q", strict, got, want)
		}
	}
}
