// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"iter"
)

// Missing iterates over those of fields, encoded as in a line, that line does
// not have with the same value: the unescaped key, and the value as JSON. The
// keys are valid until the next one.
func Missing(line, fields []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for key, value := range Fields(fields) {
			if bytes.IndexByte(key, '\\') >= 0 {
				key, _ = AppendUnquoted(nil, append(append([]byte{'"'}, key...), '"'))
			}
			if had, ok := Lookup(line, string(key)); ok && bytes.Equal(had, value) {
				continue
			}
			if !yield(key, value) {
				return
			}
		}
	}
}
