// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestPicture checks that docs/console.svg is the console's output for the
// demo.
func TestPicture(t *testing.T) {
	s := New(new(bytes.Buffer), Config{Color: ColorAlways, TimeZone: time.UTC, Width: 110, MessageWidth: 30})
	var shown []byte
	for _, line := range demoLines(t) {
		shown = s.Render(shown, line)
	}
	golden(t, "../../docs/console.svg", []byte(picture(string(shown))))
}

// The size of a character and of a line in the picture.
const (
	cellWidth  = 7.8
	cellHeight = 19
	margin     = 14
)

// pictureStyle has the colours of a dark and of a light theme.
const pictureStyle = `<style>
svg { --bg: #0d1117; --fg: #d0d7de; --c31: #ff7b72; --c32: #56d364; --c33: #e3b341; --c34: #79c0ff; --c35: #d2a8ff; --c36: #39c5cf }
@media (prefers-color-scheme: light) {
svg { --bg: #ffffff; --fg: #24292f; --c31: #cf222e; --c32: #116329; --c33: #9a6700; --c34: #0969da; --c35: #8250df; --c36: #1b7c83 } }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--fg); white-space: pre }
.s1 { font-weight: bold } .s2 { opacity: .6 }
.s31 { fill: var(--c31) } .s32 { fill: var(--c32) } .s33 { fill: var(--c33) } .s34 { fill: var(--c34) } .s35 { fill: var(--c35) } .s36 { fill: var(--c36) }
.s7 { fill: var(--bg) } rect.s31 { fill: var(--c31) } rect.bg { fill: var(--bg) }
</style>
`

// picture draws text with SGR codes.
func picture(text string) string {
	var body strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	columns := 0
	for row, line := range lines {
		y := margin + row*cellHeight + 14
		col, class := 0, ""
		for part := range strings.SplitSeq(line, "\x1b[") {
			if code, rest, ok := strings.Cut(part, "m"); ok && strings.Trim(code, "0123456789;") == "" {
				class = classOf(code)
				part = rest
			}
			col += drawPart(&body, part, class, col, y)
		}
		columns = max(columns, col)
	}
	w, h := 2*margin+float64(columns)*cellWidth, 2*margin+len(lines)*cellHeight
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", w, h, w, h) +
		pictureStyle + `<rect class="bg" width="100%" height="100%" rx="8"/>` + "\n" + body.String() + "</svg>\n"
}

// classOf returns the classes of SGR parameters.
func classOf(code string) string {
	if code == "0" {
		return ""
	}
	return "s" + strings.ReplaceAll(code, ";", " s")
}

// drawPart draws text of one colour and returns its width. Each run of
// characters that are not ASCII is positioned separately, since fonts differ in
// their width.
func drawPart(out *strings.Builder, part, class string, col, y int) int {
	start := col
	for part != "" {
		n := strings.IndexFunc(part, func(r rune) bool { return r >= utf8.RuneSelf })
		switch n {
		case 0:
			_, n = utf8.DecodeRuneInString(part)
		case -1:
			n = len(part)
		}
		columns := width([]byte(part[:n]))
		if run := strings.TrimRight(part[:n], " "); run != "" {
			x := margin + float64(col)*cellWidth
			fill := class
			if strings.Contains(class, "s7") {
				fmt.Fprintf(out, `<rect class="s31" x="%.1f" y="%d" width="%.1f" height="%d"/>`, x, y-13, float64(columns)*cellWidth, cellHeight-2)
				fill = "s1 s7"
			}
			fmt.Fprintf(out, `<text class="%s" x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
				fill, x, y, float64(width([]byte(run)))*cellWidth, html.EscapeString(run))
		}
		col += columns
		part = part[n:]
	}
	return col - start
}
