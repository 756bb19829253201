// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"iter"
	"strings"
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

// MayShareKey reports whether two runs of encoded fields may have a key in
// common. It is false only if they have none.
func MayShareKey(a []byte, b string) bool {
	bits := keyBits(a, bytes.IndexByte)
	return bits != 0 && bits&keyBits(b, strings.IndexByte) != 0
}

// keyBits sets a bit for each key of encoded fields, and for whatever else is
// behind a comma and a quote. What looks like a key may be none, so the next
// one is looked for within it.
func keyBits[T []byte | string](fields T, index func(T, byte) int) (bits uint64) {
	for {
		i := index(fields, ',')
		if i < 0 {
			return bits
		}
		fields = fields[i+1:]
		if len(fields) > 0 && fields[0] == '"' {
			n := max(index(fields[1:], '"'), 0)
			bits |= 1 << ((uint(fields[min(n, 1)]) + uint(fields[n])<<2 + uint(n)<<4) & 63)
		}
	}
}
