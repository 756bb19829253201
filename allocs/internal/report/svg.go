// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Colours of the verdicts on light and dark paper.
var fills = map[verdict.Verdict]string{
	verdict.None: "#2da44e", verdict.Cold: "#8c959f", verdict.Grows: "#3b8eea", verdict.Unknown: "#d4a72c", verdict.Always: "#cf222e",
}

// SVG writes a table: a row for each root that has something to show, a column
// for each toolchain, the number of allocations in each cell.
func SVG(w io.Writer, d *findings.Document) error {
	var rows []*findings.Root
	for _, r := range d.Roots {
		if r.Allowed != nil || r.Worst() == verdict.Always {
			rows = append(rows, r)
		}
	}
	const line, label, cell = 22, 420, 90
	width, height := label+cell*len(d.Toolchains)+20, line*(len(rows)+2)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="12">`, width, height, width, height)
	fmt.Fprintf(&b, "\n<title>Allocations of %s by Go release</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\" rx=\"6\"/>\n", html.EscapeString(d.Module))
	for i, tc := range d.Toolchains {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"20\" text-anchor=\"middle\" fill=\"#57606a\">%s</text>\n", label+cell*i+cell/2, html.EscapeString(tc.Line))
	}
	for n, r := range rows {
		y := line * (n + 1)
		name := strings.TrimLeft(strings.TrimPrefix(r.ID, d.Module), "./")
		if c := []rune(name); len(c) > 56 {
			name = string(c[:55]) + "…"
		}
		fmt.Fprintf(&b, "<text x=\"10\" y=\"%d\" fill=\"#24292f\">%s</text>\n", y+19, html.EscapeString(name))
		for i, v := range r.Verdicts {
			text := v
			if v == string(verdict.Always) {
				text = fmt.Sprint(r.Allocs[i])
			} else if v == string(verdict.None) {
				text = "0"
			}
			fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#fff\">%s</text>\n",
				label+cell*i+2, y+6, cell-4, line-4, fills[verdict.Verdict(v)], label+cell*i+cell/2, y+19, text)
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
