// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"
)

const aloneBenchmark = "(b *testing.B) {\n\tfor range b.N {\n\t\tKept = new(int)\n\t}\n}\n"

const aloneSource = "package small\n\nvar Kept *int\n\ntype crate[T any] struct{ v T }\n\n" +
	"type getter interface{ Get() int }\n\n" +
	"//alloc:none\nfunc Get(g getter) int { return g.Get() }\n"

// The tests add a method to a generic type.
const aloneTest = "package small\n\nimport \"testing\"\n\n" +
	"func (b *crate[T]) value() T { return b.v }\n\n" +
	"//alloc:none\nfunc useCrate() int { return (&crate[int]{}).value() }\n\n" +
	"func BenchmarkGood" + aloneBenchmark

// The tests do not compile.
var brokenFiles = map[string]string{
	"m.go":      "package broken\n\nvar Kept *int\n",
	"m_test.go": "package broken\n\nfunc fails() int { return \"\" }\n",
	"b_test.go": "package broken\n\nimport \"testing\"\n\nfunc BenchmarkBad" + aloneBenchmark,
}

// The tests cannot be read.
var unreadFiles = map[string]string{
	"m.go":      "package unread\n\nvar Kept *int\n",
	"m_test.go": "package unread\n\nimport \"testing\"\n\nfunc BenchmarkBad" + aloneBenchmark + "\nvar x = (\n",
}

// A main package has nothing but tests.
var onlyTestFiles = map[string]string{
	"m_test.go": "package main\n\nimport \"testing\"\n\n" +
		"var Kept *int\n\nfunc BenchmarkOnly" + aloneBenchmark,
}

// The tests compile and do not link, which only a build of the tests shows.
var unlinkedFiles = map[string]string{
	"m.go": "package unlinked\n\n//alloc:none\nfunc Get() *int { return new(int) }\n",
	"m.s":  "// Functions may lack a body.\n",
	"m_test.go": "package unlinked\n\nimport \"testing\"\n\n" +
		"func BenchmarkX(b *testing.B) {\n\tfor range b.N {\n\t\tGet()\n\t}\n}\n\n" +
		"func missing()\n\n//alloc:none\nfunc calls() { missing() }\n\nfunc init() { calls() }\n",
}

// Packages whose tests do not build have the reason, and only those.
func TestPackageFailsAlone(t *testing.T) {
	d := examine(t).runs
	for _, c := range []struct{ pkg, leaf, why, other string }{
		{"small", "BenchmarkGood", "", ""},
		{"only", "BenchmarkOnly", "", ""},
		{"unread", "BenchmarkBad", "expected operand", "cannot use"},
		{"broken", "BenchmarkBad", "cannot use \"\"", "missing not defined"},
		{"unlinked", "BenchmarkX", "unlinked.missing not defined", "cannot use"},
	} {
		l, ok := leavesOf(d, c.pkg)[c.leaf]
		switch {
		case !ok:
			t.Errorf("%s: got no %s", c.pkg, c.leaf)
		case c.why == "" && (l.Failed != "" || l.PerOp != 1):
			t.Errorf("%s: %v for each operation, failed %q, want 1", l.Name, l.PerOp, l.Failed)
		case !strings.Contains(l.Failed, c.why), c.why != "" && strings.Contains(l.Failed, c.other):
			t.Errorf("%s: the failure is %q, want %q alone", l.Name, l.Failed, c.why)
		}
	}
	if r := rootsOf(d, "unlinked/m.go")["Get"]; r == nil || r.Reached[0] {
		t.Errorf("%+v: want a root that no leaf reaches", r)
	}
	if r := rootsOf(d, "small/strict.go")["Nothing"]; r == nil || !r.Reached[0] {
		t.Errorf("%+v: want a root that a leaf reaches", r)
	}
}
