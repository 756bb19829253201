// SPDX-License-Identifier: Apache-2.0

package teach

import (
	"fmt"
	"sort"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Matrix is the table of roots and Go releases. Roots with the same answers
// everywhere share a row.
func Matrix(d *findings.Document) Section {
	var b strings.Builder
	b.WriteString("| roots |")
	for _, t := range d.Toolchains {
		fmt.Fprintf(&b, " %s |", t.Name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(d.Toolchains)) + "\n")
	rows := map[string][]string{}
	rank := map[string]int{}
	for _, r := range d.Roots {
		answers, worst := "", 0
		for t := range d.Toolchains {
			answers += " " + answer(r, t) + " |"
			worst = max(worst, verdict.Verdict(r.Verdicts[t]).Rank())
		}
		rows[answers] = append(rows[answers], short(r.Func))
		rank[answers] = worst
	}
	var keys []string
	for k := range rows {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if rank[keys[i]] != rank[keys[j]] {
			return rank[keys[i]] < rank[keys[j]]
		}
		if len(rows[keys[i]]) != len(rows[keys[j]]) {
			return len(rows[keys[i]]) > len(rows[keys[j]])
		}
		return keys[i] < keys[j]
	})
	for _, k := range keys {
		sort.Strings(rows[k])
		fmt.Fprintf(&b, "| %s |%s\n", names(rows[k]), k)
	}
	fmt.Fprintf(&b, "\n%d roots. %s\n", len(d.Roots), lines(d))
	return Section{"matrix", b.String()}
}

// answer is what a release says of a root, the number of lines with it.
func answer(r *findings.Root, t int) string {
	v := r.Verdicts[t]
	if v == string(verdict.None) {
		return v
	}
	n := 0
	for _, s := range r.Sites {
		if string(s.Answers[t].Verdict) == v {
			n++
		}
	}
	if v == string(verdict.Always) {
		return fmt.Sprintf("**%s** (%d)", v, n)
	}
	return v
}

// lines lists what always allocates somewhere.
func lines(d *findings.Document) string {
	seen := map[string]bool{}
	var out []string
	for _, r := range d.Roots {
		for _, s := range r.Sites {
			if s.Worst() != verdict.Always || seen[s.Key] {
				continue
			}
			seen[s.Key] = true
			out = append(out, fmt.Sprintf("`%s` in `%s` (%s)", s.Source, short(s.Func), s.Reason))
		}
	}
	if len(out) == 0 {
		return "No line always allocates."
	}
	sort.Strings(out)
	return "Always: " + strings.Join(out, "; ") + "."
}

func short(f string) string { return f[strings.LastIndexByte(f, '/')+1:] }

// names lists methods of one type under the type.
func names(list []string) string {
	byType := map[string][]string{}
	var types []string
	for _, f := range list {
		i := strings.LastIndexByte(f, '.')
		if byType[f[:i]] == nil {
			types = append(types, f[:i])
		}
		byType[f[:i]] = append(byType[f[:i]], f[i+1:])
	}
	var out []string
	for _, t := range types {
		out = append(out, fmt.Sprintf("`%s` (%d): %s", t, len(byType[t]), strings.Join(byType[t], " ")))
	}
	return strings.Join(out, "<br>")
}
