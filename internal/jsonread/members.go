// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/jsonenc"
)

// Members reads the members of an object in their order, as Fields does. Views
// use it for each line; in a program without one, Fields is smaller.
type Members struct {
	src  []byte
	next int // offset of the next member, or -1
	end  int // offset after the last value that was read
}

// MembersOf returns the Members of obj.
func MembersOf(obj []byte) Members {
	c := compactor{src: obj}
	i := c.first()
	return Members{obj, i, i}
}

// A Span is the place of a member in its object.
type Span struct {
	key, keyEnd     int // bounds of the key, without its quotes
	value, valueEnd int
}

// IsSet reports whether s is the place of a member.
func (s *Span) IsSet() bool { return s.valueEnd > 0 }

// Key returns the key, escaped and without its quotes: a part of obj.
func (s *Span) Key(obj []byte) []byte { return obj[s.key:s.keyEnd] }

// Value returns the value as raw JSON, a part of obj.
func (s *Span) Value(obj []byte) []byte { return obj[s.value:s.valueEnd] }

// Next sets s to the next member. It returns false if there is no complete one.
func (m *Members) Next(s *Span) bool {
	if m.next < 0 {
		return false
	}
	c := compactor{src: m.src}
	from := c.space(m.next) + len(`"`)
	var key []byte
	key, s.value, s.valueEnd, m.next = c.member(from - len(`"`))
	if key == nil {
		return false
	}
	s.key, s.keyEnd, m.end = from, from+len(key), s.valueEnd
	return true
}

// Complete reports whether only a closing brace, and white space, follow the
// last member that was read.
func (m *Members) Complete() bool {
	c := compactor{src: m.src}
	i := after(m.src, max(m.end, 0), '}')
	return m.end > 0 && i > 0 && c.space(i) == len(c.src)
}

// Pairs describes how a view writes members: as key=value with texts around it.
type Pairs struct {
	before, equals affix
	after          byte
	quotesEqual    bool           // a text with = is quoted
	special        [32 * 32]uint8 // bits of the keys that AppendPairs leaves out
}

// An affix is a text of at most 8 bytes.
type affix struct {
	text uint64
	size int
}

// NewPairs returns a Pairs with before in front of a key, equals behind it,
// each at most 8 bytes long, and after behind the value. A text with = is in
// quotes if quotesEqual is true. AppendPairs leaves out members with a special
// key, which is escaped as in a line, and a few others.
func NewPairs(before, equals string, after byte, quotesEqual bool, special ...string) *Pairs {
	p := &Pairs{
		before: affixOf(before), equals: affixOf(equals), after: after, quotesEqual: quotesEqual,
	}
	for _, key := range special {
		if key != "" {
			i, bit := mark([]byte(key))
			p.special[i] |= bit
		}
	}
	return p
}

func affixOf(s string) affix {
	var b [8]byte
	size := copy(b[:], s)
	return affix{binary.LittleEndian.Uint64(b[:]), size}
}

// put writes a to dst[j:], and up to 8 bytes behind it.
func (a *affix) put(dst []byte, j int) int {
	binary.LittleEndian.PutUint64(dst[j:], a.text)
	return j + a.size
}

// mark returns the place of a key in Pairs.special, by its ends and its length.
func mark(key []byte) (i int, bit uint8) {
	n := len(key)
	return int(key[0]&31) | int(key[n-1]&31)<<5, 1 << (n & 7)
}

// pairRoom is more than a pair is longer than its member, and what may be
// written behind it.
const pairRoom = 32

// AppendPairs appends the next members to dst as pairs, as long as all views
// write them alike: an ASCII key without spaces and = { } [ ], and a number,
// boolean or null, or a text that needs no quotes anywhere, or that is quoted
// everywhere, unchanged, because it has a space or a line end, is empty, or is
// a number. It sets s to the member after these. It returns false if there is
// none.
func (m *Members) AppendPairs(dst []byte, p *Pairs, s *Span) (_ []byte, ok bool) {
	src := m.src
	for m.next >= 0 {
		i := after(src, m.next, '"')
		m.next = -1
		if i < 0 {
			return dst, false
		}
		start := i - 1
		dst = slices.Grow(dst, len(src)-i+pairRoom)
		out, j := dst[:cap(dst)], len(dst)
		j = p.before.put(out, j)
		n := copyPlain(out, j, src, i)
		s.key, s.keyEnd = i, i+n
		if i += n; n == 0 || i >= len(src) || src[i] != '"' {
			m.next = start
			return dst, m.Next(s)
		}
		if i = after(src, i+1, ':'); i < 0 {
			return dst, false
		}
		for i < len(src) && isSpace(src[i]) {
			i++
		}
		s.value = i
		j = p.equals.put(out, j+n)
		if i, j = copyValue(out, j, src, i); i < 0 {
			i, j = p.copyText(out, j, src, s.value, ^i)
		}
		if i < 0 {
			m.next = start
			return dst, m.Next(s)
		}
		s.valueEnd, m.end, m.next = i, i, after(src, i, ',')
		if k, bit := mark(src[s.key:s.keyEnd]); p.special[k]&bit != 0 {
			return dst, true
		}
		out[j] = p.after
		dst = out[:j+1]
	}
	return dst, false
}

