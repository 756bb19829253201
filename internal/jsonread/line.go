// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"encoding/binary"
	"math/bits"
)

// marks describe the content of a string literal.
type marks uint8

const (
	hasSeparator marks = 1 << iota // there may be a colon or an equals sign, escaped or not
	hasEscape                      // an escape sequence
	hasForeign                     // an escape sequence not of jsonenc: \/ or \uXXXX
)

// Every byte of a word set to the same value.
const (
	all01       = 0x0101010101010101
	all80       = 0x80 * all01
	quotes      = '"' * all01
	backslashes = '\\' * all01
	colons      = ':' * all01
	equals      = '=' * all01
	commas      = ',' * all01
	braces      = '}' * all01
	fullWidths  = fullWidth * all01
)

// zeros sets the top bit of each zero byte of w. The lowest such bit is
// correct; borrows propagate upwards, so higher ones may be wrong.
func zeros(w uint64) uint64 { return (w - all01) &^ w & all80 }

// literal reads the string literal whose opening quote is at b[i]. It returns
// the offset after the closing quote, or -1 if there is none.
func literal(b []byte, i int) (end int, found marks) {
	i++
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		stop := zeros(w^quotes) | zeros(w^backslashes)
		separators := maySeparate(w)
		if stop == 0 {
			if separators != 0 {
				found |= hasSeparator
			}
			i += 8
			continue
		}
		stop &= -stop // the bytes that follow need not belong to the literal
		if separators&(stop-1) != 0 {
			found |= hasSeparator
		}
		i += bits.TrailingZeros64(stop) >> 3
		if b[i] == '"' {
			return i + 1, found
		}
		found |= escapeMarks(b, i)
		i += 2
	}
	for i < len(b) {
		switch b[i] {
		case '"':
			return i + 1, found
		case '\\':
			found |= escapeMarks(b, i)
			i++
		case ':', '=', fullWidth:
			found |= hasSeparator
		}
		i++
	}
	return -1, found
}

// maySeparate sets the top bit of each byte of w from ':' to '=' and beyond
// ASCII.
func maySeparate(w uint64) uint64 {
	high := w | all80 // so there are no borrows
	return ((high-colons)&^(high-equals-all01) | w) & all80
}

// separator returns the offset of the next byte of b from i on that may begin a
// separator, escaped or not, and len(b) if there is none.
func separator(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		stop := zeros(w^colons) | zeros(w^equals) | zeros(w^fullWidths) | zeros(w^backslashes)
		if stop != 0 {
			return i + bits.TrailingZeros64(stop)>>3
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ':', '=', fullWidth, '\\':
			return i
		}
	}
	return i
}

func escapeMarks(b []byte, i int) marks {
	switch {
	case i+1 < len(b) && (b[i+1] == 'u' || b[i+1] == '/'):
		return hasEscape | hasForeign
	case i+2 < len(b) && b[i+1] == '\\' && b[i+2] == 'u': // an escape of JSON in the text
		return hasEscape | hasSeparator
	}
	return hasEscape
}

// stringEnd is literal without the marks of separators.
func stringEnd(b []byte, i int) (end int, escaped bool) {
	i++
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		q, s := w^quotes, w^backslashes
		stop := ((q-all01)&^q | (s-all01)&^s) & all80
		if stop == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(stop) >> 3
		if b[i] == '"' {
			return i + 1, escaped
		}
		escaped = true
		i += 2
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			i++
		}
	}
	return -1, escaped
}

// value returns the offset after the value that begins at b[i], or -1 if it
// has no end.
func value(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		i, _ = stringEnd(b, i)
		return i
	case '{', '[':
		return container(b, i)
	}
	return scalarEnd(b, i)
}

// scalarEnd is value for numbers, true, false and null.
func scalarEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		folded := w | 0x20*all01 // ] becomes }
		if stop := zeros(folded^commas) | zeros(folded^braces) | zeros(w^quotes); stop != 0 {
			i += bits.TrailingZeros64(stop) >> 3
			break
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', '}', ']':
			return i
		case '"':
			return -1
		}
	}
	return i
}

// container is value for objects and arrays.
func container(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i, _ = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// A member is one "key":value of an object.
type member struct {
	from, colon, to int  // bounds of the member, and the colon between key and value
	escaped         bool // there is an escape sequence in the key
}

// memberAt reads the member that begins at b[i].
func memberAt(b []byte, i int) (m member, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return m, false
	}
	m.from = i
	if m.colon, m.escaped = stringEnd(b, i); m.colon < 0 || m.colon >= len(b) || b[m.colon] != ':' {
		return m, false
	}
	m.to = value(b, m.colon+1)
	return m, m.to >= 0 && m.to < len(b)
}

// firstMember returns the offset of the first member of line, or -1 if there is
// none. A line without its first members begins with a comma.
func firstMember(line []byte) int {
	if len(line) < 2 || line[0] != '{' && line[0] != ',' || line[1] != '"' {
		return -1
	}
	return 1
}

// nextMember returns the offset of the member after the member that ends at to,
// or -1 after the last member.
func nextMember(line []byte, to int) int {
	if line[to] != ',' {
		return -1
	}
	return to + 1
}

// key returns the key as it is in line, without its quotes.
func (m *member) key(line []byte) []byte { return line[m.from+1 : m.colon-1] }
