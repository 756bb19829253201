// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/verdict"
)

// TestE2EOtherProjects evaluates the tool: the fastest module, or all.
func TestE2EOtherProjects(t *testing.T) {
	modules := Modules
	switch os.Getenv("NIB_E2E") {
	case "full":
	case "short":
		modules = Modules[:1]
	default:
		t.Skip("NIB_E2E is not set: benchmarks of other projects are fetched and measured for minutes (short: one project, full: all)")
	}
	for _, m := range modules {
		t.Run(m.Name, func(t *testing.T) {
			e := &Evaluator{Dir: "../../..", Say: func(string) {}}
			r, err := e.Evaluate(context.Background(), m, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("with runs: %+v", r.With)
			t.Logf("code and compiler alone: %+v", r.Without)
			for _, trouble := range r.Trouble {
				t.Errorf("evidence that could not be had: %s", trouble)
			}
			if s := r.With; len(r.Truth.Benchmarks) == 0 || s.Reported != s.Lines || s.Always != s.Lines || s.Right != s.Claimed {
				t.Errorf("with runs: got %+v, want all lines of the profile at always, and no other that is executed", s)
			}
			for _, d := range append(r.With.Deviations, r.Without.Deviations...) {
				if m.cause(d) == unknownCause {
					t.Errorf("deviation without a cause: %+v", d)
				}
			}
		})
	}
}

// kept makes values stored in it go to the heap.
var kept []*[3]int

//go:noinline
func allocate(n int) {
	for range n {
		kept = append(kept[:0], new([3]int))
	}
}

func TestReadProfile(t *testing.T) {
	old := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = old }()
	allocate(100)
	runtime.GC()
	var b bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "profile")
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	samples, err := readProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, s := range samples {
		for _, f := range s.stack {
			if strings.HasSuffix(f.fn, "/evaluate.allocate") && filepath.Base(f.file) == "evaluate_test.go" && f.line > 0 {
				n += s.objects
				break
			}
		}
	}
	if n < 100 || n > 110 {
		t.Errorf("got %d objects, want 100 and the slice", n)
	}
	for _, broken := range [][]byte{nil, b.Bytes()[:b.Len()/2]} {
		if err := os.WriteFile(name, broken, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readProfile(name); err == nil {
			t.Errorf("a profile of %d bytes: got no error", len(broken))
		}
	}
}

func TestFieldsRefusesWhatIsCutOff(t *testing.T) {
	for _, b := range [][]byte{{0x12}, {0x12, 5, 1}, {0x09, 1}, {0x80}} {
		if err := fields(b, func(int, uint64, []byte) error { return nil }); err == nil {
			t.Errorf("%x: got no error", b)
		}
	}
}

func TestJudge(t *testing.T) {
	at := func(n int) line { return line{"f.go", n} }
	truth := &Truth{
		Benchmarks: []string{"B"},
		PerOp:      map[string]map[line]float64{"B": {at(1): 1, at(2): 1, at(3): 0.001, at(5): 1}},
		Visited:    map[line]bool{at(1): true, at(2): true, at(3): true, at(5): true},
	}
	is := func(v verdict.Verdict) []site { return []site{{Verdict: v}} }
	got := judge(truth, &Report{
		Sites: map[line][]site{at(1): is(verdict.Always), at(2): is(verdict.Grows), at(3): is(verdict.Always), at(4): is(verdict.Always)},
		PerOp: map[string]map[line]float64{"B": {at(1): 1, at(4): 1}},
	}, true)
	want := Score{Lines: 3, Reported: 2, Always: 1, Claimed: 2, Right: 1, NotSeen: 1, Pairs: 3, Agreed: 1, Equal: 1, Often: 3, Missed: 1, Extra: 1}
	deviations := len(got.Deviations)
	got.Deviations = nil
	if got.Lines != want.Lines || got.Reported != want.Reported || got.Always != want.Always || got.Claimed != want.Claimed ||
		got.Right != want.Right || got.NotSeen != want.NotSeen || got.Pairs != want.Pairs || got.Agreed != want.Agreed || got.Extra != want.Extra ||
		got.Equal != want.Equal || got.Often != want.Often || got.Missed != want.Missed {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// Line 5 is missed, 2 is at grows, 3 is a false always; lines 2 and 5 were
	// not in the tool's run, 4 only there.
	if deviations != 6 {
		t.Errorf("got %d deviations, want 6", deviations)
	}
}

func TestLinesBehindCallsNotFollowedAreDistinguishedFromMissedOnes(t *testing.T) {
	at := func(n int) line { return line{"f.go", n} }
	truth := &Truth{
		Benchmarks: []string{"B"},
		PerOp:      map[string]map[line]float64{"B": {at(1): 1, at(2): 1, at(3): 1, at(4): 1}},
		Roots:      map[line][]string{at(1): {"m.Open"}, at(2): {"m.Open", "m.Closed"}, at(4): {"m.Open"}},
	}
	s := judge(truth, &Report{Unfollowed: map[string]bool{"m.Open": true}, Sites: map[line][]site{at(4): {{Verdict: verdict.Unknown}}}}, false)
	if s.Reported != 1 || s.Behind != 1 || len(s.Deviations) != 3 {
		t.Fatalf("got %+v, want one line reported, one behind a call, and three deviations", s)
	}
	for i, want := range []string{notFollowed, "missed", "missed"} {
		if s.Deviations[i].What != want {
			t.Errorf("line %d: got %q, want %q", i+1, s.Deviations[i].What, want)
		}
	}
	m := Module{Name: "m", Causes: map[string]string{"f.go:2": "because"}}
	text := Table([]*Result{{Module: m, Truth: truth, Without: s}, {Module: Module{Name: "n"}, Truth: &Truth{}, Without: s}})
	for _, want := range []string{"| m | 4 | 1 (25 %) | 1 | 2 |", "| together | 8 | 2 (25 %) | 2 | 4 |", "`f.go:2`: missed (1.00 per operation). Cause: because.", "Cause: " + manyCallees, "Cause: " + unknownCause} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant %q in it", text, want)
		}
	}
}

