// SPDX-License-Identifier: Apache-2.0

package jsonread

// wordDepth is the nesting that one call of compactor.value can follow: one bit
// of a word for each level distinguishes objects from arrays. Deeper values
// recurse once per wordDepth levels, so the stack stays small and nothing is
// allocated.
const wordDepth = 64

// A compactor validates one JSON value. If rewrite is set, it also copies the
// value to dst: unchanged runs of bytes, src[from:i], are copied when something
// between them is left out or replaced.
type compactor struct {
	src     []byte
	dst     []byte
	from    int
	rewrite bool
}

// flush copies the pending run up to i and continues at next.
func (c *compactor) flush(i, next int) {
	if c.rewrite {
		c.dst = append(c.dst, c.src[c.from:i]...)
		c.from = next
	}
}

// space skips white space from i on. It is small enough to be inlined for the
// usual case that there is none.
func (c *compactor) space(i int) int {
	if i < len(c.src) && c.src[i] > ' ' {
		return i
	}
	return c.skipSpace(i)
}

//go:noinline
func (c *compactor) skipSpace(i int) int {
	start := i
	for i < len(c.src) && isSpace(c.src[i]) {
		i++
	}
	if i > start {
		c.flush(start, i)
	}
	return i
}

// TrimSpace returns text without the white space around it.
func TrimSpace(text []byte) []byte {
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isSpace(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// value reads the value at i, nested at most depth deep, and returns the offset
// after it. On an error, it returns the offset of the error.
func (c *compactor) value(i, depth int) (int, error) {
	var objects uint64 // bit 0: the innermost open container is an object
	open := 0
	for {
		i = c.space(i)
		if i >= len(c.src) {
			return i, ErrSyntax
		}
		var err error
		switch b := c.src[i]; b {
		case '{', '[':
			if open >= depth {
				return i, ErrDepth
			}
			if open == wordDepth {
				i, err = c.value(i, depth-open)
				break
			}
			var empty bool
			if i, empty, err = c.begin(i, b); err == nil && !empty {
				open++
				objects <<= 1
				if b == '{' {
					objects |= 1
				}
				continue
			}
		case '"':
			i, err = c.text(i)
		default:
			i, err = c.scalar(i)
		}
		if err != nil {
			return i, err
		}
		// The value has ended, and perhaps containers with it.
		for ; ; i++ {
			if open == 0 {
				return i, nil
			}
			i = c.space(i)
			if i >= len(c.src) {
				return i, ErrSyntax
			}
			object := objects&1 != 0
			if c.src[i] == ',' {
				if i++; object {
					if i, err = c.name(c.space(i)); err != nil {
						return i, err
					}
				}
				break
			}
			if object && c.src[i] != '}' || !object && c.src[i] != ']' {
				return i, ErrSyntax
			}
			open, objects = open-1, objects>>1
		}
	}
}

// begin reads the bracket b at i, and the closing one if the container is
// empty, or the first name of an object.
func (c *compactor) begin(i int, b byte) (next int, empty bool, err error) {
	i = c.space(i + 1)
	if i < len(c.src) && c.src[i] == b+2 { // '}' is '{'+2, ']' is '['+2
		return i + 1, true, nil
	}
	if b == '{' {
		i, err = c.name(i)
	}
	return i, false, err
}

// name reads a member's name and its colon.
func (c *compactor) name(i int) (int, error) {
	if i >= len(c.src) || c.src[i] != '"' {
		return i, ErrSyntax
	}
	i, err := c.text(i)
	if err != nil {
		return i, err
	}
	i = c.space(i)
	if i >= len(c.src) || c.src[i] != ':' {
		return i, ErrSyntax
	}
	return i + 1, nil
}

// scalar reads a number, true, false or null.
func (c *compactor) scalar(i int) (int, error) {
	n := scalarLen(c.src[i:])
	if n <= 0 {
		return i - n, ErrSyntax
	}
	return i + n, nil
}
