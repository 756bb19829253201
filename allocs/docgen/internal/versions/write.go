// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// Begin and End are the markers around the table.
const (
	Begin = "<!-- versions: begin -->"
	End   = "<!-- versions: end -->"
)

// Into returns the document with the table between the markers.
func (m *Matrix) Into(document []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(document, []byte(Begin+"\n"))
	if !ok {
		return nil, fmt.Errorf("the document has no line %s", Begin)
	}
	_, after, ok := bytes.Cut(rest, []byte(End))
	if !ok {
		return nil, fmt.Errorf("the document has no line %s after %s", End, Begin)
	}
	return bytes.Join([][]byte{before, []byte(Begin + "\n"), []byte(m.Markdown()), []byte(End), after}, nil), nil
}

// Markdown returns a table of the counts, and one of the compiler's output.
func (m *Matrix) Markdown() string {
	var b strings.Builder
	b.WriteString("| path |")
	for _, r := range m.Releases {
		b.WriteString(" " + r.Line)
		if r.Text {
			b.WriteString("*")
		}
		b.WriteString(" |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(m.Releases)) + "\n")
	for _, row := range m.Rows {
		fmt.Fprintf(&b, "| `%s` %s |", row.Name, row.Does)
		for i, c := range row.Cells {
			text := c.Count()
			if c.Silent() {
				text += " ·"
			}
			if i > 0 && row.Cells[i-1].Count() != c.Count() {
				text = "**" + text + "**"
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\nAllocations for one call, counted on " + m.versions() + ", " + m.Target + ". **Bold**: another number than in the column before.\n" +
		"· The compiler names nothing that escapes, and yet it allocates. * Seen by `-m=2` and benchmarks alone.\n\n")
	b.WriteString("| path | what escapes by the compiler's words, where it allocates |\n| --- | --- |\n")
	for _, row := range m.Rows {
		if text := m.said(row); text != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", row.Name, text)
		}
	}
	return b.String()
}

func (m *Matrix) versions() string {
	var all []string
	for _, r := range m.Releases {
		all = append(all, strings.TrimPrefix(r.Version, "go"))
	}
	return strings.Join(all, ", ")
}

// said joins adjacent releases on which the compiler prints the same.
func (m *Matrix) said(row Row) string {
	var parts []string
	for i := 0; i < len(row.Cells); {
		from, text := i, words(row.Cells[i])
		for i < len(row.Cells) && words(row.Cells[i]) == text {
			i++
		}
		if text != "" {
			name := m.Releases[from].Line
			if last := m.Releases[i-1].Line; last != name {
				name += "–" + last
			}
			parts = append(parts, name+": "+text)
		}
	}
	return strings.Join(parts, "; ")
}

func words(c Cell) string {
	switch {
	case c.Silent():
		return "nothing"
	case len(c.Said) == 0:
		return ""
	}
	return "`" + strings.Join(c.Said, "`, `") + "`"
}

// SVG returns the counts as a picture, readable on light and dark backgrounds.
func (m *Matrix) SVG() string {
	const top, line, label, cell, foot = 58, 24, 150, 58, 40
	width, height := label+cell*len(m.Releases)+16, top+line*len(m.Rows)+foot
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="ui-sans-serif,system-ui,Helvetica,Arial,sans-serif" font-size="13">`+"\n", width, height, width, height)
	b.WriteString("<title>Allocations for one call of the same code, by Go release</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\" rx=\"8\"/>\n")
	text := func(x, y int, attributes, s string) {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" %s>%s</text>\n", x, y, attributes, html.EscapeString(s))
	}
	text(14, 26, `font-weight="600" fill="#1f2328"`, "Allocations for one call of the same code, by Go release")
	for i, r := range m.Releases {
		mark := ""
		if r.Text {
			mark = "*"
		}
		text(label+cell*i+cell/2, top-8, `text-anchor="middle" fill="#59636e"`, r.Line+mark)
	}
	for j, row := range m.Rows {
		y := top + line*j
		text(14, y+17, `fill="#1f2328"`, row.Name)
		for i, c := range row.Cells {
			fill, ink := shade(c.PerOp)
			fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\"/>\n", label+cell*i+2, y+2, cell-4, line-4, fill)
			s := c.Count()
			if c.Silent() {
				s += " ·"
			}
			text(label+cell*i+cell/2, y+17, `text-anchor="middle" fill="`+ink+`"`, s)
			if i > 0 && row.Cells[i-1].Count() != c.Count() {
				fmt.Fprintf(&b, "<path d=\"M%d %dV%d\" stroke=\"#1f2328\" stroke-width=\"2\"/>\n", label+cell*i, y+2, y+line-2)
			}
		}
	}
	y := top + line*len(m.Rows)
	text(14, y+17, `font-size="11.5" fill="#59636e"`, "A bar stands where the number changes. · The compiler names nothing that escapes, and yet it allocates.")
	text(14, y+33, `font-size="11.5" fill="#59636e"`, "* Seen by -m=2 and benchmarks alone. All counts are exact: the least of 20 windows of 1000 calls.")
	b.WriteString("</svg>\n")
	return b.String()
}

// shade returns the colour of a cell and that of its text.
func shade(perOp float64) (fill, ink string) {
	switch {
	case perOp < 0.01:
		return "#dafbe1", "#116329"
	case perOp < 1.5:
		return "#ffebe9", "#82071e"
	case perOp < 2.5:
		return "#ffc1ba", "#82071e"
	}
	return "#ff8182", "#4c0519"
}
