// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/source"
)

// The parts of the page besides the data. The parts of the script form one
// script in this order.
var (
	//go:embed page/page.html
	pageSource string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/data.js
	scriptData string
	//go:embed page/head.js
	scriptHead string
	//go:embed page/matrix.js
	scriptMatrix string
	//go:embed page/detail.js
	scriptDetail string
	//go:embed page/start.js
	scriptStart string

	pageScript = scriptData + scriptHead + scriptMatrix + scriptDetail + scriptStart
)

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// HTML writes one page that needs nothing else. The findings are data, from
// which its script renders the visible part: a page of 1,000 roots would be far
// too large to render at once. Its content security policy allows only this
// script, whatever source code is quoted in the page.
func HTML(w io.Writer, d *findings.Document, o *baseline.Outcome) error {
	data, err := pageData(d, o) // escapes <, > and &, so that no text ends the element
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, map[string]any{
		"Title": d.Module,
		"Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; script-src '" + digest(pageScript) +
			"'; style-src '" + digest(pageStyle) + "'",
		"Style":  template.CSS(pageStyle),
		"Script": template.JS(pageScript),
		"Data":   template.JS(data),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// pageData returns the document as JSON, with the changes since the baseline
// and the source that the page shows.
//
// Roots share most of their sites, but not the calls that lead to them. So the
// calls are apart, and all objects and lists are in a table, each once.
func pageData(d *findings.Document, o *baseline.Outcome) ([]byte, error) {
	chains := make([][][]findings.Frame, len(d.Roots))
	for i, r := range d.Roots {
		for _, s := range r.Sites {
			chains[i] = append(chains[i], chain(s))
		}
	}
	changes := slices.Concat(o.Missing, o.Worse, o.Better)
	text, err := json.Marshal(map[string]any{
		"module": d.Module, "summary": d.Summary, "missing": missing(d), "toolchains": d.Toolchains, "roots": d.Roots,
		"chains": chains, "baseline": o.Baseline, "changes": changes, "source": shownLines(d),
	})
	if err != nil {
		return nil, err
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	t := &table{numbers: map[string]int{}}
	t.share(all)
	return json.Marshal(t.values)
}

// table has objects and lists, in which others are replaced by a list with
// their number in the table. It has each of them once, after those in it.
type table struct {
	values  []any
	numbers map[string]int // by the JSON of a value
}

// share returns the reference of an object or list, or any other value itself.
func (t *table) share(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "chain")
		for k, x := range v {
			v[k] = t.share(x)
		}
	case []any:
		for i, x := range v {
			v[i] = t.share(x)
		}
	default:
		return value
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	n, ok := t.numbers[string(text)]
	if !ok {
		n = len(t.values)
		t.numbers[string(text)] = n
		t.values = append(t.values, value)
	}
	return []any{n}
}

// chain returns the calls that lead to a site, for its worst verdict: the
// others hardly differ.
func chain(s *findings.Site) []findings.Frame {
	for _, a := range s.Answers {
		if a.Finding == s.Worst() && len(a.Chain) > 0 {
			return a.Chain
		}
	}
	return nil
}

// Lines of source that are shown around a site and a log call, and at most of
// a function.
const (
	around      = 5
	wholeLength = 300
)

// shownLines returns the lines that the page shows, by file and number.
func shownLines(d *findings.Document) map[string]map[int]string {
	out := map[string]map[int]string{}
	files := source.New()
	add := func(name string, first, last int) {
		if out[name] == nil {
			out[name] = map[int]string{}
		}
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.Dir, path)
		}
		first = max(first, 1)
		for i, text := range files.Lines(path, first, last) {
			out[name][first+i] = text
		}
	}
	for _, r := range d.Roots {
		first, last := r.Line, min(r.End, r.Line+wholeLength)
		if r.Text != "" {
			first, last = first-around, max(last, r.Line)+around
		}
		add(r.File, first, last)
		for _, s := range r.Sites {
			add(s.File, s.Line-around, s.Line+around)
		}
	}
	return out
}

// digest returns the hash that allows an element's text in a content security
// policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// title returns the name of a root in a context where its module is known.
func title(d *findings.Document, r *findings.Root) string {
	if r.Text != "" {
		return r.Text
	}
	return shorten(d, r.ID)
}

// shorten removes the module's path from the name of a function.
func shorten(d *findings.Document, id string) string {
	return strings.TrimLeft(strings.TrimPrefix(id, d.Module), "./")
}
