// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// lack is evidence that is missing, in words before a number of sites.
type lack struct {
	verdict.Missing
	text string
}

func lacks(d *findings.Document) []lack {
	benchmark := "no benchmark was run for"
	if slices.ContainsFunc(d.Toolchains, func(t findings.Toolchain) bool { return t.Runs > 0 }) {
		benchmark = "no benchmark reaches"
	}
	return []lack{
		{verdict.AnyRun, "on every path, and " + benchmark},
		{verdict.Agreement, "on every path, and never in the runs:"},
		{verdict.Benchmark, benchmark},
		{verdict.Branch, "in a branch that no benchmark takes:"},
		{verdict.Size, "beyond a size that no benchmark has:"},
		{verdict.First, "in a panic, an error or a first use:"},
	}
}

// missing describes, in a line for each, what would resolve the possible sites.
func missing(d *findings.Document) (lines []string) {
	for _, m := range lacks(d) {
		if n := d.Summary.Missing[m.Missing]; n > 0 {
			lines = append(lines, m.text+" "+count(n, "site"))
		}
	}
	if calls := d.Summary.Calls; len(calls) > 0 {
		lines = append(lines, notFollowed(calls))
	}
	return lines
}

// notFollowed names some of the lines.
func notFollowed(calls []findings.Call) string {
	var parts []string
	for _, c := range calls[:min(3, len(calls))] {
		parts = append(parts, fmt.Sprintf("%s:%d", c.File, c.Line))
	}
	text := "calls through interfaces and function values that are not followed, at " + strings.Join(parts, ", ")
	if n := len(calls) - len(parts); n > 0 {
		text += " and " + count(n, "more line")
	}
	return text
}
