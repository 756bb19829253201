// SPDX-License-Identifier: Apache-2.0

package jsonschema

import (
	"github.com/nib-log/nib/internal/jsonenc"
)

// An object is a JSON object. Unlike a map, it keeps the order of its members.
type object []member

// The value of a member is an object, a list, a string, a bool, or a number as
// int64 or uint64.
type member struct {
	key   string
	value any
}

// A list is a JSON array of such values.
type list []any

// width is the length from which an object takes several lines.
const width = 100

// appendLines appends o with each member on a separate line.
func (o object) appendLines(dst []byte, indent string) []byte {
	dst = append(dst, '{')
	inner := indent + "  "
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, '\n'), inner...)
		start := len(dst)
		dst = append(jsonenc.AppendString(dst, m.key), ": "...)
		dst = appendValue(dst, m.value, inner, width-len(inner)-(len(dst)-start))
	}
	return append(append(append(dst, '\n'), indent...), '}')
}

// appendValue appends v in as many lines as it needs. room is the remaining
// width of the first line.
func appendValue(dst []byte, v any, indent string, room int) []byte {
	start := len(dst)
	dst = appendInline(dst, v)
	if len(dst)-start <= room {
		return dst
	}
	switch v := v.(type) {
	case object:
		return v.appendLines(dst[:start], indent)
	case list:
		inner := indent + "  "
		dst = append(dst[:start], '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, '\n'), inner...)
			dst = appendValue(dst, e, inner, width-len(inner))
		}
		return append(append(append(dst, '\n'), indent...), ']')
	}
	return dst
}

// appendInline appends v in one line.
func appendInline(dst []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		dst = append(dst, '{')
		for i, m := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(jsonenc.AppendString(dst, m.key), ": "...)
			dst = appendInline(dst, m.value)
		}
		return append(dst, '}')
	case list:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendInline(dst, e)
		}
		return append(dst, ']')
	case string:
		return jsonenc.AppendString(dst, v)
	case bool:
		return jsonenc.AppendBool(dst, v)
	case int64:
		return jsonenc.AppendInt(dst, v)
	case uint64:
		return jsonenc.AppendUint(dst, v)
	}
	panic("jsonschema: a value of an unknown type")
}
