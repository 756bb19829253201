// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
	"github.com/nib-log/nib/allocs/internal/why"
)

// sites shows those sites of a root that allocate, or all; sites of one line
// with the same reason are one. The others are counted.
func (t *tree) sites(r *findings.Root) {
	var shown []*findings.Site
	perOp := map[*findings.Site]float64{}
	hidden := 0
	for _, s := range r.Sites {
		if !s.Worst().Allocates() && !t.All {
			hidden++
			continue
		}
		if n := len(shown); n == 0 || !alike(shown[n-1], s) {
			shown = append(shown, s)
		}
		perOp[shown[len(shown)-1]] += s.PerOp()
	}
	for i, s := range shown {
		t.site(r, s, perOp[s], i == len(shown)-1 && hidden == 0)
	}
	if hidden > 0 {
		text := fmt.Sprintf("besides: %d possible (-v shows them)", hidden)
		t.printf("  └ %s\n", t.paint(faint, text))
	}
}

func alike(a, b *findings.Site) bool {
	return a.File == b.File && a.Line == b.Line && a.Reason == b.Reason && a.Fix == b.Fix &&
		slices.EqualFunc(a.Answers, b.Answers, func(a, b findings.Answer) bool { return a.Finding == b.Finding })
}

func (t *tree) site(r *findings.Root, s *findings.Site, perOp float64, last bool) {
	branch, stem := "├", "│"
	if last {
		branch, stem = "└", " "
	}
	times := ""
	if perOp > 0 {
		times = " ×" + verdict.Number(perOp)
		if perOp <= 0.75 {
			times += ", " + verdict.Frequency(perOp)
		}
	}
	where := fmt.Sprintf("%s:%d", s.File, s.Line)
	if s.File == r.File {
		where = fmt.Sprintf("line %d", s.Line)
	}
	worst := s.Worst().Verdict
	t.printf("  %s %s%s  %s  %s\n", branch, t.paint(shades[worst], string(worst)), times,
		t.paint(faint, where), cut(s.Source))
	t.facts(s, "  "+stem+"   ")
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
	t.fact(lead, "path", "", path(s))
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
func onReleases(
	d *findings.Document, s *findings.Site, paint func(code, text string) string,
) string {
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
