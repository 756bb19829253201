// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"os"
	"strings"
)

// Markers around the table in a document.
const (
	tableBegin = "<!-- results: begin -->\n"
	tableEnd   = "<!-- results: end -->\n"
)

// Table returns the results in Markdown, with every deviation below.
func Table(results []*Result) string {
	var b strings.Builder
	release, leaves, roots := "", 0, 0
	var with, without Score
	for _, r := range results {
		release, leaves, roots = r.Go, leaves+len(r.Truth.Benchmarks), roots+r.Roots
		with.add(&r.With)
		without.add(&r.Without)
	}
	fmt.Fprintf(&b, "%s, linux/amd64. With runs:\n\n", release)
	b.WriteString("| module | leaves | roots | lines that allocate | reported | at 0.5 per operation or more | of them reported | at `always` | false `always` | counts | equal | `always`, not executed |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	row := func(name string, leaves, roots int, s *Score) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %d | %s | %s | %d | %d | %s | %d |\n", name, leaves, roots,
			s.Lines, of(s.Reported, s.Lines), s.Often, of(s.Often-s.Missed, s.Often), of(s.Always, s.Lines), s.Claimed-s.Right, s.Pairs, of(s.Equal, s.Pairs), s.NotSeen)
	}
	for _, r := range results {
		row(title(r.Module), len(r.Truth.Benchmarks), r.Roots, &r.With)
	}
	row("together", leaves, roots, &with)
	b.WriteString("\nCode and compiler alone (`--bench \"\"`):\n\n")
	b.WriteString("| module | lines that allocate | reported | behind calls not followed | missed | at `always` | false `always` | `always`, not executed |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	row = func(name string, _, _ int, s *Score) {
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %d | %s | %d | %d |\n", name,
			s.Lines, of(s.Reported, s.Lines), s.Behind, s.Lines-s.Reported-s.Behind, of(s.Always, s.Lines), s.Claimed-s.Right, s.NotSeen)
	}
	for _, r := range results {
		row(title(r.Module), 0, 0, &r.Without)
	}
	row("together", 0, 0, &without)
	b.WriteString("\nEvery deviation:\n\n")
	any := false
	for _, r := range results {
		for _, set := range []struct {
			name string
			s    Score
		}{{"with runs", r.With}, {"code and compiler alone", r.Without}} {
			for _, d := range set.s.Deviations {
				fmt.Fprintf(&b, "- %s, %s: `%s`: %s (%s). Cause: %s.\n", r.Module.Name, set.name, d.Line, d.What, cell(d.Detail), r.Module.cause(d))
				any = true
			}
		}
	}
	if !any {
		b.WriteString("- none\n")
	}
	return b.String()
}

// cause returns the cause of a deviation if it is known.
func (m *Module) cause(d Deviation) string {
	if c := m.Causes[d.Line]; c != "" {
		return c
	}
	if d.What == notFollowed {
		return manyCallees
	}
	return unknownCause
}

// Reasons returns the tool's report on each line, in Markdown.
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

// of returns a count with its share.
func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d (%d %%)", n, 100*n/all)
}

// Write writes the text between the markers of a document.
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