func TestIsRoot(t *testing.T) {
	m := Module{Roots: []string{"m.(*T).*", "m.F"}}
	for fn, want := range map[string]bool{"m.(*T).Do": true, "m.(*T).Do.func1": false, "m.F": true, "m.F2": false, "m.(*TT).Do": false} {
		if got := m.isRoot(fn); got != want {
			t.Errorf("%s: got %v, want %v", fn, got, want)
		}
	}
}

func TestWriteBetweenTheMarks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "doc.md")
	if err := os.WriteFile(name, []byte("before\n"+tableBegin+"old\n"+tableEnd+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, "new\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(name); string(got) != "before\n"+tableBegin+"new\n"+tableEnd+"after\n" {
		t.Errorf("got %q", got)
	}
	if err := os.WriteFile(name, []byte("no marks\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, "new\n"); err == nil {
		t.Error("a document without marks: got no error")
	}
}

func TestStoreKeepsTruthAndReportsOfTheSameModule(t *testing.T) {
	s := Store(t.TempDir())
	m := &Module{Name: "a/b, c", Version: "v1.0.0", Roots: []string{"a.*"}}
	truth := &Truth{Benchmarks: []string{"B"}, PerOp: map[string]map[line]float64{"B": {line{"f.go", 1}: 1}}, Visited: map[line]bool{{"f.go", 1}: true}}
	of := &reports{Tool: "1", With: &Report{Roots: 3, Sites: map[line][]site{{"f.go", 1}: {{Line: 1, Verdict: verdict.Always}}}}, Without: &Report{}}
	got := func(tool string) (*Truth, *reports) {
		t.Helper()
		truth, err := s.truth(m)
		if err != nil {
			t.Fatal(err)
		}
		of, err := s.reports(m, tool)
		if err != nil {
			t.Fatal(err)
		}
		return truth, of
	}
	if a, b := got("1"); a != nil || b != nil {
		t.Errorf("nothing is kept: got %v, %v", a, b)
	}
	if err := errors.Join(s.keepTruth(m, truth), s.keepReports(m, of)); err != nil {
		t.Fatal(err)
	}
	m.Causes = map[string]string{"f.go:1": "because"}
	if a, b := got("1"); !reflect.DeepEqual(a, truth) || !reflect.DeepEqual(b, of) {
		t.Errorf("got %+v and %+v, want %+v and %+v", a, b, truth, of)
	}
	if a, b := got("2"); a == nil || b != nil {
		t.Errorf("another build of the tool: got %v, %v, want what was measured and no report", a, b)
	}
	if _, b := got(""); b == nil {
		t.Error("any build of the tool: got no report")
	}
	m.Version = "v1.0.1"
	if a, b := got("1"); a != nil || b != nil {
		t.Errorf("another version: got %v, %v", a, b)
	}
}

func TestLeavesWhoseNamesHaveSlashesAreMeasuredApart(t *testing.T) {
	leaves := []leaf{{name: "BenchmarkX/a/b"}, {name: "BenchmarkX/a/b/c"}, {name: "BenchmarkX/a/b/d.e"}, {name: "BenchmarkX/a/bc"}}
	var got [][2]string
	for i := range leaves {
		leaves[i].among(leaves)
		got = append(got, [2]string{leaves[i].skip, leaves[i].without})
	}
	around := `^BenchmarkX$/^a$/^b$/` + nothing
	want := [][2]string{{`^BenchmarkX$/^a$/^b$/^c$|^BenchmarkX$/^a$/^b$/^d\.e$`, ""}, {"", around}, {"", around}, {}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLinesThatOnlyTheSetUpExecutesDoNotCount(t *testing.T) {
	const first = "mode: count\nexample.com/m/a.go:3.1,4.2 1 5\nexample.com/m/a.go:6.1,6.9 1 3\nexample.com/m/a.go:8.1,8.9 1 0\nexample.com/m/a.go:9.1,9.5 1 1\nexample.com/m/a.go:9.5,10.2 1 1\nexample.com/other/a.go:1.1,1.9 1 1\n"
	const second = "mode: count\nexample.com/m/a.go:3.1,4.2 1 5\nexample.com/m/a.go:6.1,6.9 1 5\nexample.com/m/a.go:8.1,8.9 1 2\nexample.com/m/a.go:9.5,10.2 1 3\nexample.com/m/a.go:9.1,9.5 1 1\nexample.com/other/a.go:1.1,1.9 1 9\n"
	got := steady([2]string{first, second}, "example.com/m")
	want := map[line]bool{{"a.go", 6}: true, {"a.go", 8}: true, {"a.go", 10}: true}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
