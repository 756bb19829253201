// SPDX-License-Identifier: Apache-2.0

// Package report shows a document: as a tree in a terminal, and as JSON.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// JSON writes the document.
func JSON(w io.Writer, d *findings.Document) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

// Style sets how the tree is drawn.
type Style struct {
	Color bool
	All   bool // also show possible allocations
}

// tree draws the tree.
type tree struct {
	w io.Writer
	Style
	d         *findings.Document
	explained map[string]bool // patterns whose reason has been shown
	err       error
}

func (t *tree) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// Colours of the verdicts, as escape sequences.
const (
	red    = "31"
	yellow = "33"
	green  = "32"
	faint  = "2"
	bold   = "1"
)

func (t *tree) paint(code, text string) string {
	if !t.Color || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

var shades = map[verdict.Verdict]string{verdict.Counted: red, verdict.Possible: yellow, verdict.None: green}

// Text writes the numbers and the failures of the gate, then a tree: first the
// roots above their limit, then others that allocate. Clean roots are only
// counted.
func Text(w io.Writer, d *findings.Document, gate *baseline.Outcome, style Style) error {
	t := &tree{w: w, Style: style, d: d, explained: map[string]bool{}}
	t.header()
	t.summary()
	t.gate(gate)
	t.leaves()
	t.printf("\n")
	over, rest := t.sorted()
	for _, r := range over {
		t.root(r)
	}
	few := rest
	if !t.All && len(rest) > mostRoots {
		few = rest[:mostRoots]
	}
	for _, r := range few {
		t.root(r)
	}
	if n := len(rest) - len(few); n > 0 {
		t.printf("%s %d more allocate (-v shows them)\n\n", t.paint(yellow, "●"), n)
	}
	t.trouble()
	t.end()
	return t.err
}

// mostRoots bounds the roots without a comment that are shown: a service with
// hundreds of log calls has few reasons.
const mostRoots = 30

// sorted returns the roots above their limit, and the others that are shown.
func (t *tree) sorted() (over, rest []*findings.Root) {
	for _, r := range t.d.Roots {
		switch {
		case r.Over():
			over = append(over, r)
		case r.Worst().Allocates() || t.All && (len(r.Sites) > 0 || r.Allowed != nil):
			rest = append(rest, r)
		}
	}
	return over, rest
}

func (t *tree) header() {
	var names []string
	for _, tc := range t.d.Toolchains {
		names = append(names, tc.Name)
	}
	on := "on " + strings.Join(names, ", ")
	if n := len(t.d.Modules); n > 0 {
		on = fmt.Sprintf("(%s) ", count(n, "module")) + on
	}
	t.printf("%s %s\n", t.paint(bold, t.d.Module), t.paint(faint, on))
}

// mark returns the symbol of a root and its colour: above its limit, unproven,
// within its limit, allocating without a comment, or neither.
func mark(r *findings.Root) (symbol, color string) {
	switch {
	case r.Over():
		return "✗", red
	case r.Status == findings.Unproven:
		return "?", yellow
	case r.Allowed != nil:
		return "✓", green
	case r.Worst().Allocates():
		return "●", yellow
	}
	return "○", green
}

func (t *tree) root(r *findings.Root) {
	where := fmt.Sprintf("%s:%d", r.File, r.Line)
	if r.Allowed != nil {
		where += fmt.Sprintf("  allowed %d", *r.Allowed)
	}
	if n, leaf := r.Most(); leaf != "" {
		where += fmt.Sprintf("  ×%s in %s", verdict.Number(n), leaf)
	} else if n := slices.Max(append(r.Allocs, 0)); n > 0 {
		where += fmt.Sprintf("  ×%d", n)
	}
	symbol, color := mark(r)
	t.printf("%s %s  %s\n",
		t.paint(color, symbol), t.paint(bold, cut(title(t.d, r))), t.paint(faint, where))
	t.sites(r)
	t.printf("\n")
}

func (t *tree) trouble() {
	for _, tc := range t.d.Toolchains {
		for _, x := range tc.Trouble {
			t.printf("%s %s: %s\n", t.paint(yellow, "!"), tc.Name, x)
		}
	}
}

// gate shows the roots that fail the gate. Without a baseline, the tree shows
// those that are above their limits.
func (t *tree) gate(g *baseline.Outcome) {
	if g == nil {
		return
	}
	over := map[string]bool{}
	for _, r := range t.d.Roots {
		over[r.ID] = !g.Baseline && r.Over()
	}
	for _, c := range g.Worse {
		if over[c.Root] {
			continue
		}
		t.printf("%s %s: %s\n", t.paint(red, "worse"), c.Toolchain, c.Text)
		if c.Where != "" {
			t.printf("    %s\n", t.paint(faint, c.Where))
		}
	}
	for _, c := range g.Unproven {
		t.printf("%s %s: %s\n", t.paint(yellow, "unproven"), c.Toolchain, c.Text)
	}
	for _, c := range g.Better {
		t.printf("%s %s: %s\n", t.paint(green, "better"), c.Toolchain, c.Text)
	}
	if len(g.Better) > 0 {
		t.printf("%s\n", t.paint(faint, "  --accept takes what is better into the baseline"))
	}
}

// states are the numbers of roots by their state.
func states(s findings.Summary) (parts []string) {
	for _, state := range findings.States {
		text := string(state)
		if state == findings.Above {
			text = "above what is allowed"
		}
		if n := s.Roots[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	return parts
}

// summary shows the numbers of the document.
func (t *tree) summary() {
	s := t.d.Summary
	if len(t.d.Roots) == 0 {
		return
	}
	t.printf("%s: %s\n", count(len(t.d.Roots), "root"), strings.Join(states(s), ", "))
	t.printf("sites: %d counted, %d possible\n", s.Sites[verdict.Counted], s.Sites[verdict.Possible])
	for _, line := range missing(t.d) {
		t.printf("  %s\n", t.paint(faint, line))
	}
}

func (t *tree) end() {
	runs, seconds := 0, 0.0
	for _, tc := range t.d.Toolchains {
		runs += tc.Runs
		seconds += tc.Seconds
	}
	t.printf("%s measured, %.1f s\n", count(runs, "run"), seconds)
	if s := t.d.Summary.Roots; s[findings.Above]+s[findings.Counted] > 0 && !t.All {
		t.printf("next: %s\n", t.paint(faint, "--html FILE makes a page to look around in, -v shows the rest"))
	}
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

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
