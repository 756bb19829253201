// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"iter"
	"strings"
)

// Missing iterates over the members of fields, encoded as in a line, that line
// does not have with the same value: the unescaped key, and the value as JSON.
// The keys are valid until the next one.
func Missing(line, fields []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for key, value := range Fields(fields) {
			if bytes.IndexByte(key, '\\') >= 0 {
				key, _ = AppendText(nil, key)
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

// MayShareKey reports whether two runs of encoded fields may have a key in
// common. It is false only if they have none.
func MayShareKey(a []byte, b string) bool {
	bits := keyBits(text(a))
	return bits != 0 && bits&keyBits(b) != 0
}

// keyBits sets a bit for each key of encoded fields, and for any other text
// after a comma and a quote.
func keyBits(fields string) (bits uint64) {
	for {
		i := strings.Index(fields, `,"`)
		if i < 0 {
			return bits
		}
		fields = fields[i+2:]
		n := strings.IndexByte(fields, '"')
		if n > 0 {
			n += int(fields[0]) << 3
		}
		bits |= 1 << (uint(n) & 63)
	}
}
