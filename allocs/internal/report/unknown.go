// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
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
			lines = append(lines, resolve(d, m, n))
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
