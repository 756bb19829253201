// SPDX-License-Identifier: Apache-2.0

// Package rawjson reads the raw JSON values that [nib.Record.Fields] and
// [nib.Record.Lookup] return, without allocating. It is for destinations that
// write lines in a format of their own:
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

// Fields iterates over the members of an object: the key as it stands there,
// escaped and without its quotes, and the value as raw JSON. Both lie within
// object. The iteration ends where object stops being one.
func Fields(object []byte) iter.Seq2[[]byte, []byte] { return jsonread.Fields(object) }

// Elements iterates over the elements of an array as raw JSON. They lie within
// array. The iteration ends where array stops being one.
func Elements(array []byte) iter.Seq[[]byte] { return jsonread.Elements(array) }

// AppendText appends the text that escaped stands for, the characters between
// the quotes of a JSON string: a key of Fields, a [nib.Record.Message], or a
// string value without its quotes. The result is UTF-8. What is not the inside
// of a JSON string is appended as it is.
func AppendText(dst, escaped []byte) []byte {
	dst, ok := jsonread.AppendText(dst, escaped)
	if !ok {
		return append(dst, escaped...)
	}
	return dst
}
