// SPDX-License-Identifier: Apache-2.0

package verdict_test

import (
	"testing"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

var frame = binary.Frame{Func: "m.F", File: "/m/m.go", Line: 3}

// said returns an outline with one escape, at the frame.
func said(reach verdict.Reach) verdict.Outline {
	return verdict.Outline{
		Said: []verdict.Said{{
			Found:  verdict.Found{Stack: []binary.Frame{frame}, Kind: heapcalls.Object, Reach: reach, Why: "an error"},
			Escape: &compiler.Escape{Stack: []compiler.Position{{File: frame.File, Line: 3, Col: 2}}, What: "new(T)", Outer: true},
		}},
		Lines: []roots.Place{{File: frame.File, Line: 3}},
	}
}

// came returns runs that executed the lines.
func came(lines ...int) []runs.Visited {
	v := runs.Visited{frame.File: {}}
	for _, n := range lines {
		v[frame.File][n] = true
	}
	return []runs.Visited{v}
}

// counted returns a run that counted at the frame.
func counted(perOp float64) []runs.Result {
	return []runs.Result{{Name: "BenchmarkF", PerOp: perOp, N: 100, Sites: []runs.Site{{Stack: []binary.Frame{frame}, PerOp: perOp, Total: 100 * perOp}}}}
}

// TestOutline decides from the compiler's text and runs alone.
func TestOutline(t *testing.T) {
	silent := verdict.Outline{Lines: []roots.Place{{File: frame.File, Line: 3}, {File: frame.File, Line: 4}}}
	for _, c := range []struct {
		name     string
		outline  verdict.Outline
		runs     []runs.Result
		visited  []runs.Visited
		want     verdict.Verdict
		conflict string
		sites    int
	}{
		{"on every way through, no run", said(verdict.Surely), nil, nil, verdict.Always, "", 2},
		{"on every way through, counted", said(verdict.Surely), counted(1), came(3), verdict.Always, "", 1},
		{"on every way through, a run shows nothing", said(verdict.Surely), nil, came(3), verdict.Unknown, "compiler: always; runs: never", 1},
		{"behind a branch", said(verdict.Maybe), nil, nil, verdict.Unknown, "", 2},
		{"behind a branch, counted", said(verdict.Maybe), counted(1), came(3), verdict.Always, "", 1},
		{"in an error branch", said(verdict.Rarely), nil, came(3), verdict.Cold, "", 1},
		{"nothing is said, no run", silent, nil, nil, verdict.Unknown, "", 1},
		{"nothing is said, a run came by half of it", silent, nil, came(3), verdict.Unknown, "", 1},
		{"nothing is said, a run came by all of it", silent, nil, came(3, 4), verdict.None, "", 0},
		{"nothing is said, but counted", silent, counted(2), came(3, 4), verdict.Always, "", 1},
		{"nothing is known", verdict.Outline{Unknown: "it does not build"}, nil, nil, verdict.Unknown, "", 1},
	} {
		in := &verdict.Input{
			Outline:  func(roots.Root) verdict.Outline { return c.outline },
			InModule: func(string) bool { return true },
			Cold:     func(binary.Frame) string { return "" },
			Waived:   func(binary.Frame) bool { return false },
			Runs:     c.runs,
			Visited:  c.visited,
		}
		r := in.Root(roots.Root{Kind: roots.Named, Func: "m.F", File: frame.File, Line: 2})
		got, conflict := verdict.None, ""
		for _, s := range r.Sites {
			if s.Verdict.Rank() > got.Rank() {
				got, conflict = s.Verdict, s.Conflict
			}
		}
		if got != c.want || conflict != c.conflict || len(r.Sites) != c.sites || r.Absent {
			t.Errorf("%s: got %s, %q, %d sites, absent %v, want %s, %q, %d sites", c.name, got, conflict, len(r.Sites), r.Absent, c.want, c.conflict, c.sites)
		}
	}
}
