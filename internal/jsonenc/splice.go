// SPDX-License-Identifier: Apache-2.0

package jsonenc

// Splice replaces b[from:end] with text. It is slices.Replace for one type,
// which saves a few kilobytes in every program.
func Splice(b []byte, from, end int, text string) []byte {
	size := len(b)
	b = append(b, text...) // grow b
	behind := copy(b[from+len(text):], b[end:size])
	copy(b[from:], text)
	return b[:from+len(text)+behind]
}
