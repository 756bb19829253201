// SPDX-License-Identifier: Apache-2.0

package jsonscan

// maxValidDepth bounds the nesting that Valid accepts; it is the bound of
// encoding/json.
const maxValidDepth = 10000

// AppendCompact appends the JSON value src to dst without the white space
// between its tokens.
func AppendCompact(dst, src []byte, maxDepth int) ([]byte, error) {
	c := compactor{src: src, dst: dst, rewrite: true}
	if _, err := c.document(maxDepth); err != nil {
		return dst, err
	}
	return c.dst, nil
}

// Valid reports whether src is one JSON value.
func Valid(src []byte) bool {
	c := compactor{src: src}
	_, err := c.document(maxValidDepth)
	return err == nil
}

// ErrorOffset returns the offset at which AppendCompact(nil, src, maxDepth)
// finds its error, and -1 if there is none.
func ErrorOffset(src []byte, maxDepth int) int {
	c := compactor{src: src}
	i, err := c.document(maxDepth)
	if err == nil {
		return -1
	}
	return i
}

// document reads one value and the white space around it.
func (c *compactor) document(depth int) (int, error) {
	i, err := c.value(0, depth)
	if err != nil {
		return i, err
	}
	i = c.space(i)
	if i < len(c.src) {
		return i, ErrSyntax
	}
	c.flush(i, i)
	return i, nil
}
