// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"iter"
)

// isLogfmt reports whether a line is a sequence of key=value: two fields at
// least, or a field that only log lines have.
func isLogfmt(text []byte) bool {
	eq := bytes.IndexByte(text, '=')
	if eq <= 0 || !isKey(text[:eq]) {
		return false
	}
	fields := 0
	for key := range logfmtFields(text) {
		if fields++; fields > 1 || isKnownKey(key) {
			return true
		}
	}
	return false
}

// isKey reports whether text may be a key of logfmt.
func isKey(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c == '"' || c == '=' || c == 0x7f {
			return false
		}
	}
	return len(text) > 0
}

// logfmtFields iterates over the fields of a line of logfmt, and stops where
// the line is not logfmt. A word without an equals sign is skipped.
func logfmtFields(text []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for {
			text = bytes.TrimLeft(text, " \t")
			end := 0
			for end < len(text) && text[end] > ' ' && text[end] != '=' {
				end++
			}
			if end == len(text) {
				return
			}
			key := text[:end:end]
			if text[end] != '=' {
				if text[end] != ' ' && text[end] != '\t' {
					return
				}
				text = text[end:]
				continue
			}
			if !isKey(key) {
				return
			}
			text = text[end+1:]
			n := logfmtValueLen(text)
			if n < 0 {
				return
			}
			value := text[:n:n]
			if n == 0 {
				value = emptyText
			}
			if !yield(key, value) {
				return
			}
			text = text[n:]
		}
	}
}

var emptyText = []byte(`""`)

// logfmtValueLen returns the length of the value at the front of text, or -1 if
// its quotes are not closed.
func logfmtValueLen(text []byte) int {
	if len(text) > 0 && text[0] == '"' {
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return -1
	}
	n := 0
	for n < len(text) && text[n] > ' ' {
		n++
	}
	return n
}
