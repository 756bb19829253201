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

const space = " \t\r\n"

// An encoder writes one line at a time.
type encoder struct {
	flatten bool
	begun   bool // a field has been written
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
	e.begun, e.depth, e.path = false, 0, e.path[:0]
	dst, ok := e.object(dst, line)
	if !ok {
		dst = appendForeign(dst[:from], line)
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
	for s := new(jsonread.Span); members.Next(s); {
		dst = e.field(dst, line, s)
	}
	return dst, members.Complete()
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
	if e.begun {
		dst = append(dst, ' ')
	}
	e.begun = true
	if e.depth > 0 {
		dst = append(dst, e.path...)
	}
	if s.OfKey == jsonread.PlainText && len(key) > 0 {
		dst = append(dst, key...)
	} else {
		dst = e.appendKey(dst, key)
	}
	dst = append(dst, '=')
	switch c := value[0]; c {
	case '"':
		return appendString(dst, value, s.OfValue)
	case '{', '[':
		return e.appendJSON(dst, value)
	}
	return append(dst, value...)
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
