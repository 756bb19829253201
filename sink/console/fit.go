// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"strconv"
)

// The column of messages has its full width in a terminal of at least
// wideTerminal columns, and becomes narrower in smaller ones, down to
// narrowTerminal.
const (
	wideTerminal      = 120
	narrowTerminal    = 60
	widestMessages    = 40
	narrowestMessages = 16
	alignStep         = 8
	// Indent of further rows from the start of messages: no line begins there.
	rowIndent = 2
	// Minimum columns of further rows; in a narrower terminal the indent is
	// narrowIndent.
	leastRow     = 24
	narrowIndent = 4
)

// fixedWidth returns the width set by the configuration or the environment: 0
// for the terminal's, negative for none.
func fixedWidth(configured int, getenv func(string) string) int {
	if configured != 0 {
		return configured
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 && n <= maxWidth {
		return n
	}
	return 0
}

// messageColumns returns the width of the column of messages.
func (p *painter) messageColumns() int {
	switch {
	case p.messageWidth != 0:
		return max(p.messageWidth, 0)
	case p.width <= 0 || p.width >= wideTerminal:
		return widestMessages
	}
	beyond := max(p.width-narrowTerminal, 0)
	return narrowestMessages +
		beyond*(widestMessages-narrowestMessages)/(wideTerminal-narrowTerminal)
}

// rowBreak follows each field where the line may go on in another row. It is in
// no text, and counts as one column.
const rowBreak = '\n'

// fit writes the fields: aligned by pad spaces or, if there is less room in the
// terminal, a few steps to the left, so that lines of one kind stay aligned, or
// otherwise in several rows. The terminal wraps fields longer than a row, like
// messages; the first one of a line stays beside the message.
func (p *painter) fit(pad int) {
	column, gap := width(p.dst[p.row:]), p.gap
	needed := column + gap + width(p.fields) - 1
	if over := needed + pad - p.width; over > 0 {
		pad = max(pad-(over+alignStep-1)/alignStep*alignStep, 0)
	}
	fits := needed <= p.width
	if fits {
		gap += pad
	}
	indent := p.headWidth + rowIndent
	if p.width-indent < leastRow {
		indent = narrowIndent
	}
	for i, fields := 0, p.fields; len(fields) > 0; i++ {
		var field []byte
		field, fields, _ = bytes.Cut(fields, []byte{rowBreak})
		column = (column-1)%p.width + 1
		columns := width(field)
		tooLong := columns > p.width-indent
		full := column+gap+columns > p.width && column > indent
		if !fits && (tooLong && i > 0 || full && !tooLong) {
			p.dst = append(p.dst, '\n')
			column, gap = 0, indent
		}
		p.spaces(gap)
		p.dst = append(p.dst, field...)
		column += gap + columns
		gap = 1
	}
}
