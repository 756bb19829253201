// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"iter"
	"unicode/utf8"
)

// Lookup finds the last top-level member of obj whose decoded name is key and
// returns its value as raw JSON, which lies within obj.
func Lookup(obj []byte, key string) (value []byte, ok bool) {
	for k, v := range Fields(obj) {
		if equalName(k, key) {
			value, ok = v, true
		}
	}
	return value, ok
}

// Fields iterates over the top-level members of obj in their order: the name as
// it stands there, escaped and without its quotes, and the value as raw JSON.
func Fields(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		c := compactor{src: obj}
		i := c.space(0)
		if i >= len(obj) || obj[i] != '{' && obj[i] != ',' {
			return
		}
		for {
			start := c.space(i + 1)
			colon, err := c.name(start)
			if err != nil {
				return
			}
			from := c.space(colon)
			to, err := c.value(from, maxValidDepth)
			if err != nil {
				return
			}
			if !yield(nameOf(obj[start:colon]), obj[from:to:to]) {
				return
			}
			i = c.space(to)
			if i >= len(obj) || obj[i] != ',' {
				return
			}
		}
	}
}

// nameOf strips the quotes, the colon and the white space between them.
func nameOf(b []byte) []byte {
	b = b[1 : len(b)-1]
	for b[len(b)-1] != '"' {
		b = b[:len(b)-1]
	}
	return b[: len(b)-1 : len(b)-1]
}

// equalName reports whether the escaped name decodes to key.
func equalName(name []byte, key string) bool {
	var buf [4]byte
	for len(name) > 0 {
		r, n := nextRune(name)
		if n == 0 {
			return false
		}
		text := utf8.AppendRune(buf[:0], r)
		if len(key) < len(text) || key[:len(text)] != string(text) {
			return false
		}
		key = key[len(text):]
		name = name[n:]
	}
	return key == ""
}
