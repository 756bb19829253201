// SPDX-License-Identifier: Apache-2.0

package teach

import (
	"fmt"
	"go/token"
	"slices"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Matrix returns the table of roots and Go releases: the methods with each
// worst verdict, their number, and the lines that cause it.
func Matrix(d *findings.Document) Section {
	var b strings.Builder
	b.WriteString("| methods |")
	for _, t := range d.Toolchains {
		fmt.Fprintf(&b, " %s |", t.Name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(d.Toolchains)) + "\n")
	for _, group := range []struct {
		name     string
		exported bool
	}{{"exported", true}, {"inside", false}} {
		var roots []*findings.Root
		for _, r := range d.Roots {
			if token.IsExported(method(r.Func)) == group.exported {
				roots = append(roots, r)
			}
		}
		fmt.Fprintf(&b, "| %s: %d |", group.name, len(roots))
		for t := range d.Toolchains {
			b.WriteString(" " + counts(roots, t) + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| worst verdict on these releases | methods |\n| --- | --- |\n" + rows(d))
	b.WriteString("\n| line that is behind `always` or `unknown` | below | why |\n| --- | --- | --- |\n" + lines(d))
	return Section{"matrix", b.String()}
}

// order is the order of the verdicts, the best first.
var order = []verdict.Verdict{verdict.Absent, verdict.None, verdict.Cold, verdict.Grows, verdict.Unknown, verdict.Always}

// counts returns the number of roots with each worst verdict on a release.
func counts(roots []*findings.Root, t int) string {
	n := map[string]int{}
	for _, r := range roots {
		n[r.Verdicts[t]]++
	}
	var out []string
	for _, v := range order {
		if n[string(v)] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[string(v)], v))
		}
	}
	return strings.Join(out, ", ")
}

// rows lists the roots by their answers; roots with the same answers share a
// row.
func rows(d *findings.Document) string {
	byAnswers := map[string][]string{}
	var keys []string
	for _, r := range d.Roots {
		k := strings.Join(slices.Compact(slices.Clone(r.Verdicts)), ", then ")
		if byAnswers[k] == nil {
			keys = append(keys, k)
		}
		byAnswers[k] = append(byAnswers[k], method(r.Func))
	}
	sort.Slice(keys, func(i, j int) bool { return place(keys[i]) < place(keys[j]) })
	var b strings.Builder
	for _, k := range keys {
		sort.Strings(byAnswers[k])
		fmt.Fprintf(&b, "| %s | %s |\n", k, strings.Join(byAnswers[k], " "))
	}
	return b.String()
}

// place sorts answers by their verdicts, the best first.
func place(answers string) string {
	for i, v := range order {
		answers = strings.ReplaceAll(answers, string(v), string(rune('0'+i)))
	}
	return answers
}

// most is the maximum number of lines that are listed.
const most = 15

// lines lists the lines that cause the worst verdicts, those shared by most
// roots first.
func lines(d *findings.Document) string {
	type line struct {
		text, reason string
		roots        int
	}
	byKey := map[string]*line{}
	var all []*line
	for _, r := range d.Roots {
		seen := map[string]bool{}
		for _, s := range r.Sites {
			// A line of a generic function has a key for each instance.
			k := s.File + s.Source
			if v := s.Worst(); v != verdict.Always && v != verdict.Unknown || seen[k] {
				continue
			}
			seen[k] = true
			if byKey[k] == nil {
				byKey[k] = &line{text: fmt.Sprintf("`%s` (%s)", strings.ReplaceAll(s.Source, "|", "\\|"), short(s.Func)), reason: cell(s.Reason)}
				all = append(all, byKey[k])
			}
			byKey[k].roots++
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].roots != all[j].roots {
			return all[i].roots > all[j].roots
		}
		return all[i].text < all[j].text
	})
	var b strings.Builder
	for i, l := range all {
		if i == most {
			fmt.Fprintf(&b, "| and %d more lines | | |\n", len(all)-most)
			break
		}
		fmt.Fprintf(&b, "| %s | %d methods | %s |\n", l.text, l.roots, l.reason)
	}
	return b.String()
}

// method returns the name of a method without its type and type parameters.
func method(f string) string {
	f = strings.TrimSuffix(f, "[...]")
	return f[strings.LastIndexByte(f, '.')+1:]
}

func short(f string) string { return f[strings.LastIndexByte(f, '/')+1:] }
