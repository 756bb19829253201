// SPDX-License-Identifier: Apache-2.0

package jsonread

// maxValidDepth bounds the nesting that Valid accepts; it is the bound of
// encoding/json.
const maxValidDepth = 10000

// AppendCompact appends the JSON value src to dst and leaves out the white
// space around and between its tokens. Numbers and escape sequences stay as
// they are, byte for byte; characters that package jsonenc does not let through
// unescaped are escaped, and bytes that are not UTF-8, as well as escaped
// surrogates that are not part of a pair, become U+FFFD.
//
// The error is ErrSyntax if src is anything else than one JSON value (RFC 8259;
// a byte order mark is not allowed), and ErrDepth if its arrays and objects are
// nested more than maxDepth deep; dst is then returned as it was, but the bytes
// after it may have changed. src and dst must not overlap. It allocates only
// to grow dst, and needs stack in proportion to the depth: one frame for each
// 64 levels.
func AppendCompact(dst, src []byte, maxDepth int) ([]byte, error) {
	c := compactor{src: src, dst: dst, rewrite: true}
	if _, err := c.document(maxDepth); err != nil {
		return dst, err
	}
	return c.dst, nil
}

// Valid reports whether src is one JSON value with the white space that RFC
// 8259 allows around it, nested at most 10000 deep. It allocates nothing.
func Valid(src []byte) bool {
	c := compactor{src: src}
	_, err := c.document(maxValidDepth)
	return err == nil
}

// ErrorOffset returns the offset at which AppendCompact(nil, src, maxDepth)
// finds its error, and -1 if there is none. It is for messages: it reads src
// once more.
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
