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

// takeBlock leaves a text of several lines, or a stack of any size, to blocks.
func (p *painter) takeBlock(f *field) bool {
	value := f.Value(p.src)
	if value[0] != '"' || len(value) == len(`""`) {
		return false
	}
	body := value[1 : len(value)-1]
	if f.role == asError {
		if bytes.IndexByte(body, '\\') < 0 || bytes.IndexByte(p.decode(body), '\n') < 0 {
			return false
		}
	}
	f.role = inBlock
	return true
}

// firstLine writes the message, given as a JSON string without its quotes. If
// the message has several lines, it writes the first and leaves the others to a
// block. It omits line breaks at the end.
func (p *painter) firstLine(body []byte, of jsonread.Text) {
	if of > jsonread.AnyText || bytes.IndexByte(body, '\\') < 0 {
		p.text(body, of, inMessage)
		return
	}
	first, _, more := cutLine(bytes.TrimRight(p.decode(body), "\r\n"))
	if more {
		p.fields[p.at[asMessage]-1].role = inBlock
	}
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

// blocks writes the blocks that firstLine and takeBlock have left: the message
// first, the stack last.
func (p *painter) blocks() {
	message, stack := p.at[asMessage], p.at[asStack]
	if message > 0 && p.fields[message-1].role == inBlock {
		_, rest, _ := cutLine(p.blockText(message - 1))
		p.block("", rest)
	}
	for i := range p.fields {
		if p.fields[i].role == inBlock && i+1 != stack && i+1 != message {
			p.errorBlock(i)
		}
	}
	if stack > 0 && p.fields[stack-1].role == inBlock {
		p.block("", p.blockText(stack-1))
	}
}

// blockText returns the text of field i without the line breaks at its end.
func (p *painter) blockText(i int) []byte {
	value := p.fields[i].Value(p.src)
	return bytes.TrimRight(p.decode(value[1:len(value)-1]), "\r\n")
}

// errorBlock writes field i, with its key before the first line.
func (p *painter) errorBlock(i int) {
	first, rest, more := cutLine(p.blockText(i))
	p.marker(sgrError)
	p.begin(sgrError)
	p.dst = appendPlain(p.dst, p.fields[i].Key(p.src))
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
