// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/report"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// tally counts the roots and the sites of a document, not its summary.
func tally(d *findings.Document) (states map[findings.Status]int, sites map[verdict.Verdict]int) {
	states, sites = map[findings.Status]int{}, map[verdict.Verdict]int{}
	worst := map[string]verdict.Finding{}
	for _, r := range d.Roots {
		states[r.Status]++
		for _, s := range r.Sites {
			place := fmt.Sprint(s.File, s.Line, s.Kind, s.Callee)
			if have, ok := worst[place]; !ok || s.Worst().Rank() > have.Rank() {
				worst[place] = s.Worst()
			}
		}
	}
	for _, v := range worst {
		sites[v.Verdict]++
	}
	return states, sites
}

// TestReportsAgree reads the numbers back out of the text, the page and the
// JSON of one document, and adds them up.
func TestReportsAgree(t *testing.T) {
	for name, d := range map[string]*findings.Document{"shop": shop(), "shared sites": shared()} {
		t.Run(name, func(t *testing.T) {
			d.Sum()
			var j, h bytes.Buffer
			for format, err := range map[string]error{
				"JSON": report.JSON(&j, d), "HTML": report.HTML(&h, d, &baseline.Outcome{}),
			} {
				if err != nil {
					t.Fatalf("%s: %v", format, err)
				}
			}
			var document findings.Document
			decode(t, j.Bytes(), &document)
			states, sites := tally(&document)
			if got := document.Summary; !maps.Equal(got.Roots, states) ||
				!maps.Equal(got.Sites, sites) || !maps.Equal(got.Missing, d.Summary.Missing) {
				t.Errorf("JSON: got %+v, want roots %+v and sites %+v", got, states, sites)
			}
			waiting := 0
			for _, n := range d.Summary.Missing {
				waiting += n
			}
			if waiting != sites[verdict.Possible] {
				t.Errorf("got %d possible sites by what they lack, want %d", waiting, sites[verdict.Possible])
			}
			inPage(t, h.String(), states, sites[verdict.Possible])
			inText(t, text(t, d, &baseline.Outcome{}, false), states, sites)
		})
	}
}

// inPage checks that the page has each root, with its state, and each possible
// line once.
func inPage(t *testing.T, html string, n map[findings.Status]int, possible int) {
	t.Helper()
	for state, want := range n {
		if got := strings.Count(html, `title="`+string(state)+`"`); got != want {
			t.Errorf("the page has %d roots that are %s, want %d", got, state, want)
		}
	}
	_, lines, _ := strings.Cut(html, `<section id="possible">`)
	if got := strings.Count(lines, `<div class="line">`); got != possible {
		t.Errorf("the page has %d possible lines, want %d", got, possible)
	}
}

// inText checks that the numbers are in the text, before the first root.
func inText(t *testing.T, text string, n map[findings.Status]int, s findings.SiteCounts) {
	t.Helper()
	head, _, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	sum := 0
	for _, x := range []struct {
		n    int
		text string
	}{{n[findings.Above], "above what is allowed"}, {n[findings.Counted], "counted"}, {n[findings.Unproven], "unproven"}, {n[findings.Possible], "possible"}, {n[findings.None], "none"}} {
		if has := regexp.MustCompile(fmt.Sprintf(`\b%d %s\b`, x.n, x.text)).MatchString(lines[1]); has != (x.n > 0) {
			t.Errorf("got %q, want %d %s in it", lines[1], x.n, x.text)
		}
		sum += x.n
	}
	if !strings.HasPrefix(lines[1], fmt.Sprintf("%d root", sum)) {
		t.Errorf("got %q, want %d roots", lines[1], sum)
	}
	if want := fmt.Sprintf("sites: %d counted, %d possible", s[verdict.Counted], s[verdict.Possible]); lines[2] != want {
		t.Errorf("got %q, want %q", lines[2], want)
	}
}

func decode(t *testing.T, text []byte, to any) {
	t.Helper()
	must.Succeed(t, json.Unmarshal(text, to))
}

// The findings of a site.
var (
	counted = verdict.Finding{Verdict: verdict.Counted}
	none    = verdict.Finding{Verdict: verdict.None}
)

func possible(m verdict.Missing) verdict.Finding {
	return verdict.Finding{Verdict: verdict.Possible, Missing: m}
}

// shared has two roots above the same line, which one of them surely executes,
// and two kinds of allocation at one line.
func shared() *findings.Document {
	site := func(line int, kind string, f verdict.Finding) *findings.Site {
		return &findings.Site{Key: fmt.Sprint(line, kind), Func: "m.F", File: "f.go", Line: line, Kind: kind, Reason: "it is copied",
			Answers: []findings.Answer{{Finding: f, Evidence: &findings.Evidence{}}}}
	}
	root := func(name string, sites ...*findings.Site) *findings.Root {
		return &findings.Root{ID: name, Kind: "named", Func: name, File: "f.go", Line: 1, End: 9, Sites: sites, Allocs: []int{0}}
	}
	return &findings.Document{Module: "m", Dir: "/nowhere", Toolchains: []findings.Toolchain{{Name: "go1.26.8", Line: "go1.26", Runs: 1}}, Roots: []*findings.Root{
		root("m.A", site(2, "", counted), site(3, "a", counted), site(3, "b", counted)),
		root("m.B", site(2, "", possible(verdict.Benchmark)), site(5, "", possible(verdict.Benchmark)), site(6, "", possible(verdict.Branch))),
		root("m.C", site(7, "", possible(verdict.Size)), site(9, "", possible(verdict.First))),
		root("m.D", site(8, "", none), site(10, "", possible(verdict.AnyRun)), site(11, "", possible(verdict.Agreement))), root("m.E"),
	}}
}
