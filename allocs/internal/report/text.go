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
	Width int  // of the terminal; 0 for no limit
}

// tree draws.
type tree struct {
	w io.Writer
	Style
	d   *findings.Document
	err error
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

var shades = map[verdict.Verdict]string{verdict.Always: red, verdict.Unknown: yellow, verdict.Grows: cyan, verdict.Cold: faint, verdict.None: green}

// Text writes the tree: the roots that allocate with their sites, then what
// is clean in one line each, then the gate and a summary.
func Text(w io.Writer, d *findings.Document, gate *baseline.Outcome, style Style) error {
	t := &tree{w: w, Style: style, d: d}
	t.header()
	clean := 0
	for _, r := range d.Roots {
		if r.Worst() != verdict.Always {
			clean++
		}
		if t.shown(r) {
			t.root(r)
		}
	}
	t.trouble()
	t.gate(gate)
	t.summary(clean)
	return t.err
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

// shown tells whether a root has anything to show in this style.
func (t *tree) shown(r *findings.Root) bool {
	if t.All {
		return len(r.Sites) > 0 || r.Allowed != nil
	}
	for _, s := range r.Sites {
		if t.site(s) {
			return true
		}
	}
	return false
}

// site tells whether a site is shown: unless all are wanted, those that
// allocate, and those that the sources disagree on.
func (t *tree) site(s *findings.Site) bool {
	if t.All || s.Worst() == verdict.Always {
		return true
	}
	for _, a := range s.Answers {
		if a.Conflict != "" {
			return true
		}
	}
	return false
}

func (t *tree) root(r *findings.Root) {
	mark := t.paint(red, "✗")
	switch {
	case r.Allowed != nil && !r.Over() && r.Worst() != verdict.Always:
		mark = t.paint(green, "✓")
	case r.Allowed == nil && r.Worst() == verdict.Always:
		mark = t.paint(yellow, "●")
	case r.Worst() != verdict.Always:
		mark = t.paint(green, "○")
	}
	title := strings.TrimPrefix(r.ID, t.d.Module)
	title = strings.TrimLeft(title, "./")
	if r.Text != "" {
		title = r.Text
	}
	allowed := ""
	if r.Allowed != nil {
		allowed = fmt.Sprintf("  allowed %d", *r.Allowed)
	}
	t.printf("%s %s  %s%s\n", mark, t.paint(bold, title), t.paint(faint, fmt.Sprintf("%s:%d", r.File, r.Line)), t.paint(faint, allowed))
	var shown []*findings.Site
	hidden := map[verdict.Verdict]int{}
	for _, s := range r.Sites {
		if t.site(s) {
			shown = append(shown, s)
		} else {
			hidden[s.Worst()]++
		}
	}
	rest := hiddenText(hidden)
	for i := 0; i < len(shown); {
		n := i + 1
		for n < len(shown) && alike(shown[i], shown[n]) {
			n++
		}
		t.siteLines(shown[i:n], n == len(shown) && rest == "")
		i = n
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

// alike tells whether two sites would print the same, as two arguments that are
// boxed on one line.
func alike(a, b *findings.Site) bool {
	if a.File != b.File || a.Line != b.Line || a.Reason != b.Reason || a.Fix != b.Fix || a.Callee != b.Callee {
		return false
	}
	for i := range a.Answers {
		if a.Answers[i].Verdict != b.Answers[i].Verdict || a.Answers[i].Conflict != b.Answers[i].Conflict {
			return false
		}
	}
	return true
}

// siteLines shows a site, and those that are like it.
func (t *tree) siteLines(same []*findings.Site, last bool) {
	s := same[0]
	branch, stem := "├", "│"
	if last {
		branch, stem = "└", " "
	}
	worst := s.Worst()
	count := ""
	perOp := 0.0
	for _, s := range same {
		perOp += s.PerOp()
	}
	if perOp >= 0.01 {
		count = fmt.Sprintf(" ×%s", trim(perOp))
	}
	t.printf("  %s %s%s  %s  %s\n", branch, t.paint(shades[worst], string(worst)), count, t.paint(faint, fmt.Sprintf("%s:%d", s.File, s.Line)), t.cut(s.Source, 70))
	line := func(label, text string) {
		if text != "" {
			t.printf("  %s   %s %s\n", stem, t.paint(faint, label), text)
		}
	}
	line("why ", s.Reason)
	if s.Worst() != verdict.Always || t.All {
		line("when", because(s))
	}
	if len(s.Answers) > 1 && s.Differs() {
		line("on  ", t.matrix(s))
	}
	if t.All {
		for _, step := range s.Flow {
			line("flow", step)
		}
	}
	line("path", t.path(s))
	for _, a := range s.Answers {
		if a.Conflict != "" {
			line("but ", t.paint(yellow, a.Conflict))
			break
		}
	}
	if worst == verdict.Always || t.All {
		line("fix ", t.paint(green, s.Fix))
	}
}

func trim(n float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", n), "0"), ".")
}

// path shows the calls between the root and the site when there are any, and
// those from the site into the library that allocates.
func (t *tree) path(s *findings.Site) string {
	for _, a := range s.Answers {
		if a.Verdict != s.Worst() || len(a.Chain) < 2 {
			continue
		}
		var names []string
		for _, f := range a.Chain {
			if name := short(f.Func); len(names) == 0 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
		if len(names) < 2 {
			return ""
		}
		const most = 6
		if len(names) > most {
			names = append(append(names[:3:3], "…"), names[len(names)-2:]...)
		}
		return strings.Join(names, " → ")
	}
	return ""
}

func short(f string) string {
	if i := strings.LastIndexByte(f, '/'); i >= 0 {
		f = f[i+1:]
	}
	return f
}

// matrix shows the verdict of each toolchain.
func (t *tree) matrix(s *findings.Site) string {
	var parts []string
	for i, a := range s.Answers {
		parts = append(parts, t.d.Toolchains[i].Line+" "+t.paint(shades[a.Verdict], string(a.Verdict)))
	}
	return strings.Join(parts, " · ")
}

func (t *tree) cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
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

func (t *tree) summary(clean int) {
	counts := map[verdict.Verdict]int{}
	over, runs, seconds := 0, 0, 0.0
	for _, r := range t.d.Roots {
		for _, s := range r.Sites {
			counts[s.Worst()]++
		}
		if r.Over() {
			over++
		}
	}
	for _, tc := range t.d.Toolchains {
		runs += tc.Runs
		seconds += tc.Seconds
	}
	t.printf("%d roots, %d of them without a line that always allocates", len(t.d.Roots), clean)
	if over > 0 {
		t.printf("; %s", t.paint(red, fmt.Sprintf("%d above what is allowed", over)))
	}
	t.printf("\nsites: %s, %d unknown, %d grow, %d cold; %d runs measured, %.1f s\n",
		t.paint(red, fmt.Sprintf("%d always", counts[verdict.Always])), counts[verdict.Unknown], counts[verdict.Grows], counts[verdict.Cold], runs, seconds)
}

// because is the reason of the worst verdict.
func because(s *findings.Site) string {
	for _, a := range s.Answers {
		if a.Verdict == s.Worst() {
			return a.Because
		}
	}
	return ""
}
