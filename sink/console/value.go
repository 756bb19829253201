// SPDX-License-Identifier: Apache-2.0

package console

// value writes a JSON value that is known to be valid.
func (p *painter) value(raw []byte) {
	switch raw[0] {
	case '"':
		p.text(raw[1:len(raw)-1], inValue)
	case '{', '[':
		p.nested(raw)
	default:
		p.dst = append(p.dst, raw...)
	}
}

// nested shows an object as {a=1 b=[x y]}. It goes through the tokens one by
// one, without recursion, so no depth of nesting costs more than its length.
func (p *painter) nested(raw []byte) {
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\t', '\n', '\r', ':':
			i++
		case ',':
			p.dst = append(p.dst, ' ')
			i++
		case '"':
			end := stringEnd(raw, i)
			body := raw[i+1 : end-1]
			if i = end; isName(raw[end:]) {
				p.key(body)
			} else {
				p.text(body, inValue)
			}
		default:
			p.dst = append(p.dst, c)
			i++
		}
	}
}

// stringEnd is the offset behind the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// isName reports whether rest, which follows a string, makes it a member's name.
func isName(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		}
		return c == ':'
	}
	return false
}

// key writes the key of a field and its equals sign.
func (p *painter) key(key []byte) {
	p.begin(sgrKey)
	p.text(key, inKey)
	p.dst = append(p.dst, '=')
	p.end(sgrKey)
}
