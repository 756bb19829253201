// SPDX-License-Identifier: Apache-2.0

package console

import "bytes"

// blockMarker stands in front of each line of a block. No line begins like it:
// lines begin with a time or a level, and messages that begin with a space are
// quoted.
const blockMarker = "    │ "

// takeBlock leaves a text of several lines, or a stack of any size, to blocks.
func (p *painter) takeBlock(f *field) bool {
	if f.value[0] != '"' || len(f.value) == len(`""`) {
		return false
	}
	body := f.value[1 : len(f.value)-1]
	if f.role == asError {
		if bytes.IndexByte(body, '\\') < 0 || bytes.IndexByte(p.decode(body), '\n') < 0 {
			return false
		}
	}
	f.role = inBlock
	return true
}

// blocks writes what takeBlock has left, the stack last.
func (p *painter) blocks() {
	stack := p.at[asStack]
	for i := range p.fields {
		if f := &p.fields[i]; f.role == inBlock && i+1 != stack {
			p.block(f, sgrError)
		}
	}
	if stack > 0 && p.fields[stack-1].role == inBlock {
		p.block(&p.fields[stack-1], "")
	}
}

// block writes the text of f, each of its lines behind the marker. The first
// line of an error carries its key.
func (p *painter) block(f *field, color string) {
	text := bytes.TrimRight(p.decode(f.value[1:len(f.value)-1]), "\r\n")
	for first := true; first || len(text) > 0; first = false {
		row, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		markerColor, rowColor := sgrDim, color
		if color == "" && bytes.HasPrefix(row, []byte{'\t'}) {
			rowColor = sgrDim
		}
		if color != "" {
			markerColor = color
		}
		p.begin(markerColor)
		p.dst = append(p.dst, blockMarker...)
		p.end(markerColor)
		p.begin(rowColor)
		if first && color != "" {
			p.dst = appendPlain(p.dst, f.key)
			p.dst = append(p.dst, ": "...)
		}
		p.dst = appendPlain(p.dst, bytes.TrimSuffix(row, []byte{'\r'}))
		p.end(rowColor)
		p.dst = append(p.dst, '\n')
	}
}
