// SPDX-License-Identifier: Apache-2.0

package baseline_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// document has one root with sites of the given verdicts, by key.
func document(allowed *int, sites map[string]verdict.Finding) *findings.Document {
	r := &findings.Root{ID: "m.F", Package: "m", Allowed: allowed, Allocs: []int{0}, Proof: findings.Proof{NoCode: []bool{false}}}
	for key, v := range sites {
		r.Sites = append(r.Sites, &findings.Site{Key: key, Line: 7, Answers: []findings.Answer{{Finding: v}}})
		if v.Allocates() {
			r.Allocs[0]++
		}
	}
	return &findings.Document{Toolchains: []findings.Toolchain{{Line: "go1.26"}}, Roots: []*findings.Root{r},
		Scope: findings.Scope{Patterns: []string{"./..."}, Packages: []string{"m"}}}
}

type sites = map[string]verdict.Finding

// The findings of a place.
var (
	counted = verdict.Finding{Verdict: verdict.Counted}
	anyRun  = verdict.Finding{Verdict: verdict.Possible, Missing: verdict.AnyRun}
	size    = verdict.Finding{Verdict: verdict.Possible, Missing: verdict.Size}
	first   = verdict.Finding{Verdict: verdict.Possible, Missing: verdict.First}
	branch  = verdict.Finding{Verdict: verdict.Possible, Missing: verdict.Branch}
)

func TestCompareWithBaseline(t *testing.T) {
	for _, c := range []struct {
		name                   string
		before, now            sites
		worse, better, missing int
	}{
		{"the same", sites{"a": counted}, sites{"a": counted}, 0, 0, 0},
		{"a new one", sites{"a": counted}, sites{"a": counted, "b": counted}, 1, 0, 0},
		{"a new one on every path", sites{}, sites{"a": anyRun}, 1, 0, 0},
		{"worse than before", sites{"a": size}, sites{"a": counted}, 1, 0, 0},
		{"better than before", sites{"a": counted}, sites{"a": first}, 0, 1, 0},
		{"gone", sites{"a": counted}, sites{}, 0, 1, 0},
		{"a new one beyond a size", sites{}, sites{"a": size}, 0, 0, 0},
		{"a new one in a panic", sites{}, sites{"a": first}, 0, 0, 0},
		{"a new one in a branch", sites{}, sites{"a": branch}, 0, 0, 0},
		{"in a branch now", sites{"a": counted}, sites{"a": branch}, 0, 0, 1},
	} {
		o, err := baseline.Compare(baseline.Of(document(nil, c.before)), document(nil, c.now))
		must.Succeed(t, err)
		if len(o.Worse) != c.worse || len(o.Better) != c.better || len(o.Missing) != c.missing {
			t.Errorf("%s: got %+v, want %d worse, %d better, %d missing", c.name, o, c.worse, c.better, c.missing)
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
		{"only reported", nil, sites{"a": counted}, 0},
		{"none allowed", &none, sites{"a": counted}, 1},
		{"none allowed, beyond a size", &none, sites{"a": size}, 0},
		{"one allowed", &one, sites{"a": counted}, 0},
		{"one allowed, two found", &one, sites{"a": counted, "b": counted}, 2},
	} {
		o, err := baseline.Compare(nil, document(c.allowed, c.now))
		must.Succeed(t, err)
		if len(o.Worse) != c.worse {
			t.Errorf("%s: got %d worse, want %d", c.name, len(o.Worse), c.worse)
		}
	}
}

// absent has one root without code.
func absent(allowed *int) *findings.Document {
	d := document(allowed, nil)
	d.Roots[0].NoCode = []bool{true}
	return d
}

func TestRootWithoutCode(t *testing.T) {
	none := 0
	for _, c := range []struct {
		name    string
		before  *baseline.File
		now     *findings.Document
		missing int
	}{
		{"no baseline", nil, absent(&none), 0},
		{"accepted", baseline.Of(absent(&none)), absent(&none), 0},
		{"there was code", baseline.Of(document(&none, nil)), absent(&none), 1},
		{"there is code", baseline.Of(absent(&none)), document(&none, nil), 0},
	} {
		o, err := baseline.Compare(c.before, c.now)
		must.Succeed(t, err)
		if len(o.Worse) > 0 || len(o.Missing) != c.missing {
			t.Errorf("%s: got %v worse, %v missing, want none, %d", c.name, o.Worse, o.Missing, c.missing)
		}
	}
}

func TestCompareWantsTheToolchain(t *testing.T) {
	d := document(nil, sites{})
	f := baseline.Of(d)
	d.Toolchains[0].Line = "go1.27"
	if _, err := baseline.Compare(f, d); !errors.Is(err, baseline.ErrMissing) {
		t.Errorf("got %v, want %v", err, baseline.ErrMissing)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), baseline.Name)
	if f, err := baseline.Load(path); f != nil || err != nil {
		t.Errorf("absent: got %v, %v", f, err)
	}
	must.Succeed(t, baseline.Of(document(nil, sites{"a": counted})).Write(path))
	f, err := baseline.Load(path)
	if err != nil || f.Accepts["go1.26"].Roots["m.F"].Sites["a"] == nil {
		t.Errorf("got %v, %v", f, err)
	}
}
