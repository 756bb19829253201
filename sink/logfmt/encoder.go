// SPDX-License-Identifier: Apache-2.0

package logfmt

import (
	"bytes"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

// Bounds on flattening: each value is preceded by its path, so without them a
// line could grow to the square of its length.
const (
	maxDepth = 32
	maxPath  = 256
)

// maxNesting is the maximum depth of JSON within a field. jsonread.Members
// returns nothing deeper.
const maxNesting = 10000

var pairs = jsonread.NewPairs("", "=", ' ', true)

const space = " \t\r\n"

// An encoder writes one line at a time.
type encoder struct {
	flatten bool
	depth   int
	path    []byte // the keys of the enclosing objects, escaped, each with its dot
	text    []byte // scratch space

	buf    []byte // buffer for the output of the sink
	record nib.Record
}

// line appends a line and its newline.
func (e *encoder) line(dst, line []byte) []byte {
	from := len(dst)
	line = jsonread.TrimSpace(line)
	e.depth, e.path = 0, e.path[:0]
	dst, ok := e.object(dst, line)
	switch {
	case !ok:
		dst = appendForeign(dst[:from], line)
	case len(dst) > from:
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}

// object appends the fields of line. It returns false unless line is a single
// JSON object.
func (e *encoder) object(dst, line []byte) ([]byte, bool) {
	if len(line) < 2 || line[0] != '{' {
		return dst, false
	}
	members := jsonread.MembersOf(line)
	for s := new(jsonread.Span); ; {
		var more bool
		if dst, more = members.AppendPairs(dst, pairs, s); !more {
			return dst, members.Complete()
		}
		dst = e.field(dst, line, s)
	}
}

// field appends one field of obj, the object whose path is e.path, or the
// fields of an object.
func (e *encoder) field(dst, obj []byte, s *jsonread.Span) []byte {
	key, value := s.Key(obj), s.Value(obj)
	if value[0] == '{' && e.flatten {
		if dst, ok := e.flattened(dst, key, value); ok {
			return dst
		}
	}
	dst = append(e.appendKey(append(dst, e.path...), key), '=')
	switch value[0] {
	case '"':
		dst = appendString(dst, value)
	case '{', '[':
		dst = e.appendJSON(dst, value)
	default:
		dst = append(dst, value...)
	}
	return append(dst, ' ')
}

// flattened appends the fields of an object. If the object is written as JSON
// it appends nothing and returns false.
func (e *encoder) flattened(dst, key, object []byte) ([]byte, bool) {
	if e.depth == maxDepth || len(bytes.TrimLeft(object[1:], space)) == len("}") {
		return dst, false
	}
	outer := len(e.path)
	e.path = append(e.appendKey(e.path, key), '.')
	ok := len(e.path) <= maxPath
	if ok {
		e.depth++
		members := jsonread.MembersOf(object)
		for s := new(jsonread.Span); members.Next(s); {
			dst = e.field(dst, object, s)
		}
		e.depth--
	}
	e.path = e.path[:outer]
	return dst, ok
}

// appendJSON appends an array or object as quoted text.
func (e *encoder) appendJSON(dst, value []byte) []byte {
	text, err := jsonread.AppendCompact(e.text[:0], value, maxNesting)
	e.text = text
	if err != nil { // cannot happen: it was read before, so it is JSON
		text = value
	}
	return jsonenc.AppendBytes(dst, text)
}
