// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// What is shown in a terminal is bounded: a service with hundreds of log calls
// has few reasons. The page has everything.
const (
	mostLeaves = 40
	mostLines  = 6
	mostRoots  = 30 // that are not above their limits
)

// terminal writes a view.
type terminal struct {
	w io.Writer
	*view
	color     bool
	explained map[string]bool // reasons and fixes that have been shown, with their patterns
	err       error
}

func (t *terminal) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// Colours, as escape sequences.
const (
	red    = "31"
	yellow = "33"
	green  = "32"
	faint  = "2"
	bold   = "1"
)

func (t *terminal) paint(code, text string) string {
	if !t.color || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Text writes the numbers and the failures of the gate, then the leaves and the
// roots that allocate, the worst first. Clean roots are only counted.
func Text(w io.Writer, d *findings.Document, gate *baseline.Outcome, color bool) error {
	t := &terminal{w: w, view: newView(d, gate), color: color, explained: map[string]bool{}}
	t.header()
	t.gate(gate)
	for _, r := range t.Releases {
		t.release(&r)
	}
	t.printf("\n")
	shown, hidden := 0, 0
	for _, r := range t.Roots {
		switch {
		case len(r.Lines) == 0:
			continue
		case r.Over:
		case shown == mostRoots:
			hidden++
			continue
		default:
			shown++
		}
		t.root(&r)
	}
	if hidden > 0 {
		t.printf("%s %d more allocate\n\n", t.paint(yellow, "●"), hidden)
	}
	t.end()
	return t.err
}

// header shows the numbers of the document.
func (t *terminal) header() {
	d := t.document
	var names []string
	for _, tc := range d.Toolchains {
		names = append(names, tc.Name)
	}
	on := "on " + strings.Join(names, ", ")
	if n := len(d.Modules); n > 0 {
		on = fmt.Sprintf("(%s) ", count(n, "module")) + on
	}
	t.printf("%s %s\n", t.paint(bold, t.Module), t.paint(faint, on))
	if len(t.Roots) == 0 {
		return
	}
	t.printf("%s: %s\n", count(len(t.Roots), "root"), t.RootSum)
	s := d.Summary
	t.printf("sites: %d counted, %d possible\n",
		s.Sites[verdict.Counted], s.Sites[verdict.Possible])
	for _, g := range t.Missing {
		t.printf("  %s\n", t.paint(faint, g.Text))
	}
	if len(s.Calls) > 0 {
		t.printf("  %s\n", t.paint(faint, notFollowed(s.Calls)))
	}
}

// notFollowed names some of the lines.
func notFollowed(calls []findings.Call) string {
	var parts []string
	for _, c := range calls[:min(3, len(calls))] {
		parts = append(parts, fmt.Sprintf("%s:%d", c.File, c.Line))
	}
	text := "calls through interfaces and function values that are not followed, at " +
		strings.Join(parts, ", ")
	if n := len(calls) - len(parts); n > 0 {
		text += " and " + count(n, "more line")
	}
	return text
}

// gate shows the roots that fail the gate. Without a baseline, those that are
// above their limits are shown as such.
func (t *terminal) gate(g *baseline.Outcome) {
	over := map[string]bool{}
	for _, r := range t.Roots {
		over[r.ID] = !t.Baseline && r.Over
	}
	list := func(color, word string, all []baseline.Change) {
		for _, c := range all {
			if word == "worse" && over[c.Root] {
				continue
			}
			t.printf("%s %s: %s\n", t.paint(color, word), c.Toolchain, c.Text)
			if word == "worse" && c.Where != "" {
				t.printf("    %s\n", t.paint(faint, c.Where))
			}
		}
	}
	list(red, "worse", g.Worse)
	list(yellow, "unproven", g.Unproven)
	list(green, "better", g.Better)
	if len(g.Better) > 0 {
		t.printf("%s\n", t.paint(faint, "  --accept takes what is better into the baseline"))
	}
}

// release shows what was measured: each leaf, and below it the lines that its
// allocations are made on, which add up to it.
func (t *terminal) release(r *release) {
	all := append(r.Leaves, r.Free...)
	if len(all) == 0 {
		return
	}
	t.printf("\n%s\n", t.paint(bold, r.Name+": allocations and bytes of one operation"))
	for i, l := range all {
		if i == mostLeaves {
			t.printf("  %d more with fewer (--html shows them)\n", len(all)-i)
			break
		}
		t.printf("  %s  %s %s", t.paint(bold, l.Name), times(l.PerOp), bytes(l.Size))
		if l.Few != "" {
			t.printf("  %s", t.paint(faint, "("+l.Few+")"))
		}
		t.printf("\n")
		lines := l.Lines
		if len(lines) > mostLines+1 {
			rest := line{Source: count(len(lines)-mostLines, "more line") + " (--html shows them)"}
			for _, x := range lines[mostLines:] {
				rest.PerOp, rest.Size = rest.PerOp+x.PerOp, rest.Size+x.Size
			}
			lines = append(lines[:mostLines:mostLines], rest)
		}
		for _, x := range lines {
			t.line(x)
		}
	}
}

func (t *terminal) root(r *root) {
	color := map[string]string{"✗": red, "✓": green, "○": green}[r.Mark]
	if color == "" {
		color = yellow
	}
	t.printf("%s %s  %s\n", t.paint(color, r.Mark), t.paint(bold, cut(r.Title)),
		t.paint(faint, strings.TrimSpace(r.Where+"  "+strings.TrimSpace(r.Count+" "+r.Leaf))))
	for _, x := range r.Lines {
		t.line(x)
	}
	if r.Besides != "" {
		t.printf("    %s\n", t.paint(faint, r.Besides))
	}
	t.printf("\n")
}

// line shows a line and its facts. A reason that was shown before is replaced
// by the name of its pattern, and its fix is left out.
func (t *terminal) line(l line) {
	amount := l.Count() + " " + l.Bytes()
	if l.Verdict != "" && l.PerOp > 0 && l.PerOp <= 0.75 {
		amount = l.Count() + ", " + verdict.Frequency(l.PerOp)
	}
	color := red
	if l.Verdict == verdict.Possible {
		color = yellow
	}
	t.printf("    %s  ", t.paint(color, strings.TrimSpace(amount)))
	if l.Line == 0 {
		t.printf("%s\n", t.paint(faint, l.Source))
		return
	}
	t.printf("%s  %s\n", t.paint(faint, l.Where()), cut(l.Source))
	explained := false
	for _, f := range l.Facts {
		key := f.Pattern + " " + f.Label + " " + f.Text
		text := f.Text
		switch seen := f.Pattern != "" && t.explained[key]; {
		case f.Label == "fix" && (explained || seen):
			continue
		case f.Label == "why" && seen:
			text = t.paint(faint, f.Pattern+", as above")
		case f.Label == "why" && f.Pattern != "":
			text += " [" + f.Pattern + "]"
		}
		if f.Label == "why" {
			explained = f.Pattern != "" && t.explained[key]
		}
		t.explained[key] = true
		t.printf("      %s %s\n", t.paint(faint, fmt.Sprintf("%-4s", f.Label)), text)
	}
}

// cut shortens a text.
func cut(text string) string {
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func (t *terminal) end() {
	runs, seconds := 0, 0.0
	for _, tc := range t.document.Toolchains {
		for _, x := range tc.Trouble {
			t.printf("%s %s: %s\n", t.paint(yellow, "!"), tc.Name, x)
		}
		runs += tc.Runs
		seconds += tc.Seconds
	}
	t.printf("%s measured, %.1f s\n", count(runs, "run"), seconds)
	if s := t.document.Summary.Roots; s[findings.Above]+s[findings.Counted] > 0 {
		t.printf("next: %s\n", t.paint(faint, "--html FILE makes a page to look around in"))
	}
}
