// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "slices"

// grow returns dst with room for n more bytes and some to spare, so that a line
// that outgrows its buffer does not grow again with its next field. It is kept
// out of line because it is rare and its callers are hot.
//
//go:noinline
func grow(dst []byte, n int) []byte {
	return slices.Grow(dst, n+len(dst)/2+64)
}

// Splice replaces b[from:end] with text. It is slices.Replace for one type,
// which saves a few kilobytes in every program.
func Splice(b []byte, from, end int, text string) []byte {
	size := len(b)
	b = append(b, text...) // grow b
	behind := copy(b[from+len(text):], b[end:size])
	copy(b[from:], text)
	return b[:from+len(text)+behind]
}
