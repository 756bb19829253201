// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"encoding/binary"
	"math/bits"
)

// Members reads the members of an object in their order, as Fields does, and
// classifies their texts. Views use it for each line; in a program without one,
// Fields is smaller.
type Members struct {
	c    compactor
	next int // offset of the next member, or -1
	end  int // offset after the last value that was read
}

// MembersOf returns the Members of obj.
func MembersOf(obj []byte) Members {
	m := Members{c: compactor{src: obj}}
	m.next = m.c.first()
	m.end = m.next
	return m
}

// A Span is the place of a member in its object, and the classes of its texts.
// The class of a value that is not a string is AnyText.
type Span struct {
	OfKey, OfValue  Text
	key, keyEnd     int // bounds of the key, without its quotes
	value, valueEnd int
}

// Key returns the key, escaped and without its quotes: a part of obj.
func (s *Span) Key(obj []byte) []byte { return obj[s.key:s.keyEnd] }

// Value returns the value as raw JSON, a part of obj.
func (s *Span) Value(obj []byte) []byte { return obj[s.value:s.valueEnd] }

// A Text describes the characters of a string literal. The classes may be too
// low.
type Text uint8

// The classes of texts.
const (
	AnyText   Text = iota // may have escape sequences, and characters beyond ASCII
	ASCIIText             // printable ASCII without escape sequences
	PlainText             // ASCIIText without spaces and = { } [ ]
)

// Next sets s to the next member. It returns false if there is no complete one.
func (m *Members) Next(s *Span) bool {
	c, i := &m.c, m.next
	m.next = -1
	if i < 0 {
		return false
	}
	if i = c.space(i); i >= len(c.src) || c.src[i] != '"' {
		return false
	}
	s.key = i + 1
	if i, s.OfKey = c.classify(i); i < 0 {
		return false
	}
	s.keyEnd = i - 1
	if i = c.space(i); i >= len(c.src) || c.src[i] != ':' {
		return false
	}
	if i = c.space(i + 1); i >= len(c.src) {
		return false
	}
	s.value, s.OfValue = i, AnyText
	switch c.src[i] {
	case '"':
		if i, s.OfValue = c.classify(i); i < 0 {
			return false
		}
	case '{', '[':
		var err error
		if i, err = c.value(i, maxValidDepth); err != nil {
			return false
		}
	default:
		n := scalarLen(c.src[i:])
		if n <= 0 {
			return false
		}
		i += n
	}
	s.valueEnd, m.end = i, i
	if i = c.space(i); i < len(c.src) && c.src[i] == ',' {
		m.next = i + 1
	}
	return true
}

// Complete reports whether only a closing brace, and white space, follow the
// last member that Next has found.
func (m *Members) Complete() bool {
	i := m.c.space(max(m.end, 0))
	return m.end > 0 && i < len(m.c.src) && m.c.src[i] == '}' && m.c.space(i+1) == len(m.c.src)
}

// classify reads the string literal at i. It returns the offset after it, or -1
// if there is none, and its class.
func (c *compactor) classify(i int) (end int, of Text) {
	const size = 8
	b := c.src
	var special uint64
	for at := i + 1; at < len(b) && len(b) >= size; at += size {
		// The zeros that are shifted in at the end of b are control bytes.
		last := min(at, len(b)-size)
		w := binary.LittleEndian.Uint64(b[last:]) >> (uint(at-last) * 8 & 63)
		stop := ((w ^ 2*all01) - 0x21*all01) | ((w ^ backslashes) - all01) | (w + all01) | w
		stop &= all80 // the lowest bit is correct, since borrows and carries propagate upwards
		if stop == 0 {
			special |= specials(w)
			continue
		}
		special |= specials(w) & (stop&-stop - 1)
		at += bits.TrailingZeros64(stop) >> 3
		switch {
		case at >= len(b) || b[at] != '"':
			return c.anyText(i)
		case special&all80 != 0:
			return at + 1, ASCIIText
		}
		return at + 1, PlainText
	}
	return c.anyText(i)
}

// anyText is classify for a literal that has to be read by other means.
func (c *compactor) anyText(i int) (end int, of Text) {
	end, err := c.text(i)
	if err != nil {
		return -1, AnyText
	}
	return end, AnyText
}

// specials sets the top bit of each ASCII byte of w that is a space or one of =
// { } [ ]. The lowest such bit is correct.
func specials(w uint64) uint64 {
	folded := w | 0x60*all01 // = and ] become }; [ and ; become {
	return ((w ^ 0x20*all01) - all01) | ((folded ^ braces) - all01) | ((folded ^ opening) - all01)
}
