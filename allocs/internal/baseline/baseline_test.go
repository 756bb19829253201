// SPDX-License-Identifier: Apache-2.0

package baseline_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// document has one root with sites of the given verdicts, by key.
func document(allowed *int, sites map[string]verdict.Verdict) *findings.Document {
	r := &findings.Root{ID: "m.F", Package: "m", Allowed: allowed, Allocs: []int{0}, Verdicts: []string{"none"}}
	for key, v := range sites {
		r.Sites = append(r.Sites, &findings.Site{Key: key, Line: 7, Answers: []findings.Answer{{Verdict: v}}})
		if v == verdict.Always {
			r.Allocs[0]++
		}
	}
	return &findings.Document{Toolchains: []findings.Toolchain{{Line: "go1.26"}}, Roots: []*findings.Root{r},
		Scope: findings.Scope{Patterns: []string{"./..."}, Packages: []string{"m"}}}
}

type sites = map[string]verdict.Verdict

func TestCompareWithBaseline(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, now   sites
		strict        bool
		worse, better int
	}{
		{"the same", sites{"a": verdict.Always}, sites{"a": verdict.Always}, false, 0, 0},
		{"a new one", sites{"a": verdict.Always}, sites{"a": verdict.Always, "b": verdict.Always}, false, 1, 0},
		{"worse than before", sites{"a": verdict.Grows}, sites{"a": verdict.Always}, false, 1, 0},
		{"better than before", sites{"a": verdict.Always}, sites{"a": verdict.Cold}, false, 0, 1},
		{"gone", sites{"a": verdict.Always}, sites{}, false, 0, 1},
		{"a new one that grows", sites{}, sites{"a": verdict.Grows}, true, 0, 0},
		{"a new one that is cold", sites{}, sites{"a": verdict.Cold}, true, 0, 0},
		{"not known", sites{}, sites{"a": verdict.Unknown}, false, 0, 0},
		{"not known, strict", sites{}, sites{"a": verdict.Unknown}, true, 1, 0},
	} {
		o, err := baseline.Compare(baseline.Of(document(nil, c.before), c.strict), document(nil, c.now), c.strict)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Worse) != c.worse || len(o.Better) != c.better {
			t.Errorf("%s: got %d worse, %d better, want %d, %d", c.name, len(o.Worse), len(o.Better), c.worse, c.better)
		}
	}
}

func TestCompareWithoutBaseline(t *testing.T) {
	none, one := 0, 1
	for _, c := range []struct {
		name    string
		allowed *int
		now     sites
		worse   int
	}{
		{"only reported", nil, sites{"a": verdict.Always}, 0},
		{"none allowed", &none, sites{"a": verdict.Always}, 1},
		{"none allowed, grows", &none, sites{"a": verdict.Grows}, 0},
		{"one allowed", &one, sites{"a": verdict.Always}, 0},
		{"one allowed, two found", &one, sites{"a": verdict.Always, "b": verdict.Always}, 2},
	} {
		o, err := baseline.Compare(nil, document(c.allowed, c.now), false)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Worse) != c.worse {
			t.Errorf("%s: got %d worse, want %d", c.name, len(o.Worse), c.worse)
		}
	}
}

// absent has one root without code.
func absent(allowed *int) *findings.Document {
	d := document(allowed, nil)
	d.Roots[0].Verdicts = []string{"absent"}
	return d
}

func TestRootWithoutCode(t *testing.T) {
	none := 0
	for _, c := range []struct {
		name          string
		before        *baseline.File
		now           *findings.Document
		strict        bool
		worse, absent int
	}{
		{"no baseline", nil, absent(&none), false, 0, 0},
		{"no baseline, strict", nil, absent(&none), true, 1, 0},
		{"no baseline, strict, without a comment", nil, absent(nil), true, 0, 0},
		{"accepted", baseline.Of(absent(&none), false), absent(&none), false, 0, 0},
		{"accepted, strict", baseline.Of(absent(&none), true), absent(&none), true, 0, 0},
		{"new, strict", baseline.Of(document(nil, nil), true), absent(&none), true, 1, 0},
		{"there was code", baseline.Of(document(&none, nil), false), absent(&none), false, 0, 1},
		{"there is code", baseline.Of(absent(&none), false), document(&none, nil), true, 0, 0},
	} {
		o, err := baseline.Compare(c.before, c.now, c.strict)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Worse) != c.worse || len(o.Missing) != c.absent {
			t.Errorf("%s: got %v worse, %v missing, want %d, %d", c.name, o.Worse, o.Missing, c.worse, c.absent)
		}
	}
}

func TestCompareWantsTheToolchain(t *testing.T) {
	d := document(nil, sites{})
	f := baseline.Of(d, false)
	d.Toolchains[0].Line = "go1.27"
	if _, err := baseline.Compare(f, d, false); !errors.Is(err, baseline.ErrMissing) {
		t.Errorf("got %v, want %v", err, baseline.ErrMissing)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), baseline.Name)
	if f, err := baseline.Load(path); f != nil || err != nil {
		t.Errorf("absent: got %v, %v", f, err)
	}
	if err := baseline.Of(document(nil, sites{"a": verdict.Always}), false).Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := baseline.Load(path)
	if err != nil || f.Accepts["go1.26"].Roots["m.F"].Sites["a"].Verdict != verdict.Always {
		t.Errorf("got %v, %v", f, err)
	}
}
