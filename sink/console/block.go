// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"

	"github.com/nib-log/nib/internal/jsonread"
)

// blockMarker precedes each line of a block. No other line begins like it:
// lines begin with a time or a level, and messages that begin with a space are
// quoted.
const blockMarker = "    │ "

// isText reports whether the value of s is a text that is not empty.
func (p *painter) isText(s *jsonread.Span) bool {
	value := s.Value(p.src)
	return value[0] == '"' && len(value) > len(`""`)
}

// hasLines reports whether the value of s is a text of several lines.
func (p *painter) hasLines(s *jsonread.Span) bool {
	return p.isText(s) && bytes.IndexByte(s.Value(p.src), '\\') >= 0 &&
		bytes.IndexByte(p.textOf(s), '\n') >= 0
}

// textOf returns the text of s, a JSON string.
func (p *painter) textOf(s *jsonread.Span) []byte {
	value := s.Value(p.src)
	return p.decode(value[1 : len(value)-1])
}

// firstLine writes the message, given as a JSON string without its quotes. If
// the message has several lines, it writes the first and leaves the others to a
// block. It omits line breaks at the end.
func (p *painter) firstLine(body []byte) {
	if bytes.IndexByte(body, '\\') < 0 {
		p.plain(body, inMessage)
		return
	}
	var first []byte
	first, _, p.isCut = cutLine(bytes.TrimRight(p.decode(body), "\r\n"))
	if len(first) > 0 {
		p.plain(first, inMessage)
	}
}

// cutLine cuts text after its first line, which it returns without its line
// break.
func cutLine(text []byte) (line, rest []byte, more bool) {
	line, rest, more = bytes.Cut(text, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest, more
}

// writeBlocks writes the blocks: the message first, the stack last.
func (p *painter) writeBlocks() {
	if p.isCut {
		_, rest, _ := cutLine(p.blockText(&p.at[asMessage]))
		p.block("", rest)
	}
	for i := range p.blocks {
		p.errorBlock(&p.blocks[i])
	}
	if stack := &p.at[asStack]; stack.IsSet() && p.isText(stack) {
		p.block("", p.blockText(stack))
	}
}

// blockText returns the text of s without the line breaks at its end.
func (p *painter) blockText(s *jsonread.Span) []byte {
	return bytes.TrimRight(p.textOf(s), "\r\n")
}

// errorBlock writes s, with its key before the first line.
func (p *painter) errorBlock(s *jsonread.Span) {
	first, rest, more := cutLine(p.blockText(s))
	p.marker(sgrError)
	p.begin(sgrError)
	p.dst = appendPlain(p.dst, s.Key(p.src))
	p.dst = append(p.dst, ": "...)
	p.dst = appendPlain(p.dst, first)
	p.end(sgrError)
	p.dst = append(p.dst, '\n')
	if more {
		p.block(sgrError, rest)
	}
}

// block writes text, with the marker before each line. If color is empty,
// indented lines, such as the positions in a stack, are dim.
func (p *painter) block(color string, text []byte) {
	for more := true; more; {
		var row []byte
		row, text, more = cutLine(text)
		rowColor := color
		if color == "" && bytes.HasPrefix(row, []byte{'\t'}) {
			rowColor = sgrDim
		}
		p.marker(color)
		p.begin(rowColor)
		p.dst = appendPlain(p.dst, row)
		p.end(rowColor)
		p.dst = append(p.dst, '\n')
	}
}

// marker begins a line of a block.
func (p *painter) marker(color string) {
	if color == "" {
		color = sgrDim
	}
	p.begin(color)
	p.dst = append(p.dst, blockMarker...)
	p.end(color)
}
