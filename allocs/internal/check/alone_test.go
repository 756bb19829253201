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

// The tests of a package compile and do not link, which only a build of the
// tests shows. The other package has its verdict.
func TestPackageThatDoesNotLinkFailsAlone(t *testing.T) {
	const benchmark = "import \"testing\"\n\nfunc BenchmarkX(b *testing.B) {\n" +
		"\tfor range b.N {\n\t\tGet()\n\t}\n}\n"
	const get = "//alloc:none\nfunc Get() *int { return new(int) }\n"
	d := examine(t, check.Options{Bench: regexp.MustCompile(".")}, map[string]string{
		"good/m.go":      "package good\n\n" + get,
		"good/m_test.go": "package good\n\n" + benchmark,
		"broken/m.go":    "package broken\n\n" + get,
		"broken/m.s":     "// Functions may lack a body.\n",
		"broken/m_test.go": "package broken\n\n" + benchmark +
			"\nfunc missing()\n\n//alloc:none\nfunc calls() { missing() }\n\nfunc init() { calls() }\n",
	})
	failed := map[string]string{}
	for _, l := range d.Toolchains[0].Leaves {
		failed[l.Package] = l.Failed
	}
	if why := failed["example.com/m/broken"]; !strings.Contains(why, "broken.missing not defined") {
		t.Errorf("the failure is %q, want the message of the linker", why)
	}
	if why, ok := failed["example.com/m/good"]; !ok || why != "" {
		t.Errorf("the other package failed: %q, want it measured", why)
	}
	for _, r := range d.Roots {
		if want := r.Package == "example.com/m/good"; r.Reached[0] != want {
			t.Errorf("%s: reached by a leaf: %v, want %v", r.Func, r.Reached[0], want)
		}
	}
}
