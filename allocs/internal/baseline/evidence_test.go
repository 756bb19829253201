// SPDX-License-Identifier: Apache-2.0

package baseline_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// measured returns a document with an annotated root that two leaves executed,
// and a root without a comment.
func measured() *findings.Document {
	none := 0
	answer := func(n float64) []findings.Answer {
		return []findings.Answer{{Finding: counted, Evidence: &findings.Evidence{Calls: 1, Runs: []findings.Run{{Name: "BenchmarkF/a", PerOp: n, Bytes: 48 * n}}}}}
	}
	return &findings.Document{
		Toolchains: []findings.Toolchain{{Line: "go1.26", Leaves: []findings.Leaf{
			{Package: "example.com/yaml.v3", Name: "BenchmarkF/a"}, {Package: "example.com/yaml.v3", Name: "BenchmarkF/b"},
			{Package: "example.com/yaml.v3", Name: "BenchmarkNow"},
		}}},
		Roots: []*findings.Root{
			{ID: "example.com/yaml.v3.F", Package: "example.com/yaml.v3", Allowed: &none, Allocs: []int{1}, Proof: findings.Proof{Reached: []bool{true}, NoCode: []bool{false}}, Sites: []*findings.Site{
				{Key: "box", Answers: answer(1)},
				{Key: "make", Answers: []findings.Answer{{Finding: counted, Evidence: &findings.Evidence{Calls: 1, Runs: []findings.Run{{Name: "BenchmarkF/a", PerOp: 5, Bytes: 480}, {Name: "BenchmarkF/b", PerOp: 1, Bytes: 96}}}}}},
			}},
			{ID: "example.com/yaml.v3.G", Package: "example.com/yaml.v3", Allocs: []int{0}, Proof: findings.Proof{Reached: []bool{false}, NoCode: []bool{false}}},
		},
		Scope: findings.Scope{Patterns: []string{"./..."}, Packages: []string{"example.com/yaml.v3"}, Waivers: map[string][]string{"example.com/yaml.v3": {"f.go › x() //alloc:ok"}}},
	}
}

// losses are ways to lose evidence, and changes that lose none.
var losses = []struct {
	name           string
	change         func(d *findings.Document)
	missing, worse string // text of the change; "" for none
}{
	{"nothing", func(*findings.Document) {}, "", ""},
	{"a leaf fails", func(d *findings.Document) { d.Toolchains[0].Leaves[1].Failed = "panic: out of cheese" }, "BenchmarkF/b was measured, and is not any more: panic: out of cheese", ""},
	{"the benchmark around it fails", func(d *findings.Document) {
		d.Toolchains[0].Leaves = []findings.Leaf{{Package: "example.com/yaml.v3", Name: "BenchmarkF", Failed: "skipped: no server"}, d.Toolchains[0].Leaves[2]}
	}, "BenchmarkF: skipped: no server", ""},
	{"a leaf is gone", func(d *findings.Document) { d.Toolchains[0].Leaves = d.Toolchains[0].Leaves[1:] }, "BenchmarkF/a was measured, and is not any more: it is gone", ""},
	{"no runs", func(d *findings.Document) { d.Toolchains[0].Leaves = nil }, "it is gone, or was not asked for", ""},
	{"the root is gone", func(d *findings.Document) { d.Roots = d.Roots[1:] }, "F is not there any more", ""},
	{"the package is gone", func(d *findings.Document) {
		d.Roots, d.Toolchains[0].Leaves, d.Scope.Packages = nil, nil, []string{"example.com/other"}
	}, "F is not there any more", ""},
	{"another package was asked for", func(d *findings.Document) {
		d.Roots, d.Toolchains[0].Leaves, d.Scope.Packages, d.Scope.Patterns = nil, nil, []string{"example.com/other"}, []string{"./other"}
	}, "", ""},
	{"the comment is gone", func(d *findings.Document) { d.Roots[0].Allowed = nil }, "had a comment", ""},
	{"the comment allows more", func(d *findings.Document) { d.Roots[0].Allowed = &[]int{5}[0] }, "", "was allowed 0, and is allowed 5"},
	{"a waiver is new", func(d *findings.Document) {
		d.Scope.Waivers = map[string][]string{"example.com/yaml.v3": {"f.go › x() //alloc:ok", "f.go › y() //alloc:ok"}}
	}, "", "a waiver"},
	{"a waiver is gone", func(d *findings.Document) { d.Scope.Waivers = nil }, "", ""},
	{"no run executes the root", func(d *findings.Document) { d.Roots[0].Reached[0] = false }, "no run executes it", ""},
	{"there is no code", func(d *findings.Document) { d.Roots[0].NoCode[0], d.Roots[0].Sites = true, nil }, "there is no code", ""},
	{"what allocated is not decided", func(d *findings.Document) { d.Roots[0].Sites[0].Answers[0].Finding = branch }, "allocated ×1, and no run shows", ""},
	{"what allocated is elsewhere, and not decided", func(d *findings.Document) {
		d.Roots[0].Sites[0].Key, d.Roots[0].Sites[0].Answers[0].Finding = "box in another function", branch
	}, "places that no run decides", ""},
	{"what allocated is gone", func(d *findings.Document) { d.Roots[0].Sites = nil }, "", ""},
	{"a count rises", func(d *findings.Document) { d.Roots[0].Sites[0].Answers[0].Evidence.Runs[0].PerOp = 50 }, "", "was ×1, is ×50 in BenchmarkF/a"},
	{"a count rises by one half", func(d *findings.Document) { d.Roots[0].Sites[0].Answers[0].Evidence.Runs[0].PerOp = 1.5 }, "", "was ×1, is ×1.5"},
	{"a count falls", func(d *findings.Document) { d.Roots[0].Sites[0].Answers[0].Evidence.Runs[0].PerOp = 0.5 }, "", ""},
	{"a stack is cut off", func(d *findings.Document) { d.Toolchains[0].Leaves[0].Cut = 2 }, "BenchmarkF/a cannot be counted exactly: 2 allocations", ""},
	{"a count of another leaf rises to the highest", func(d *findings.Document) { d.Roots[0].Sites[1].Answers[0].Evidence.Runs[1].PerOp = 5 }, "", "was ×1, is ×5 in BenchmarkF/b"},
	{"a count of another leaf falls", func(d *findings.Document) { d.Roots[0].Sites[1].Answers[0].Evidence.Runs[1].PerOp = 0 }, "", ""},
	{"what allocates on every way is only seen while warming up", func(d *findings.Document) {
		d.Roots[0].Sites[0].Answers[0].Finding = verdict.Finding{Verdict: verdict.Possible, Missing: verdict.Agreement}
	}, "the runs may end early", ""},
	{"what allocated is only seen while warming up", func(d *findings.Document) { d.Roots[0].Sites[0].Answers[0].Finding = first }, "", ""},
}

