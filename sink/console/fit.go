// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"
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

// token records that a field or the call site begins at from, including the
// spaces before it, if it was written there and not left to a block.
func (p *painter) token(from int) {
	if p.width > 0 && len(p.dst) > from {
		p.tokens = append(p.tokens, from)
	}
}

// fit fits the tokens of the line, written one after the other, into the
// terminal: aligned by pad spaces or, if there is less room, a few steps to the
// left, so that lines of one kind stay aligned, or otherwise in further rows.
func (p *painter) fit(pad int) {
	if len(p.tokens) == 0 {
		return
	}
	first := p.tokens[0]
	column := width(p.dst[p.row:first])
	needed := column + width(p.dst[first:])
	if over := needed + pad - p.width; over > 0 {
		pad = max(pad-(over+alignStep-1)/alignStep*alignStep, 0)
	}
	switch {
	case needed <= p.width:
		end := len(p.dst)
		p.dst = slices.Grow(p.dst, pad)[:end+pad]
		copy(p.dst[first+pad:], p.dst[first:end])
		fill(p.dst[first : first+pad])
	default:
		p.wrap(column)
	}
}

// wrap moves tokens that do not fit into a row to the next one. The terminal
// wraps tokens longer than a row, like messages; the first one of a line stays
// beside the message. column is the current end of the first row.
func (p *painter) wrap(column int) {
	indent := p.headWidth + rowIndent
	if p.width-indent < leastRow {
		indent = narrowIndent
	}
	p.breaks = p.breaks[:0]
	for i, from := range p.tokens {
		end := len(p.dst)
		if i+1 < len(p.tokens) {
			end = p.tokens[i+1]
		}
		column = (column-1)%p.width + 1
		columns, gap := width(p.dst[from:end]), gapAt(p.dst[from:])
		tooLong := columns-gap > p.width-indent
		full := column+columns > p.width && column > indent
		if tooLong && i > 0 || full && !tooLong {
			p.breaks = append(p.breaks, from)
			column, columns = indent, columns-gap
		}
		column += columns
	}
	p.breakRows(indent)
}

// breakRows replaces the spaces at p.breaks by a line break and indent. The
// spaces may be more than that, so the rows are written anew from a copy.
func (p *painter) breakRows(indent int) {
	if len(p.breaks) == 0 {
		return
	}
	first := p.breaks[0]
	p.decoded = append(p.decoded[:0], p.dst[first:]...)
	p.dst = p.dst[:first]
	for i, from := range p.breaks {
		row := p.decoded[from-first:]
		if i+1 < len(p.breaks) {
			row = row[:p.breaks[i+1]-from]
		}
		p.dst = append(p.dst, '\n')
		end := len(p.dst)
		p.dst = slices.Grow(p.dst, indent)[:end+indent]
		fill(p.dst[end:])
		p.dst = append(p.dst, row[gapAt(row):]...)
	}
}

// gapAt returns the number of spaces that text begins with.
func gapAt(text []byte) int {
	n := 0
	for n < len(text) && text[n] == ' ' {
		n++
	}
	return n
}

func fill(b []byte) {
	for i := range b {
		b[i] = ' '
	}
}
