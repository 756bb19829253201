// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"go/ast"
	"testing"
)

// The changes of the standard library keep its lines, and fail where the code
// is another.
func TestRewriteTheStandardLibrary(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		change           func(*ast.File) []edit
	}{
		{
			"stacks of Go 1.25", "package runtime\n\nfunc mProf_Malloc() {\n\tn := callers(5, s[:2])\n}\n",
			"package runtime\n\nfunc mProf_Malloc() {\n\tn := callers(3, s[:2])\n}\n", whole,
		},
		{"stacks of another function", "package runtime\n\nfunc saveg() { callers(5, s) }\n", "", whole},
		{
			"small objects", "package runtime\n\nfunc mallocgc() {\n\tif noscan && size < maxTinySize {\n\t}\n}\n",
			"package runtime\n\nfunc mallocgc() {\n" +
				"\tif noscan && (false && size < maxTinySize) {\n\t}\n}\n", oneByOne,
		},
		{"no small objects", "package runtime\n\nfunc mallocgc() { _ = size < other }\n", "", oneByOne},
		{"a method is missing", "package testing\n\nfunc (b *B) run1() {}\n", "", hooked},
	} {
		got, err := rewrite([]byte(c.text), c.change)
		if string(got) != c.want || errors.Is(err, errUnchanged) != (c.want == "") {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}
