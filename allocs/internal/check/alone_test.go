// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
)

// The tests of one package do not build, the tests of another add a method to a
// generic type, and a main package has nothing but tests. The benchmarks that
// can be built are measured.
func TestPackageFailsAlone(t *testing.T) {
	const imports = "import \"testing\"\n\n"
	const benchmark = "(b *testing.B) {\n\tfor range b.N {\n\t\tKept = new(int)\n\t}\n}\n"
	d := examine(t, check.Options{Bench: regexp.MustCompile(".")}, map[string]string{
		"m.go": "package m\n\nvar Kept *int\n\ntype Box[T any] struct{ v T }\n\n" +
			"type Getter interface{ Get() int }\n\n" +
			"//alloc:none\nfunc Get(g Getter) int { return g.Get() }\n",
		"m_test.go": "package m\n\n" + imports +
			"func (b *Box[T]) value() T { return b.v }\n\n" +
			"//alloc:none\nfunc useBox() int { return (&Box[int]{}).value() }\n\n" +
			"func BenchmarkGood" + benchmark,
		"broken/m.go":      "package broken\n\nvar Kept *int\n",
		"broken/m_test.go": "package broken\n\nfunc fails() int { return \"\" }\n",
		"broken/b_test.go": "package broken\n\n" + imports + "func BenchmarkBad" + benchmark,
		"only/m_test.go": "package main\n\n" + imports +
			"var Kept *int\n\nfunc BenchmarkOnly" + benchmark,
	})
	failed := map[string]string{}
	for _, l := range d.Toolchains[0].Leaves {
		if failed[l.Name] = l.Failed; l.Failed == "" && l.PerOp != 1 {
			t.Errorf("%s: %v allocations for each operation, want 1", l.Name, l.PerOp)
		}
	}
	if len(failed) != 3 || failed["BenchmarkGood"] != "" || failed["BenchmarkOnly"] != "" {
		t.Errorf("got %q, want two benchmarks without a failure", failed)
	}
	if why := failed["BenchmarkBad"]; !strings.Contains(why, "cannot use \"\"") {
		t.Errorf("the failure is %q, want the message of the compiler", why)
	}
}
