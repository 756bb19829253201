// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/source"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

var (
	//go:embed page
	pageFiles embed.FS

	pageTemplate = template.Must(template.ParseFS(pageFiles, "page/page.html"))
)

// page is what the template shows.
type page struct {
	Module   string
	Policy   string
	Style    template.CSS
	Script   template.JS
	Baseline bool
	Gate     []baseline.Change
	Releases []pageRelease
	RootSum  string
	Roots    []pageRoot
	Missing  []pageGroup
	Sources  map[string][]pageSource // by the ID of a template
	files    *source.Files
	document *findings.Document
}

type pageRelease struct {
	Name, Sum, FreeSum string
	Trouble, Free      []string
	Leaves             []pageLeaf
}

type pageLeaf struct {
	Name, Count, Bytes, Few string
	Parts                   []pagePart
	Lines                   []pageLine
}

// pagePart is the part of a bar that is one line.
type pagePart struct {
	Shade, Title string
	X, Width     float64
}

type pageRoot struct {
	Mark, Class, Title, Where, Count, Besides string
	Status                                    findings.Status
	Over                                      bool
	Unproven                                  []string
	Lines                                     []pageLine
}

// pageGroup has the possible lines that lack the same evidence.
type pageGroup struct {
	Text  string
	Lines []pageLine
}

type pageLine struct {
	Count, Bytes, Where, Source, ID string
	Facts                           []pageFact
}

type pageFact struct {
	Label string
	Text  template.HTML
}

type pageSource struct {
	No   int
	Text string
	Hit  bool
}

// HTML writes one page that needs nothing else. Its content security policy
// allows only its own script, whatever source code is quoted in it.
func HTML(w io.Writer, d *findings.Document, o *baseline.Outcome) error {
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	p := &page{
		Module: d.Module, Style: template.CSS(style), Script: template.JS(script),
		Policy: "default-src 'none'; base-uri 'none'; form-action 'none'; script-src '" +
			digest(script) + "'; style-src '" + digest(style) + "'",
		Baseline: o.Baseline, Gate: slices.Concat(o.Missing, o.Worse, o.Unproven, o.Better),
		Sources: map[string][]pageSource{}, files: source.New(), document: d,
	}
	for i := range d.Toolchains {
		p.Releases = append(p.Releases, p.release(&d.Toolchains[i]))
	}
	p.RootSum = strings.Join(states(d.Summary), ", ")
	for _, r := range slices.SortedStableFunc(slices.Values(d.Roots), func(a, b *findings.Root) int {
		return slices.Index(findings.States, a.Status) - slices.Index(findings.States, b.Status)
	}) {
		p.Roots = append(p.Roots, p.root(r))
	}
	p.possible()
	return pageTemplate.Execute(w, p)
}

// digest returns the hash that allows an element's text in a content security
// policy.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (p *page) release(tc *findings.Toolchain) pageRelease {
	r := pageRelease{Name: tc.Name, Trouble: tc.Trouble}
	all := tc.Heaviest()
	for i := range all {
		if l := &all[i]; l.PerOp > 0 {
			r.Leaves = append(r.Leaves, p.leaf(l, all[0].PerOp))
		} else {
			r.Free = append(r.Free, shorten(p.document, l.Package+"."+l.Name))
		}
	}
	r.Sum = fmt.Sprintf("%s, %d with allocations", count(len(all), "benchmark"), len(r.Leaves))
	r.FreeSum = count(len(r.Free), "benchmark") + " without an allocation"
	return r
}

