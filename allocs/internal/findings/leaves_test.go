// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"testing"

	"github.com/nib-log/nib/allocs/internal/verdict"
)

// site returns a line that the leaves counted at, or one that no leaf executed.
func site(calls int, counts map[string]float64) *Site {
	a := Answer{Finding: verdict.Finding{Verdict: verdict.Possible, Missing: verdict.AnyRun}, Evidence: &Evidence{Calls: calls}}
	for name, n := range counts {
		a.Finding = verdict.Finding{Verdict: verdict.Counted}
		a.Evidence.Runs = append(a.Evidence.Runs, Run{Name: name, PerOp: n})
	}
	return &Site{Answers: []Answer{a}}
}

func TestTheWorstLeafCounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		sites []*Site
		want  int
		leaf  string
	}{
		{"nothing", nil, 0, ""},
		{"one allocation in each of three leaves", []*Site{site(1, map[string]float64{"B/a": 1, "B/b": 1, "B/c": 1})}, 1, "B/a"},
		{"lines that different leaves reach", []*Site{site(1, map[string]float64{"B/a": 1}), site(1, map[string]float64{"B/b": 10})}, 10, "B/b"},
		{"lines that one leaf reaches", []*Site{site(1, map[string]float64{"B/a": 1}), site(1, map[string]float64{"B/a": 2, "B/b": 2})}, 3, "B/a"},
		{"a line that no leaf reaches", []*Site{site(2, nil), site(1, map[string]float64{"B/a": 1})}, 1, "B/a"},
		{"every second call", []*Site{site(1, map[string]float64{"B": 0.5})}, 1, "B"},
		{"more than one", []*Site{site(1, map[string]float64{"B": 1.25})}, 2, "B"},
		{"one in a thousand more", []*Site{site(1, map[string]float64{"B": 1.001})}, 2, "B"},
	} {
		r := &Root{Sites: c.sites}
		r.sum([]Toolchain{{Name: "go1.26.8"}})
		if _, leaf := r.Most(); r.Allocs[0] != c.want || leaf != c.leaf {
			t.Errorf("%s: got %d by %q, want %d by %q", c.name, r.Allocs[0], leaf, c.want, c.leaf)
		}
	}
}
