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

// A Text describes the characters of a string literal. The classes may be too
// low.
type Text uint8

// The classes of texts.
const (
	AnyText   Text = iota // may have escape sequences, and characters beyond ASCII
	ASCIIText             // printable ASCII without escape sequences
	PlainText             // ASCIIText without spaces and = { } [ ]
)

// Next returns the next member: its name without quotes, and its value, with
// the classes of both. The class of a value that is not a string is AnyText. ok
// is false if there is no complete member.
func (m *Members) Next() (name, value []byte, ofName, ofValue Text, ok bool) {
	src, start := m.c.src, m.next
	m.next = -1
	if start < 0 {
		return nil, nil, 0, 0, false
	}
	if start = m.c.space(start); start >= len(src) || src[start] != '"' {
		return nil, nil, 0, 0, false
	}
	colon, ofName := asciiText(src, start)
	if ofName == AnyText {
		var err error
		if colon, err = m.c.text(start); err != nil {
			return nil, nil, 0, 0, false
		}
	}
	end := colon - 1
	if colon = m.c.space(colon); colon >= len(src) || src[colon] != ':' {
		return nil, nil, 0, 0, false
	}
	from := m.c.space(colon + 1)
	if from >= len(src) {
		return nil, nil, 0, 0, false
	}
	to := from
	switch b := src[from]; {
	case b == '"':
		if to, ofValue = asciiText(src, from); ofValue > AnyText {
			break
		}
		fallthrough
	case b == '{', b == '[':
		var err error
		if to, err = m.c.value(from, maxValidDepth); err != nil {
			return nil, nil, 0, 0, false
		}
	default:
		to += scalarLen(src[from:])
	}
	if to <= from {
		return nil, nil, 0, 0, false
	}
	m.end = to
	if i := m.c.space(to); i < len(src) && src[i] == ',' {
		m.next = i + 1
	}
	return src[start+1 : end : end], src[from:to:to], ofName, ofValue, true
}

// Complete reports whether only a closing brace, and white space, follow the
// last member that Next returned.
func (m *Members) Complete() bool {
	i := m.c.space(max(m.end, 0))
	return m.end > 0 && i < len(m.c.src) && m.c.src[i] == '}' && m.c.space(i+1) == len(m.c.src)
}

// asciiText reads the string literal at i. It returns the offset after it and
// its class, which is AnyText if it has to be read by other means.
func asciiText(b []byte, i int) (end int, of Text) {
	const size = 8
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
			return 0, AnyText
		case special&all80 != 0:
			return at + 1, ASCIIText
		}
		return at + 1, PlainText
	}
	return 0, AnyText
}

// specials sets the top bit of each ASCII byte of w that is a space or one of =
// { } [ ]. The lowest such bit is correct.
func specials(w uint64) uint64 {
	folded := w | 0x20*all01 // [ and ] become { and }
	return ((w ^ 0x20*all01) - all01) | ((w ^ equals) - all01) |
		((folded ^ braces) - all01) | ((folded ^ opening) - all01)
}
