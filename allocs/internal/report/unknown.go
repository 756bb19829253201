// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// missings is the order in which they are shown.
var missings = []findings.Missing{findings.Benchmark, findings.Branch, findings.Agreement}

// resolve describes the way to resolve n unknown sites.
func resolve(d *findings.Document, m findings.Missing, n int) string {
	these := count(n, "site")
	switch m {
	case findings.Branch:
		return "in a branch that no benchmark takes: " + these
	case findings.Agreement:
		return "always in the code and never in the runs: " + these
	}
	for _, tc := range d.Toolchains {
		if tc.Runs > 0 {
			return "no benchmark reaches " + these
		}
	}
	return "no benchmark was run for " + these
}

// unknowns describes the ways to resolve the unknown sites, in a line for each.
func unknowns(d *findings.Document) (lines []string) {
	for _, m := range missings {
		if n := d.Summary.Missing[m]; n > 0 {
			lines = append(lines, resolve(d, m, n)+most(d, m))
		}
	}
	if calls := d.Summary.Calls; len(calls) > 0 {
		lines = append(lines, notFollowed(calls))
	}
	return lines
}

// most names the functions with most of these sites: a benchmark of them
// resolves most.
func most(d *findings.Document, m findings.Missing) string {
	byFunc := map[string]int{}
	for _, same := range d.Same() {
		if s := same[0]; s.Missing == m {
			byFunc[s.Func]++
		}
	}
	var names []string
	for name := range byFunc {
		names = append(names, name)
	}
	if len(names) < 2 {
		return ""
	}
	sort.Slice(names, func(i, j int) bool {
		if a, b := byFunc[names[i]], byFunc[names[j]]; a != b {
			return a > b
		}
		return names[i] < names[j]
	})
	var parts []string
	for _, name := range names[:min(3, len(names))] {
		parts = append(parts, fmt.Sprintf("%s (%d)", shorten(d, name), byFunc[name]))
	}
	return ", most in " + strings.Join(parts, ", ")
}

// notFollowed names the lines with most callees below them.
func notFollowed(calls []findings.Call) string {
	var parts []string
	for _, c := range calls[:min(3, len(calls))] {
		text := fmt.Sprintf("%s:%d", c.File, c.Line)
		if c.Callees > 0 {
			text += fmt.Sprintf(" (up to %d possible callees)", c.Callees)
		}
		parts = append(parts, text)
	}
	text := "calls through interfaces and function values that are not followed, at " + strings.Join(parts, ", ")
	if n := len(calls) - len(parts); n > 0 {
		text += " and " + count(n, "more line")
	}
	return text
}

// hidden counts the sites of a root that are not shown.
type hidden struct {
	n       map[verdict.Verdict]int
	missing map[findings.Missing]int
}

func (h *hidden) add(s *findings.Site) {
	h.n[s.Worst()]++
	if s.Worst() == verdict.Unknown {
		h.missing[s.Missing]++
	}
}

// words are short reasons why a site is unknown.
var words = map[findings.Missing]string{findings.Benchmark: "not reached", findings.Branch: "in branches not taken", findings.Agreement: "never seen in runs"}

// text returns a line about the hidden sites, or "".
func (h *hidden) text() string {
	var parts []string
	for _, v := range []verdict.Verdict{verdict.Unknown, verdict.Grows, verdict.Cold} {
		n := h.n[v]
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", n, v)
		if v == verdict.Unknown {
			var why []string
			for _, m := range missings {
				if k := h.missing[m]; k == n {
					why = append(why, words[m])
				} else if k > 0 {
					why = append(why, fmt.Sprintf("%d %s", k, words[m]))
				}
			}
			part += " (" + strings.Join(why, ", ") + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "besides: " + strings.Join(parts, ", ")
}

// waiting shows the unknown sites of a root, in one entry for each way to
// resolve them: their lines, by file.
func (t *tree) waiting(r *findings.Root, last bool) {
	groups := map[findings.Missing][]*findings.Site{}
	for _, s := range r.Sites {
		if s.Worst() == verdict.Unknown {
			groups[s.Missing] = append(groups[s.Missing], s)
		}
	}
	left := len(groups)
	for _, m := range missings {
		sites := groups[m]
		if len(sites) == 0 {
			continue
		}
		left--
		branch, stem := "├", "│"
		if last && left == 0 {
			branch, stem = "└", " "
		}
		t.printf("  %s %s  %s\n", branch, t.paint(yellow, "unknown"), resolve(t.d, m, len(sites)))
		for _, line := range lines(sites) {
			t.text("  "+stem+"   ", faint, line)
		}
		for _, s := range sites {
			if c := conflict(s); c != "" {
				t.text(fmt.Sprintf("  %s   %s ", stem, t.paint(faint, "but")), yellow, fmt.Sprintf("line %d: %s", s.Line, c))
			}
		}
	}
}

// lines returns the places of sites, a text for each file.
func lines(sites []*findings.Site) (out []string) {
	var numbers []string
	for i, s := range sites {
		n := fmt.Sprint(s.Line)
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
		if i+1 == len(sites) || sites[i+1].File != s.File {
			out = append(out, s.File+": "+strings.Join(numbers, ", "))
			numbers = nil
		}
	}
	return out
}
