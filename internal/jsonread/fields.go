// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

// Lookup finds the last top-level member of obj whose decoded name is key and
// returns its value as raw JSON, which is a part of obj. Fields describes the
// accepted values of obj; obj is UTF-8, as every line of nib is. It allocates
// nothing.
func Lookup(obj []byte, key string) (value []byte, ok bool) {
	from, end, ok := Locate(obj, key)
	if !ok {
		return nil, false
	}
	return obj[from:end:end], true
}

// Locate is Lookup for the place of the value: obj[from:end].
func Locate(obj []byte, key string) (from, end int, ok bool) {
	c := compactor{src: obj}
	for i := c.first(); i >= 0; {
		var name []byte
		var v, to int
		if name, v, to, i = c.member(i); name != nil && equalName(name, key) {
			from, end, ok = v, to, true
		}
	}
	return from, end, ok
}

// Fields iterates over the top-level members of obj in their order: the name as
// in obj, escaped and without its quotes, and the value as raw JSON. Both are
// parts of obj, without spare capacity, and are valid as long as obj is.
//
// obj is an object, or the beginning of one; instead of its brace it may begin
// with the comma that precedes a member. The iteration ends where obj stops
// being an object, for example at the end of an unfinished one. A value that is
// cut off is left out, unless it is a number, which may look complete.
func Fields(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		c := compactor{src: obj}
		for i := c.first(); i >= 0; {
			var name []byte
			var from, to int
			name, from, to, i = c.member(i)
			if name == nil || !yield(name, obj[from:to:to]) {
				return
			}
		}
	}
}

// first returns the offset of the first member, or -1.
func (c *compactor) first() int {
	i := c.space(0)
	if i >= len(c.src) || c.src[i] != '{' && c.src[i] != ',' {
		return -1
	}
	return i + 1
}

// member reads the member at i, whose value is src[from:to]. It returns the
// offset of the next one, or -1 if there is none, and a nil name if there is no
// complete member at i.
func (c *compactor) member(i int) (name []byte, from, to, next int) {
	start := c.space(i)
	if start >= len(c.src) || c.src[start] != '"' {
		return nil, 0, 0, -1
	}
	end, err := c.text(start)
	if err != nil {
		return nil, 0, 0, -1
	}
	if i = after(c.src, end, ':'); i < 0 {
		return nil, 0, 0, -1
	}
	from = c.space(i)
	if to, err = c.value(from, maxValidDepth); err != nil {
		return nil, 0, 0, -1
	}
	return c.src[start+1 : end-1 : end-1], from, to, after(c.src, to, ',')
}

// after returns the offset after b, which may follow white space at src[i], or
// -1 if it does not.
func after(src []byte, i int, b byte) int {
	if i < len(src) && src[i] == b {
		return i + 1
	}
	return afterSpace(src, i, b)
}

//go:noinline
func afterSpace(src []byte, i int, b byte) int {
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	if i < len(src) && src[i] == b {
		return i + 1
	}
	return -1
}

// equalName reports whether the escaped name decodes to key. An escape is
// longer than its character, so most names differ in length.
func equalName(name []byte, key string) bool {
	if len(name) <= len(key) {
		return string(name) == key && bytes.IndexByte(name, '\\') < 0
	}
	if c := name[0]; c != '\\' && c < utf8.RuneSelf && (key == "" || c != key[0]) {
		return false // most names end here
	}
	var buf [utf8.UTFMax]byte
	for len(name) > 0 {
		r, n := DecodeRune(name)
		text := utf8.AppendRune(buf[:0], r)
		if n == 0 || len(key) < len(text) || key[:len(text)] != string(text) {
			return false
		}
		key = key[len(text):]
		name = name[n:]
	}
	return key == ""
}

// Elements iterates over the elements of the array arr as raw JSON. They are
// parts of arr, without spare capacity. The iteration ends where arr stops
// being an array.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := compactor{src: arr}
		i := c.space(0)
		if i >= len(arr) || arr[i] != '[' {
			return
		}
		for {
			from := c.space(i + 1)
			to, err := c.value(from, maxValidDepth)
			if err != nil || !yield(arr[from:to:to]) {
				return
			}
			if i = c.space(to); i >= len(arr) || arr[i] != ',' {
				return
			}
		}
	}
}
