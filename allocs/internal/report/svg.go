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

// pictureStyle has the colours for light and dark backgrounds. The text of a
// cell has a contrast of at least 4.5 to its background.
const pictureStyle = `
.paper{fill:#fff}.name{fill:#1b1f24}.head,.legend{fill:#57606a}.line{stroke:#e3e7ec}
.always rect{fill:#fbe3e0}.always text{fill:#b42318;font-weight:bold}.unknown rect{fill:#fbf0d5}.unknown text{fill:#805300}
.grows rect{fill:#dfeafa}.grows text{fill:#0550ae}.cold rect,.absent rect{fill:#eceef1}.cold text,.absent text{fill:#57606a}.none rect{fill:#e1f3e6}.none text{fill:#116329}
@media (prefers-color-scheme:dark){.paper{fill:#0f1318}.name{fill:#e4e8ee}.head,.legend{fill:#9aa4b0}.line{stroke:#2c333d}
.always rect{fill:#4a201d}.always text{fill:#ff9d95}.unknown rect{fill:#3d3110}.unknown text{fill:#e3b341}.grows rect{fill:#16304f}.grows text{fill:#79b8ff}
.cold rect,.absent rect{fill:#262c35}.cold text,.absent text{fill:#9aa4b0}.none rect{fill:#12331d}.none text{fill:#56d364}}
`

// The measures of the picture, in pixels. A character of the font is at most as
// wide as its column.
const (
	pictureLine = 28
	pictureCell = 74 // minimum number of columns
	pictureChar = 7.3
	mostName    = 64 // characters
)

// SVG writes a table: a row for each root that has something to show, a column
// for each toolchain, the number of allocations in each cell.
func SVG(w io.Writer, d *findings.Document) error {
	var rows []*findings.Root
	var names []string
	longest := len([]rune(d.Module))
	for _, r := range d.Roots {
		if r.Allowed == nil && r.Worst() != verdict.Always {
			continue
		}
		name := cut(title(d, r), mostName)
		rows, names = append(rows, r), append(names, name)
		longest = max(longest, len([]rune(name)))
	}
	cell := pictureCell
	for _, tc := range d.Toolchains {
		cell = max(cell, 16+int(pictureChar*float64(len(tc.Line)-len("go"))))
	}
	label := 32 + int(pictureChar*float64(min(longest, mostName)))
	width, height := max(label+cell*len(d.Toolchains)+16, 480), pictureLine*(len(rows)+1)+76
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="12">`, width, height, width, height)
	fmt.Fprintf(&b, "\n<title>Allocations of %s by Go release</title>\n<style>%s</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\" rx=\"8\"/>\n", html.EscapeString(d.Module), pictureStyle)
	fmt.Fprintf(&b, "<text class=\"name\" x=\"16\" y=\"30\" font-weight=\"bold\">%s</text>\n", html.EscapeString(cut(d.Module, mostName)))
	for i, tc := range d.Toolchains {
		fmt.Fprintf(&b, "<text class=\"head\" x=\"%d\" y=\"30\" text-anchor=\"middle\">%s</text>\n", label+cell*i+cell/2, html.EscapeString(strings.TrimPrefix(tc.Line, "go")))
	}
	for n, r := range rows {
		y := 44 + pictureLine*n
		fmt.Fprintf(&b, "<path class=\"line\" d=\"M16 %dH%d\"/><text class=\"name\" x=\"16\" y=\"%d\">%s</text>", y, width-16, y+18, html.EscapeString(names[n]))
		for i, v := range r.Verdicts {
			text := v
			if v == string(verdict.Always) {
				text = fmt.Sprint("×", r.Allocs[i])
			} else if v == string(verdict.None) {
				text = "0"
			} else if v == string(verdict.Absent) {
				text = "–"
			}
			x := label + cell*i
			fmt.Fprintf(&b, "<g class=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>",
				v, x+3, y+4, cell-6, pictureLine-8, x+cell/2, y+18, text)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "<text class=\"legend\" x=\"16\" y=\"%d\" font-size=\"11\">×n allocates n times · grows: only beyond a size · cold: errors, first use · –: not there</text>\n</svg>\n", height-22)
	_, err := io.WriteString(w, b.String())
	return err
}
