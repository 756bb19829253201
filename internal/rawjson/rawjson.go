// SPDX-License-Identifier: Apache-2.0

// Package rawjson reads the raw JSON values that [nib.Record.Fields] and
// [nib.Record.Lookup] return, without allocating. It is for destinations that
// write lines in another format:
//
//	var texts func(dst, value []byte) []byte
//	texts = func(dst, value []byte) []byte {
//		switch value[0] {
//		case '{':
//			for _, v := range rawjson.Fields(value) {
//				dst = texts(dst, v)
//			}
//		case '[':
//			for v := range rawjson.Elements(value) {
//				dst = texts(dst, v)
//			}
//		case '"':
//			dst = rawjson.AppendText(dst, value[1:len(value)-1])
//		}
//		return dst
//	}
//
// All functions are safe for concurrent use.
package rawjson

import (
	"iter"

	"github.com/nib-log/nib/internal/jsonread"
)

// Fields iterates over the members of an object: the key as written there,
// escaped and without its quotes, and the value as raw JSON. Both alias object.
// The iteration ends where object is not valid JSON.
func Fields(object []byte) iter.Seq2[[]byte, []byte] { return jsonread.Fields(object) }

// Elements iterates over the elements of an array as raw JSON. They alias
// array. The iteration ends where array is not valid JSON.
func Elements(array []byte) iter.Seq[[]byte] { return jsonread.Elements(array) }

// AppendText appends the decoded text of escaped, the characters between the
// quotes of a JSON string: a key of Fields, a [nib.Record.Message], or a string
// value without its quotes. The result is UTF-8. If escaped is not valid JSON,
// it is appended unchanged.
func AppendText(dst, escaped []byte) []byte {
	dst, ok := jsonread.AppendText(dst, escaped)
	if !ok {
		return append(dst, escaped...)
	}
	return dst
}