func TestEvidenceThatIsMissing(t *testing.T) {
	for _, c := range losses {
		path := filepath.Join(t.TempDir(), baseline.Name)
		must.Succeed(t, baseline.Of(measured()).Write(path))
		f, err := baseline.Load(path)
		must.Succeed(t, err)
		d := measured()
		c.change(d)
		o, err := baseline.Compare(f, d)
		must.Succeed(t, err)
		expect(t, c.name+": missing", o.Missing, c.missing)
		expect(t, c.name+": worse", o.Worse, c.worse)
		if err := o.Err(); (err != nil) != (c.missing != "") || err != nil && (!errors.Is(err, baseline.ErrEvidence) || !strings.Contains(err.Error(), c.missing)) {
			t.Errorf("%s: got error %v, want %q in it", c.name, err, c.missing)
		}
	}
}

// expect looks for a text in the changes; "" wants none.
func expect(t *testing.T, name string, changes []baseline.Change, want string) {
	t.Helper()
	if want == "" && len(changes) > 0 || want != "" && !slices.ContainsFunc(changes, func(c baseline.Change) bool { return strings.Contains(c.Text, want) }) {
		t.Errorf("%s: got %+v, want %q", name, changes, want)
	}
}

func TestDamagedFilesAreNoBaselines(t *testing.T) {
	path := filepath.Join(t.TempDir(), baseline.Name)
	must.Succeed(t, baseline.Of(measured()).Write(path))
	whole, err := os.ReadFile(path)
	must.Succeed(t, err)
	text := string(whole)
	for name, damaged := range map[string]string{
		"empty": "", "an empty object": "{}", "an empty list": "{\"format\":3,\"accepts\":{}}", "null": "null", "cut off": text[:len(text)/2],
		"another count":     strings.Replace(text, `"count": 1`, `"count": 50`, 1),
		"without a run":     strings.Replace(text, `"BenchmarkF/a",`, "", 1),
		"another version":   strings.Replace(text, `"format": 3`, `"format": 4`, 1),
		"the older version": strings.Replace(text, `"format": 3`, `"format": 2`, 1),
	} {
		if damaged == text {
			t.Fatalf("%s: nothing is damaged", name)
		}
		must.Succeed(t, os.WriteFile(path, []byte(damaged), 0o644))
		if f, err := baseline.Load(path); !errors.Is(err, baseline.ErrDamaged) {
			t.Errorf("%s: got %v, %v, want %v", name, f, err, baseline.ErrDamaged)
		}
	}
}

// A run about one package accepts nothing of another.
func TestAcceptKeepsOtherPackages(t *testing.T) {
	path := filepath.Join(t.TempDir(), baseline.Name)
	must.Succeed(t, baseline.Of(measured()).Write(path))
	f, err := baseline.Load(path)
	must.Succeed(t, err)
	other := measured()
	other.Scope = findings.Scope{Patterns: []string{"./other"}, Packages: []string{"example.com/other"}}
	other.Roots[0].ID, other.Roots[0].Package = "example.com/other.F", "example.com/other"
	other.Roots, other.Toolchains[0].Leaves = other.Roots[:1], []findings.Leaf{{Package: "example.com/other", Name: "BenchmarkF/a"}}
	a := f.With(baseline.Of(other), other).Accepts["go1.26"]
	if a.Roots["example.com/yaml.v3.F"] == nil || len(a.Runs["example.com/yaml.v3"]) != 3 || len(a.Waivers["example.com/yaml.v3"]) != 1 || len(a.Packages) != 2 || a.Patterns[0] != "./..." {
		t.Errorf("got %+v", a)
	}
}
