// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonread"
)

// The fields of AnyValue, and of the messages in it.
const (
	anyString = 1
	anyBool   = 2
	anyInt    = 3
	anyDouble = 4
	anyArray  = 5
	anyList   = 6

	keyField   = 1
	valueField = 2
	listValues = 1 // field number in ArrayValue and KeyValueList
)

// maxDepth is the maximum depth of objects and arrays in a value; deeper ones
// become a JSON string. Each level is up to three messages, and protobuf
// decoders accept 100.
const maxDepth = 24

// appendKeyValue appends a field that is a KeyValue. key is escaped, value raw
// JSON.
func (e *encoder) appendKeyValue(number byte, key, value []byte, depth int) {
	room := 1 // a short scalar is copied only once
	if value[0] == '{' || value[0] == '[' {
		room = 2
	}
	var at, in int
	e.b, at = open(e.b, number, room)
	e.b = appendBytes(e.b, keyField, e.text(key))
	e.b, in = open(e.b, valueField, room)
	e.appendValue(value, depth)
	e.b = shut(e.b, in, room)
	e.b = shut(e.b, at, room)
}

// appendTextValue appends a field that is a KeyValue with a text.
func appendTextValue[T []byte | string](dst []byte, number byte, key string, text T) []byte {
	dst, at := open(dst, number, 1)
	dst = appendBytes(dst, keyField, key)
	dst, in := open(dst, valueField, 1)
	dst = appendBytes(dst, anyString, text)
	return shut(shut(dst, in, 1), at, 1)
}

// text returns the decoded contents of a JSON string, valid until the next
// call.
func (e *encoder) text(escaped []byte) []byte {
	if isPlain(escaped) || bytes.IndexByte(escaped, '\\') < 0 && utf8.Valid(escaped) {
		return escaped
	}
	text, ok := jsonread.AppendText(e.plain[:0], escaped)
	if !ok {
		text = append(text, escaped...)
	}
	e.plain = text
	return text
}

// isPlain reports whether text is short ASCII without escapes, as most keys and
// many values are.
func isPlain(text []byte) bool {
	if len(text) > 24 {
		return false
	}
	for _, c := range text {
		if c >= utf8.RuneSelf || c == '\\' {
			return false
		}
	}
	return true
}

// appendValue appends the field of an AnyValue. null has none.
func (e *encoder) appendValue(value []byte, depth int) {
	switch value[0] {
	case '"':
		e.b = appendBytes(e.b, anyString, e.text(value[1:len(value)-1]))
	case 't':
		e.b = append(e.b, tag(anyBool, varintType), 1)
	case 'f':
		e.b = append(e.b, tag(anyBool, varintType), 0)
	case 'n':
	case '{', '[':
		e.appendNested(value, depth+1)
	default:
		e.b = appendNumber(e.b, value)
	}
}

// appendNested appends an object or an array.
func (e *encoder) appendNested(value []byte, depth int) {
	if depth > maxDepth {
		e.b = appendBytes(e.b, anyString, validBytes(value))
		return
	}
	var at int
	if value[0] == '{' {
		e.b, at = open(e.b, anyList, 2)
		for k, v := range jsonread.Fields(value) {
			e.appendKeyValue(listValues, k, v, depth)
		}
		e.b = shut(e.b, at, 2)
		return
	}
	e.b, at = open(e.b, anyArray, 2)
	for v := range jsonread.Elements(value) {
		var in int
		e.b, in = open(e.b, listValues, 1)
		e.appendValue(v, depth)
		e.b = shut(e.b, in, 1)
	}
	e.b = shut(e.b, at, 2)
}

// appendNumber appends a number: an integer that fits an int64 as int_value,
// one with a fraction or an exponent as double_value. A number that neither can
// represent becomes a string of its digits, as the specification requires
// (https://opentelemetry.io/docs/specs/otel/common/attribute-type-mapping/).
func appendNumber(dst, text []byte) []byte {
	if bytes.ContainsAny(text, ".eE") || string(text) == "-0" {
		if v, err := strconv.ParseFloat(string(text), 64); err == nil {
			return appendFixed64(dst, anyDouble, math.Float64bits(v))
		}
	} else if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return binary.AppendUvarint(append(dst, tag(anyInt, varintType)), uint64(v))
	}
	return appendBytes(dst, anyString, text)
}
