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

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/source"
)

var (
	//go:embed page
	pageFiles embed.FS

	pageTemplate = template.Must(template.New("").Funcs(template.FuncMap{
		"times": times, "bytes": bytes, "code": code,
	}).ParseFS(pageFiles, "page/page.html"))
)

// page is what the template shows.
type page struct {
	*view
	Policy string
	Style  template.CSS
	Script template.JS
	files  *source.Files
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
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; script-src '" +
		digest(script) + "'; style-src '" + digest(style) + "'"
	return pageTemplate.ExecuteTemplate(w, "page.html", &page{
		newView(d, o), policy, template.CSS(style), template.JS(script), source.New(),
	})
}

// digest returns the hash that allows an element's text in a content security
// policy.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// part is the part of a leaf's bar that is one line.
type part struct {
	Shade, Title string
	X, Width     float64
}

// Parts returns the parts of a bar; the bar of the heaviest leaf is 1000 wide.
func (r release) Parts(l leaf) (out []part) {
	x := 0.0
	for i, line := range l.Lines {
		shade, width := fmt.Sprint("s", min(i, 3)), 1000*line.PerOp/r.Leaves[0].PerOp
		if line.Line == 0 {
			shade = "rest-of"
		}
		out = append(out, part{shade, line.Count() + " " + line.Where(), x, width})
		x += width
	}
	return out
}

// quote is a piece of source, with the line that it is about.
type quote struct {
	No   int
	Text string
	Hit  bool
}

// Sources returns the source around all lines, by place.
func (p *page) Sources() map[string][]quote {
	out := map[string][]quote{}
	add := func(lines []line) {
		for _, l := range lines {
			if at := l.Where(); l.Line > 0 && out[at] == nil {
				out[at] = p.around(l)
			}
		}
	}
	for _, r := range p.Releases {
		for _, l := range r.Leaves {
			add(l.Lines)
		}
	}
	for _, r := range p.Roots {
		add(r.Lines)
	}
	for _, g := range p.Missing {
		add(g.Lines)
	}
	return out
}

// around returns a line with three lines of source on either side.
func (p *page) around(l line) (out []quote) {
	name := filepath.FromSlash(l.File)
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.document.Dir, name)
	}
	first := max(l.Line-3, 1)
	for i, text := range p.files.Lines(name, first, l.Line+3) {
		out = append(out, quote{first + i, text, first+i == l.Line})
	}
	return out
}

// between matches source code in a reason.
var between = regexp.MustCompile("`([^`]*)`")

func code(text string) template.HTML {
	text = template.HTMLEscapeString(text)
	return template.HTML(between.ReplaceAllString(text, "<code>$1</code>"))
}
