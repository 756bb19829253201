// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"os"
	"strings"
)

// Marks of the part of a document that the table is written to.
const (
	tableBegin = "<!-- results: begin -->\n"
	tableEnd   = "<!-- results: end -->\n"
)

// Table is the results in Markdown, with every deviation below.
func Table(results []*Result) string {
	var b strings.Builder
	release := ""
	for _, r := range results {
		release = r.Go
	}
	fmt.Fprintf(&b, "%s, linux/amd64.\n\n", release)
	b.WriteString("| module | benchmarks | roots | lines in the profile | reported | of them `always` | `always` and come by | of them in the profile | `always`, no benchmark comes by | benchmark × line pairs, agreed | with the same count |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range results {
		s := r.With
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s | %d | %s | %d | %s | %s |\n", title(r.Module), len(r.Truth.Benchmarks), r.Roots,
			s.Lines, of(s.Reported, s.Lines), of(s.Always, s.Lines), s.Claimed, of(s.Right, s.Claimed), s.NotSeen, of(s.Agreed, s.Pairs), of(s.Equal, s.Pairs))
	}
	b.WriteString("\nThe same with code and compiler alone (`--bench \"\"`):\n\n")
	b.WriteString("| module | lines in the profile | reported | of them `always` | `always` and come by | of them in the profile | `always`, no benchmark comes by |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range results {
		s := r.Without
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d | %s | %d |\n", title(r.Module),
			s.Lines, of(s.Reported, s.Lines), of(s.Always, s.Lines), s.Claimed, of(s.Right, s.Claimed), s.NotSeen)
	}
	b.WriteString("\nEvery deviation:\n\n")
	any := false
	for _, r := range results {
		for _, set := range []struct {
			name string
			s    Score
		}{{"with runs", r.With}, {"code and compiler alone", r.Without}} {
			for _, d := range set.s.Deviations {
				cause := r.Module.Causes[d.Line]
				if cause == "" {
					cause = "not known"
				}
				fmt.Fprintf(&b, "- %s, %s: `%s`: %s (%s). Cause: %s.\n", r.Module.Name, set.name, d.Line, d.What, cell(d.Detail), cause)
				any = true
			}
		}
	}
	if !any {
		b.WriteString("- none\n")
	}
	return b.String()
}

// Reasons is what the tool says of each line, in Markdown.
func Reasons(results []*Result) string {
	var b strings.Builder
	b.WriteString("| line | per operation | source | why |\n| --- | --- | --- | --- |\n")
	for _, r := range results {
		for _, x := range r.Reasons {
			fmt.Fprintf(&b, "| %s `%s` | %.2f | `%s` | %s |\n", r.Module.Name, x.Line, x.PerOp, cell(x.Source), cell(x.Reason))
		}
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

func title(m Module) string {
	if m.Path == "" {
		return m.Name
	}
	return m.Name + " " + strings.TrimPrefix(m.Version, "v")
}

// of is a count with its share.
func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d (%d %%)", n, 100*n/all)
}

// Write puts the text between the marks of a document.
func Write(name, text string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(old), tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return fmt.Errorf("%s: no marks to write between", name)
	}
	return os.WriteFile(name, []byte(before+tableBegin+text+tableEnd+after), 0o644)
}
