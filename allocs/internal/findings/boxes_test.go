// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// A line that boxes several arguments has calls for them, and the compiler
// names all; their types show which is which.
func TestEachBoxedArgumentHasOneEntry(t *testing.T) {
	boxes := load.Boxes{"f.go": {7: {"a": load.Small, "b": load.Other, "c": load.Small, "p": load.Free}}}
	for _, c := range []struct {
		name   string
		kind   heapcalls.Kind
		calls  int
		values []string
		want   string
	}{
		{"numbers", heapcalls.BoxSmall, 2, []string{"a", "b", "c", "p"}, "a ×1 1 calls; c ×1 1 calls"},
		{"the one that is no number", heapcalls.Box, 2, []string{"a", "b", "c"}, "b ×2 2 calls"},
		{"each twice", heapcalls.BoxSmall, 4, []string{"a", "c"}, "a ×1 2 calls; c ×1 2 calls"},
		{"only one", heapcalls.BoxSmall, 2, []string{"a"}, " ×2 2 calls"},
		{"a value that is not known", heapcalls.BoxSmall, 2, []string{"a", "x"}, " ×2 2 calls"},
		{"more calls than values", heapcalls.BoxSmall, 3, []string{"a", "c"}, " ×2 3 calls"},
		{"another kind", heapcalls.Make, 2, []string{"a", "c"}, " ×2 2 calls"},
	} {
		s := &verdict.Site{File: "f.go", Line: 7, Kind: c.kind, Reason: "seen in B: 2 per operation", Evidence: verdict.Evidence{Calls: c.calls, Values: c.values,
			Escape: &compiler.Escape{What: c.values[0]}, Runs: []verdict.Seen{{Name: "B", PerOp: 2}}}}
		var got []string
		for _, a := range each([]*verdict.Site{s}, boxes) {
			got = append(got, fmt.Sprintf("%s ×%v %d calls", a.value, a.Evidence.Runs[0].PerOp, a.Evidence.Calls))
			if a.value != "" && (a.Evidence.Escape.What != a.value || a.Reason != fmt.Sprintf("seen in B: %v per operation", a.Evidence.Runs[0].PerOp)) {
				t.Errorf("%s: got %q and %q", c.name, a.Evidence.Escape.What, a.Reason)
			}
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if s.Evidence.Runs[0].PerOp != 2 || s.Evidence.Escape.What != c.values[0] {
			t.Errorf("%s: the evidence was changed", c.name)
		}
	}
}
