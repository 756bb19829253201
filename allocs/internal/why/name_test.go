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

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range catalogue {
		if seen[p.Name] || p.Fix == "" {
			t.Errorf("%s: the name is not unique or there is no fix", p.Name)
		}
		seen[p.Name] = true
	}
	for name := range conditions {
		if !seen[name] {
			t.Errorf("there is a condition for %s, which is no pattern", name)
		}
	}
	if len(seen) < 20 {
		t.Errorf("got %d patterns, want 20 or more", len(seen))
	}
}
