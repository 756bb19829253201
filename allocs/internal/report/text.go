// SPDX-License-Identifier: Apache-2.0

// Package report shows a document: as a tree in a terminal, and as JSON.
package report

import (
	"encoding/json"
	"fmt"
	"io"
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

// Style says how the tree is drawn.
type Style struct {
	Color bool
	All   bool // also what is cold, grows or is not known
	Width int  // of the terminal; 0 writes each text on one line, however long
}

// tree draws.
type tree struct {
	w io.Writer
	Style
	d    *findings.Document
	told map[string]bool // patterns whose reason has been shown
	err  error
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
	cyan   = "36"
	faint  = "2"
	bold   = "1"
)

func (t *tree) paint(code, text string) string {
	if !t.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

var shades = map[verdict.Verdict]string{verdict.Always: red, verdict.Unknown: yellow, verdict.Grows: cyan, verdict.Cold: faint, verdict.None: green, verdict.Absent: faint}

// Text writes the tree: what fails the gate, then what else allocates, then a
// summary. What is clean is only counted.
func Text(w io.Writer, d *findings.Document, gate *baseline.Outcome, style Style) error {
	t := &tree{w: w, Style: style, d: d, told: map[string]bool{}}
	t.header()
	over, rest, disagree := t.sorted()
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
	if disagree > 0 {
		t.printf("%s %s where the sources disagree on a line (-v shows them)\n\n", t.paint(green, "○"), count(disagree, "root"))
	}
	t.trouble()
	t.gate(gate)
	t.summary()
	return t.err
}

// mostRoots bounds the roots without a comment that are shown: a service with
// hundreds of log calls has few reasons.
const mostRoots = 30

// sorted returns the roots that are above what they allow, the others that are
// shown, and how many are not, though there is something to say about them.
func (t *tree) sorted() (over, rest []*findings.Root, disagree int) {
	for _, r := range t.d.Roots {
		switch {
		case r.Over():
			over = append(over, r)
		case r.Worst() == verdict.Always || t.All && (len(r.Sites) > 0 || r.Allowed != nil):
			rest = append(rest, r)
		case conflicts(r):
			disagree++
		}
	}
	return over, rest, disagree
}

func conflicts(r *findings.Root) bool {
	for _, s := range r.Sites {
		if conflict(s) != "" {
			return true
		}
	}
	return false
}

func conflict(s *findings.Site) string {
	for _, a := range s.Answers {
		if a.Conflict != "" {
			return a.Conflict
		}
	}
	return ""
}

func (t *tree) header() {
	var names []string
	for _, tc := range t.d.Toolchains {
		names = append(names, tc.Name)
	}
	on := "on " + strings.Join(names, ", ")
	if p := t.d.Profiles(); len(p) > 0 {
		on += ", guided by " + strings.Join(p, ", ")
	}
	t.printf("%s %s\n\n", t.paint(bold, t.d.Module), t.paint(faint, on))
}

// mark is the sign of a root: above what is allowed, not there, within what is allowed, allocating
// without a comment, clean.
func (t *tree) mark(r *findings.Root) string {
	always := r.Worst() == verdict.Always
	switch {
	case r.Over():
		return t.paint(red, "✗")
	case r.Worst() == verdict.Absent:
		return t.paint(faint, "–")
	case r.Allowed != nil:
		return t.paint(green, "✓")
	case always:
		return t.paint(yellow, "●")
	}
	return t.paint(green, "○")
}

func (t *tree) root(r *findings.Root) {
	where := fmt.Sprintf("%s:%d", r.File, r.Line)
	if r.Allowed != nil {
		where += fmt.Sprintf("  allowed %d", *r.Allowed)
	}
	name := title(t.d, r)
	room := t.Width - 4 - width(where)
	if t.Width > 0 && room < width(name) && room < 30 {
		// Not both on one line.
		t.printf("%s %s\n  %s\n", t.mark(r), t.paint(bold, cut(name, t.Width-2)), t.paint(faint, where))
	} else {
		if t.Width == 0 {
			room = 100
		}
		t.printf("%s %s  %s\n", t.mark(r), t.paint(bold, cut(name, room)), t.paint(faint, where))
	}
	groups, hidden := t.groups(r)
	rest := hiddenText(hidden)
	for i, g := range groups {
		t.group(r, g, i == len(groups)-1 && rest == "")
	}
	if rest != "" {
		t.printf("  └ %s\n", t.paint(faint, rest+" (-v shows them)"))
	}
	t.printf("\n")
}

func hiddenText(hidden map[verdict.Verdict]int) string {
	var parts []string
	for _, v := range []verdict.Verdict{verdict.Unknown, verdict.Grows, verdict.Cold} {
		if n := hidden[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "besides: " + strings.Join(parts, ", ")
}

func (t *tree) trouble() {
	for _, tc := range t.d.Toolchains {
		for _, x := range tc.Trouble {
			t.printf("%s %s: %s\n", t.paint(yellow, "!"), tc.Name, x)
		}
	}
}

func (t *tree) gate(g *baseline.Outcome) {
	if g == nil || !g.Baseline {
		return
	}
	for _, c := range g.Worse {
		t.printf("%s %s: %s\n    %s\n", t.paint(red, "worse"), c.Toolchain, c.Text, t.paint(faint, c.Where))
	}
	for _, c := range g.Better {
		t.printf("%s %s: %s\n", t.paint(green, "better"), c.Toolchain, c.Text)
	}
	if len(g.Better) > 0 {
		t.printf("%s\n", t.paint(faint, "  --ratchet takes what is better into the baseline"))
	}
}

func (t *tree) summary() {
	counts := map[verdict.Verdict]int{}
	over, always, absent, runs, seconds := 0, 0, 0, 0, 0.0
	for _, r := range t.d.Roots {
		for _, s := range r.Sites {
			counts[s.Worst()]++
		}
		switch {
		case r.Over():
			over++
		case r.Worst() == verdict.Always:
			always++
		case r.Worst() == verdict.Absent:
			absent++
		}
	}
	for _, tc := range t.d.Toolchains {
		runs += tc.Runs
		seconds += tc.Seconds
	}
	n := len(t.d.Roots)
	parts := []string{}
	if over > 0 {
		parts = append(parts, t.paint(red, fmt.Sprintf("%d above what is allowed", over)))
	}
	if always > 0 {
		parts = append(parts, t.paint(yellow, fmt.Sprintf("%d with a line that always allocates", always)))
	}
	parts = append(parts, t.paint(green, fmt.Sprintf("%d without", n-over-always-absent)))
	if absent > 0 {
		parts = append(parts, t.paint(faint, fmt.Sprintf("%d not there", absent)))
	}
	t.printf("%s: %s\n", count(n, "root"), strings.Join(parts, ", "))
	t.printf("sites: %d always, %d unknown, %d grow, %d cold; %s measured, %.1f s\n",
		counts[verdict.Always], counts[verdict.Unknown], counts[verdict.Grows], counts[verdict.Cold], count(runs, "run"), seconds)
	if over+always > 0 && !t.All {
		t.text("next: ", faint, "--fix rewrites what has a known better form, --html FILE makes a page to look around in, -v shows the rest")
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
