// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/source"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// What the template is filled with.
type (
	page struct {
		D        *findings.Document
		O        *baseline.Outcome
		Clean    int
		Counts   []count
		Troubles []string
		Patterns []pattern
		Shown    []shownRoot
	}
	count struct {
		Verdict verdict.Verdict
		N       int
	}
	pattern struct {
		Name       string
		N, Percent int
	}
	shownRoot struct {
		R             *findings.Root
		Title, Anchor string
		Search        string
		Worst         verdict.Verdict
		Open          bool
		Hidden        string
		Sites         []shownSite
	}
	shownSite struct {
		S        *findings.Site
		Count    string
		Source   []sourceLine
		Versions []version
		Chain    []frame
	}
	sourceLine struct {
		N       int
		Text    string
		Here    bool
		Verdict verdict.Verdict
	}
	version struct {
		Line string
		findings.Answer
	}
	frame struct {
		Indent      int
		Name, Where string
	}
)

// HTML writes one page that needs nothing else: the matrix of roots and
// releases, and for each root the source, the reason, the way and the fix.
func HTML(w io.Writer, d *findings.Document, o *baseline.Outcome) error {
	p := &page{D: d, O: o}
	files := source.New()
	gutter := map[string]map[int]verdict.Verdict{}
	counts, patterns := map[verdict.Verdict]int{}, map[string]int{}
	for _, r := range d.Roots {
		if r.Worst() != verdict.Always {
			p.Clean++
		}
		for _, s := range r.Sites {
			v := s.Worst()
			counts[v]++
			if v == verdict.Always {
				patterns[s.Pattern]++
			}
			if gutter[s.File] == nil {
				gutter[s.File] = map[int]verdict.Verdict{}
			}
			if v.Rank() > gutter[s.File][s.Line].Rank() {
				gutter[s.File][s.Line] = v
			}
		}
	}
	for _, v := range []verdict.Verdict{verdict.Always, verdict.Unknown, verdict.Grows, verdict.Cold} {
		p.Counts = append(p.Counts, count{v, counts[v]})
	}
	for _, tc := range d.Toolchains {
		for _, x := range tc.Trouble {
			p.Troubles = append(p.Troubles, tc.Name+": "+x)
		}
	}
	p.Patterns = chart(patterns)
	for i, r := range d.Roots {
		p.Shown = append(p.Shown, show(d, r, i, files, gutter))
	}
	return pageTemplate.Execute(w, p)
}

// chart sorts the patterns by how often they are.
func chart(patterns map[string]int) []pattern {
	var out []pattern
	most := 1
	for name, n := range patterns {
		if name == "" {
			name = "other"
		}
		out = append(out, pattern{Name: name, N: n})
		most = max(most, n)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].N != out[j].N {
			return out[i].N > out[j].N
		}
		return out[i].Name < out[j].Name
	})
	for i := range out {
		out[i].Percent = 100 * out[i].N / most
	}
	return out
}

// sitesOfRoot bounds the sites that are drawn for a root: those that allocate
// come first.
const sitesOfRoot = 40

func show(d *findings.Document, r *findings.Root, n int, files *source.Files, gutter map[string]map[int]verdict.Verdict) shownRoot {
	x := shownRoot{R: r, Anchor: fmt.Sprintf("root-%d", n), Worst: r.Worst(), Open: r.Over()}
	x.Title = strings.TrimLeft(strings.TrimPrefix(r.ID, d.Module), "./")
	if r.Text != "" {
		x.Title = r.Text
	}
	sites := append([]*findings.Site(nil), r.Sites...)
	sort.SliceStable(sites, func(i, j int) bool { return sites[i].Worst().Rank() > sites[j].Worst().Rank() })
	if len(sites) > sitesOfRoot {
		x.Hidden = fmt.Sprintf("%d of %d sites", sitesOfRoot, len(sites))
		sites = sites[:sitesOfRoot]
	}
	search := []string{x.Title, r.File}
	for _, s := range sites {
		search = append(search, s.Pattern, s.File)
		x.Sites = append(x.Sites, showSite(d, s, files, gutter[s.File]))
	}
	x.Search = strings.ToLower(strings.Join(search, " "))
	return x
}

func showSite(d *findings.Document, s *findings.Site, files *source.Files, gutter map[int]verdict.Verdict) shownSite {
	x := shownSite{S: s}
	if n := s.PerOp(); n >= 0.01 {
		x.Count = trim(n)
	}
	first := max(1, s.Line-2)
	for i, text := range files.Lines(filepath.Join(d.Dir, filepath.FromSlash(s.File)), first, s.Line+2) {
		n := first + i
		x.Source = append(x.Source, sourceLine{n, strings.ReplaceAll(text, "\t", "    "), n == s.Line, gutter[n]})
	}
	worst := s.Worst()
	for i, a := range s.Answers {
		x.Versions = append(x.Versions, version{d.Toolchains[i].Line, a})
		if a.Verdict == worst && x.Chain == nil && len(a.Chain) > 1 {
			for depth, f := range a.Chain {
				x.Chain = append(x.Chain, frame{12 * min(depth, 20), short(f.Func), fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)})
			}
		}
	}
	return x
}
