// SPDX-License-Identifier: Apache-2.0

package why

import "testing"

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"m.F":                                 "m.F",
		"example.org/a/m.(*T).F":              "m.(*T).F",
		"example.org/a/m.(*C[b.org/x/y.T]).F": "m.(*C[y.T]).F",
		"a.org/m.F[b.org/x/y.T,*c.org/z.U]":   "m.F[y.T,*z.U]",
		"m.(*C[go.shape.int64]).F.func1":      "m.(*C[go.shape.int64]).F.func1",
	} {
		if got := ShortName(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