// copyValue copies the value at src[i] to dst[j:], unless it is an object, an
// array, or a text that copyText may copy. It returns the offsets after both,
// or ^i and j, with the offset that it has read to.
func copyValue(dst []byte, j int, src []byte, i int) (nextI, nextJ int) {
	from := i
	if i >= len(src) || src[i] != '"' {
		n := scalarLen(src[i:])
		if n <= 0 {
			return ^i, j
		}
		return i + n, j + copy(dst[j:], src[i:i+n])
	}
	i++
	n := copyPlain(dst, j, src, i)
	if i += n; i >= len(src) || src[i] != '"' {
		return ^i, j
	}
	if text := src[i-n : i]; n > 0 && !IsScalar(text) {
		return i + 1, j + n
	}
	return i + 1, j + copy(dst[j:], src[from:i+1])
}

// copyText is copyValue for a text at src[from] that begins with plain
// characters up to src[i]. It returns -1 if AppendPairs leaves the value out.
func (p *Pairs) copyText(dst []byte, j int, src []byte, from, i int) (nextI, nextJ int) {
	if i == from || i >= len(src) { // no text
		return -1, j
	}
	quoted := p.quotesEqual && src[i] == '='
	if src[i] >= utf8.RuneSelf || src[i] == '=' && !quoted {
		i += unquotedLen(src[i:], p.quotesEqual)
		if i < len(src) && src[i] == '"' {
			return i + 1, j + copy(dst[j:], src[from+1:i])
		}
		quoted = p.quotesEqual && i < len(src) && src[i] == '='
	}
	if i = quotedEnd(src, from, i, quoted); i < 0 {
		return -1, j
	}
	return i, j + copy(dst[j:], src[from:i])
}

// unquotedLen returns the length of the text at the front of b that needs no
// quotes.
func unquotedLen(b []byte, quotesEqual bool) int {
	i := 0
	for i < len(b) {
		r, size := rune(b[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(b[i:])
			if r == utf8.RuneError || unicode.IsSpace(r) || jsonenc.Escaped(r) {
				break
			}
		} else if notPlain(uint64(r)|'a'*(all01-1)) != 0 && (r != '=' || quotesEqual) {
			break
		}
		i += size
	}
	return i
}

// quotedEnd returns the offset after the text at src[from], which was read up
// to i, or -1 if a view may change it, or write it without quotes. If quoted is
// true, it has a character that needs them.
func quotedEnd(src []byte, from, i int, quoted bool) int {
	for ; ; i += len(`\n`) {
		i += jsonenc.CleanLen(src[i:])
		switch {
		case i+1 >= len(src):
			return -1
		case src[i] == '"' && (quoted || bytes.IndexByte(src[from:i], ' ') >= 0):
			return i + 1
		case src[i] != '\\':
			return -1
		case strings.IndexByte(`"nrtbf`, src[i+1]) >= 0:
			quoted = true
		case src[i+1] != '\\':
			return -1
		}
	}
}

// copyPlain copies the plain text at src[i] to dst[j:], and returns its length.
// Up to 8 bytes behind it may be written as well.
func copyPlain(dst []byte, j int, src []byte, i int) int {
	from := i
	for ; i+8 <= len(src); i, j = i+8, j+8 {
		w := binary.LittleEndian.Uint64(src[i:])
		binary.LittleEndian.PutUint64(dst[j:], w)
		if end := notPlain(w); end != 0 {
			return i - from + bits.TrailingZeros64(end)>>3
		}
	}
	for ; i < len(src) && notPlain(uint64(src[i])|'a'*(all01-1)) == 0; i, j = i+1, j+1 {
		dst[j] = src[i]
	}
	return i - from
}

// notPlain sets the top bit of each byte of w that is not a plain character:
// control characters, space, " \ = { } [ ] and their neighbours ! | ; <, DEL,
// and all that is not ASCII. The lowest such bit is correct, since borrows and
// carries propagate upwards.
func notPlain(w uint64) uint64 {
	folded := w | 0x60*all01 // moves = [ \ ] to { | }
	fromBrace, aboveBrace := folded+(0x80-'{')*all01, folded+(0x7f-'}')*all01
	return ((w - '#'*all01) | fromBrace&^aboveBrace | (w + all01) | w) & all80
}
