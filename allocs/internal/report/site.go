// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
	"github.com/nib-log/nib/allocs/internal/why"
)

// group is a set of sites with the same text, such as the lines of one log
// call.
type group []*findings.Site

// groups returns the sites of a root that are shown, and the number of the
// others: unless all are requested, only sites that allocate are shown.
func (t *tree) groups(r *findings.Root) (shown []group, hidden int) {
	for _, s := range r.Sites {
		if !s.Worst().Allocates() && !t.All {
			hidden++
			continue
		}
		if n := len(shown); n > 0 && alike(r, shown[n-1][0], s) {
			shown[n-1] = append(shown[n-1], s)
		} else {
			shown = append(shown, group{s})
		}
	}
	return shown, hidden
}

func alike(r *findings.Root, a, b *findings.Site) bool {
	if a.File != b.File || a.Fix != b.Fix || a.Reason != b.Reason || a.Callee != b.Callee || a.Line != b.Line && !(ofCall(r, a) && ofCall(r, b)) {
		return false
	}
	for i := range a.Answers {
		if a.Answers[i].Finding != b.Answers[i].Finding || a.Answers[i].Conflict != b.Answers[i].Conflict {
			return false
		}
	}
	return true
}

// ofCall reports whether a site is on the lines of the log call that is the
// root.
func ofCall(r *findings.Root, s *findings.Site) bool {
	return r.Text != "" && s.File == r.File && s.Line >= r.Line && s.Line <= r.End
}

// group shows the sites of a group.
func (t *tree) group(r *findings.Root, g group, last bool) {
	s := g[0]
	branch, stem := "├", "│"
	if last {
		branch, stem = "└", " "
	}
	times, perOp := "", 0.0
	for _, s := range g {
		perOp += s.PerOp()
	}
	if perOp > 0 {
		times = " ×" + verdict.Number(perOp)
		if perOp <= 0.75 {
			times += ", " + verdict.Frequency(perOp)
		}
	}
	worst := string(s.Worst().Verdict)
	line := fmt.Sprintf("  %s %s%s", branch, t.paint(shades[verdict.Verdict(worst)], worst), times)
	where, source := place(r, g)
	if where != "" {
		line += "  " + t.paint(faint, where)
	}
	if source != "" {
		line += "  " + cut(source)
	}
	t.printf("%s\n", line)
	lead := "  " + stem + "   "
	t.facts(s, lead)
	_, most := r.Most()
	if leaf := leaf(g); leaf != "" && leaf != most {
		t.printf("%s%s %s\n", lead, t.paint(faint, "in  "), leaf)
	}
}

// leaf returns the benchmark or test that counted most at the sites of a group.
func leaf(g group) string {
	counts := map[string]float64{}
	for _, s := range g {
		for _, a := range s.Answers {
			if a.Evidence == nil || a.Verdict != verdict.Counted {
				continue
			}
			for _, r := range a.Evidence.Runs {
				counts[r.Name] += r.PerOp
			}
		}
	}
	name, most := "", 0.0
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		if counts[n] > most {
			name, most = n, counts[n]
		}
	}
	return name
}

// place returns the position of a group, unless the line of the root shows it,
// and its source text.
func place(r *findings.Root, g group) (where, source string) {
	first, last := g[0], g[len(g)-1]
	switch {
	case ofCall(r, first) && first.Line == r.Line && last.Line == r.Line:
		return "", "" // all of it is shown above
	case ofCall(r, first) && first.Line != last.Line:
		return fmt.Sprintf("lines %d to %d", first.Line, last.Line), ""
	case first.File == r.File:
		return fmt.Sprintf("line %d", first.Line), first.Source
	}
	name := first.File
	if filepath.Dir(name) == filepath.Dir(r.File) {
		name = filepath.Base(name)
	}
	return fmt.Sprintf("%s:%d", name, first.Line), first.Source
}

// facts shows the known facts about a site, each after the lead.
func (t *tree) facts(s *findings.Site, lead string) {
	explained := t.reason(lead, s.Pattern, s.Reason, s.Fix)
	if s.Worst().Verdict == verdict.Possible {
		t.fact(lead, "when", "", because(s))
	}
	if len(s.Answers) > 1 && s.Differs() {
		t.fact(lead, "on  ", "", onReleases(t.d, s, t.paint))
	}
	if t.All {
		for _, step := range s.Flow {
			t.fact(lead, "flow", "", step)
		}
	}
	t.fact(lead, "path", "", path(s))
	t.fact(lead, "but ", yellow, conflict(s))
	if !explained {
		t.fact(lead, "fix ", green, s.Fix)
	}
}

func (t *tree) fact(lead, label, color, text string) {
	if text != "" {
		t.printf("%s%s %s\n", lead, t.paint(faint, label), t.paint(color, text))
	}
}

// reason shows why a line allocates. A reason that was shown before is replaced
// by the name of its pattern. It reports whether the fix was shown before.
func (t *tree) reason(lead, pattern, reason, fix string) (explained bool) {
	if pattern == "" {
		t.fact(lead, "why ", "", reason)
		return false
	}
	if t.explained[pattern+reason] && !t.All {
		t.fact(lead, "why ", faint, pattern+", as above")
		return true
	}
	t.explained[pattern+reason] = true
	t.fact(lead, "why ", "", reason+" ["+pattern+"]")
	explained = t.explained[pattern+fix] && !t.All
	t.explained[pattern+fix] = true
	return explained
}

// cut shortens a text.
func cut(text string) string {
	const most = 100
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// path shows the calls between the root and the site when there are any, and
// those from the site into the library that allocates.
func path(s *findings.Site) string {
	var names []string
	for _, f := range s.Chain {
		if name := why.ShortName(f.Func); len(names) == 0 || names[len(names)-1] != name {
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

// onReleases shows the verdict of each toolchain; adjacent toolchains that
// agree share an entry.
func onReleases(d *findings.Document, s *findings.Site, paint func(code, text string) string) string {
	var parts []string
	for i := 0; i < len(s.Answers); {
		v, last := s.Answers[i].Verdict, i
		for last+1 < len(s.Answers) && s.Answers[last+1].Verdict == v {
			last++
		}
		name := d.Toolchains[i].Line
		if last > i {
			name += " to " + d.Toolchains[last].Line
		}
		parts = append(parts, name+" "+paint(shades[v], string(v)))
		i = last + 1
	}
	return strings.Join(parts, " · ")
}

// because returns the reason of the worst verdict.
func because(s *findings.Site) string {
	for _, a := range s.Answers {
		if a.Finding == s.Worst() {
			return a.Because
		}
	}
	return ""
}
