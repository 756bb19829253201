// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// charted lists the scenarios of the chart, two in a row.
var charted = []string{"Message", "TenFields", "Bound", "Caller", "StructValue", "SlogFront"}

// Geometry of the chart, in pixels.
const (
	chartWidth  = 880
	chartMargin = 28
	headHeight  = 84
	footHeight  = 40
	panelGap    = 36
	panelWidth  = (chartWidth - 2*chartMargin - panelGap) / 2
	panelTitle  = 30 // distance from the panel's top to its first bar
	panelSpace  = 26 // below the last bar
	rowHeight   = 22
	barHeight   = 13
	labelWidth  = 66  // left of the bars
	valueWidth  = 112 // right of the longest bar
	barWidth    = panelWidth - labelWidth - valueWidth
)

// longest is the maximum of a panel's scale as a multiple of nib's bar. A
// longer bar would shrink all the others; it is cut, and marked as cut.
const longest = 8

// The colours follow the reader's colour scheme, even if the picture is
// embedded by an <img>, because it contains the styles.
const chartStyle = `<style>
.page{fill:#fff;stroke:#d0d7de}.t{fill:#1f2328}.m{fill:#59636e}.own{fill:#0969da}.fast{fill:#54aeff}.bar{fill:#afb8c1}.cut{stroke:#fff}
text{font-family:-apple-system,BlinkMacSystemFont,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif;font-size:12px}
.h{font-size:17px;font-weight:600}.p{font-size:13px;font-weight:600}.b{font-weight:600}
@media(prefers-color-scheme:dark){.page{fill:#0d1117;stroke:#3d444d}.t{fill:#f0f6fc}.m{fill:#9198a1}.own{fill:#4493f8}.fast{fill:#1f6feb}.bar{fill:#545d68}.cut{stroke:#0d1117}}
</style>
`

// A bar is one contestant in a panel.
type bar struct {
	label, class string
	ns           float64
}

// Chart draws the bar chart as SVG.
func (b *Run) Chart() string {
	var panels [][]bar
	var names []string
	for _, name := range charted {
		if bars := b.bars(name); len(bars) > 0 {
			panels, names = append(panels, bars), append(names, name)
		}
	}
	var body strings.Builder
	y := headHeight
	for i := 0; i < len(panels); i += 2 {
		height := 0
		for k, bars := range panels[i:min(i+2, len(panels))] {
			panel(&body, chartMargin+k*(panelWidth+panelGap), y, title(names[i+k]), bars)
			height = max(height, panelTitle+len(bars)*rowHeight+panelSpace)
		}
		y += height
	}
	total := y + footHeight

	var t strings.Builder
	fmt.Fprintf(&t, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Time of one log call with nib and other libraries">`+"\n",
		chartWidth, total, chartWidth, total)
	t.WriteString(chartStyle)
	fmt.Fprintf(&t, `<rect class="page" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", chartWidth-1, total-1)
	text(&t, chartMargin, 40, "t h", "Time of one log call, ns (shorter is better)")
	text(&t, chartMargin, 62, "m", b.subtitle())
	t.WriteString(body.String())
	text(&t, chartMargin, total-22, "m", "The minimum of many rounds in one process, all libraries taking turns, into io.Discard.")
	t.WriteString("</svg>\n")
	return t.String()
}

func (b *Run) subtitle() string {
	return fmt.Sprintf("× is the multiple of nib's time. %s, %s/%s, %s, %s",
		strings.Replace(b.head("go"), "go", "Go ", 1), b.head("goos"), b.head("goarch"), b.head("cpu"), b.head("date"))
}

// bars returns the contestants of a panel, nib first, or nothing if nib is not
// among them.
func (b *Run) bars(scenario string) []bar {
	ns, ok := b.Results.Get(scenario, own, UnitTime)
	if !ok {
		return nil
	}
	bars := []bar{{own, "own", ns}}
	for _, p := range callPeers() {
		if ns, ok := b.Results.Get(scenario, p, UnitTime); ok && !notCounted(scenario, p) {
			bars = append(bars, bar{p, "bar", ns})
		}
	}
	return bars
}

func panel(t *strings.Builder, x, y int, title string, bars []bar) {
	base := bars[0].ns
	scale := base
	for _, b := range bars {
		if b.ns <= longest*base {
			scale = max(scale, b.ns)
		}
	}
	text(t, x, y+16, "t p", title)
	for i, b := range bars {
		top := y + panelTitle + i*rowHeight
		baseline := top + barHeight - 2
		weight := ""
		if i == 0 {
			weight = " b"
		}
		fmt.Fprintf(t, `<text class="t%s" x="%d" y="%d" text-anchor="end">%s</text>`+"\n", weight, x+labelWidth-8, baseline, b.label)
		width := max(1, b.ns/scale*barWidth)
		cut := b.ns > scale
		if cut {
			width = barWidth
		}
		fmt.Fprintf(t, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`+"\n", b.class, x+labelWidth, top, width, barHeight)
		if cut {
			fmt.Fprintf(t, `<path class="cut" stroke-width="3" d="M%d %dl5 -%dm6 0l-5 %d"/>`+"\n",
				x+labelWidth+barWidth-24, top+barHeight+1, barHeight+2, barHeight+2)
		}
		fmt.Fprintf(t, `<text class="t%s" x="%.1f" y="%d">%s`, weight, float64(x+labelWidth)+width+6, baseline, nanoseconds(b.ns))
		if i > 0 {
			fmt.Fprintf(t, `<tspan class="m" dx="6">%s×</tspan>`, multiple(b.ns/base))
		}
		t.WriteString("</text>\n")
	}
}

// multiple formats a number with two significant digits.
func multiple(m float64) string {
	decimals := 1
	switch {
	case m < 0.995:
		decimals = 2
	case m >= 9.95:
		decimals = 0
	}
	return strconv.FormatFloat(m, 'f', decimals, 64)
}

func text(t *strings.Builder, x, y int, class, content string) {
	fmt.Fprintf(t, `<text class="%s" x="%d" y="%d">`, class, x, y)
	_ = xml.EscapeText(t, []byte(content)) // a Builder does not fail
	t.WriteString("</text>\n")
}