// leaf returns a leaf whose bar has a part for each of its lines; most is the
// count of the heaviest leaf.
func (p *page) leaf(l *findings.Leaf, most float64) pageLeaf {
	out := pageLeaf{
		Name: shorten(p.document, l.Package+"."+l.Name), Count: "×" + verdict.Number(l.PerOp),
		Bytes: fmt.Sprintf("%.0f B", l.Bytes), Few: few(l),
	}
	x := 0.0
	part := func(shade, title string, perOp float64) {
		width := 1000 * perOp / most
		out.Parts = append(out.Parts, pagePart{shade, title, x, width})
		x += width
	}
	for i, line := range l.Lines {
		where := fmt.Sprintf("%s:%d", line.File, line.Line)
		part(fmt.Sprint("s", min(i, 3)), "×"+verdict.Number(line.PerOp)+" "+where, line.PerOp)
		shown := p.line(line.File, line.Line, line.Source)
		shown.Count = "×" + verdict.Number(line.PerOp)
		shown.Bytes = fmt.Sprintf("%.0f B", line.Bytes)
		for _, r := range line.Reasons {
			shown.fact("why", r.Reason)
			shown.fact("fix", r.Fix)
		}
		out.Lines = append(out.Lines, shown)
	}
	if perOp, bytes := l.Elsewhere(); perOp > 0 {
		part("rest-of", "×"+verdict.Number(perOp)+" elsewhere", perOp)
		out.Lines = append(out.Lines, pageLine{
			Count: "×" + verdict.Number(perOp), Bytes: fmt.Sprintf("%.0f B", bytes),
			Where: "elsewhere", Source: elsewhere,
		})
	}
	return out
}

// around is how many lines of source are shown on either side of a line.
const around = 3

// line returns a line with its source.
func (p *page) line(file string, n int, text string) pageLine {
	id := fmt.Sprintf("%s:%d", file, n)
	out := pageLine{Where: id, Source: text, ID: id}
	if p.Sources[id] != nil {
		return out
	}
	path := filepath.FromSlash(file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.document.Dir, path)
	}
	first := max(n-around, 1)
	for i, text := range p.files.Lines(path, first, n+around) {
		p.Sources[id] = append(p.Sources[id], pageSource{first + i, text, first+i == n})
	}
	return out
}

// between matches source code in a reason.
var between = regexp.MustCompile("`([^`]*)`")

func (l *pageLine) fact(label, text string) {
	if text != "" {
		html := between.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>")
		l.Facts = append(l.Facts, pageFact{label, template.HTML(html)})
	}
}

func (p *page) root(r *findings.Root) pageRoot {
	mark, _ := mark(r)
	out := pageRoot{
		Mark: mark, Class: string(r.Status), Status: r.Status, Over: r.Over(),
		Title: title(p.document, r), Where: fmt.Sprintf("%s:%d", r.File, r.Line),
	}
	if r.Allowed != nil {
		out.Where += fmt.Sprintf("  allowed %d", *r.Allowed)
	}
	if n, leaf := r.Most(); leaf != "" {
		out.Count, out.Where = "×"+verdict.Number(n), out.Where+"  in "+leaf
	}
	for t, why := range r.Unproven {
		if why != "" {
			out.Unproven = append(out.Unproven, p.document.Toolchains[t].Line+": "+why)
		}
	}
	hidden := 0
	for _, s := range r.Sites {
		if s.Worst().Allocates() {
			out.Lines = append(out.Lines, p.site(s))
		} else if s.Worst().Verdict == verdict.Possible {
			hidden++
		}
	}
	if hidden > 0 {
		out.Besides = fmt.Sprintf("besides: %d possible", hidden)
	}
	return out
}

func (p *page) site(s *findings.Site) pageLine {
	l := p.line(s.File, s.Line, s.Source)
	l.Count = string(s.Worst().Verdict)
	if n := s.PerOp(); n > 0 {
		l.Count = "×" + verdict.Number(n)
	}
	l.fact("why", s.Reason)
	if s.Worst().Verdict == verdict.Possible {
		l.fact("when", because(s))
	}
	if s.Differs() {
		l.fact("on", onReleases(p.document, s, func(_, text string) string { return text }))
	}
	l.fact("path", path(s))
	l.fact("fix", s.Fix)
	return l
}

// possible groups the possible lines, each once, by the evidence they lack.
func (p *page) possible() {
	for _, m := range lacks(p.document) {
		g := pageGroup{Text: m.text + " " + count(p.document.Summary.Missing[m.Missing], "line")}
		for _, same := range p.document.Same() {
			worst := slices.MaxFunc(same, func(a, b *findings.Site) int {
				return a.Worst().Rank() - b.Worst().Rank()
			})
			if worst.Worst() == (verdict.Finding{Verdict: verdict.Possible, Missing: m.Missing}) {
				g.Lines = append(g.Lines, p.site(worst))
			}
		}
		if len(g.Lines) > 0 {
			p.Missing = append(p.Missing, g)
		}
	}
}
