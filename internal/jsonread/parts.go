// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"
)

// A part is a top-level member of a line that is too long.
type part struct {
	member
	class Class
	gone  bool
	texts int // bytes in the strings of its value
}

// bare returns the size without strings: the minimum that cutting them can
// reach.
func (p *part) bare() int { return p.to - p.from - p.texts }

// split reads the members of line into s.parts. The number is 1, or if the line
// already has a key truncated, the number of that key. ok is false if line is
// not an object.
func (s *Scratch) split(line []byte, class func(key string) Class) (number int, ok bool) {
	s.parts, s.order, s.end = s.parts[:0], s.order[:0], 1
	for i := firstMember(line); i > 0; i = nextMember(line, s.end) {
		s.parts = append(s.parts, part{})
		p := &s.parts[len(s.parts)-1] // set in place: a copy would wait for the stores to its parts
		if p.member, ok = memberAt(line, i); !ok {
			return 0, false
		}
		name := p.key(line)
		if p.escaped {
			s.names, _ = AppendUnquoted(s.names[:0], line[p.from:p.colon])
			name = s.names
		}
		if n := truncatedNumber(name); n > 0 {
			s.order = append(s.order, n)
		}
		if class != nil {
			p.class = class(text(name))
		}
		if p.class < Never {
			eachText(line[p.colon+1:p.to], func(n int) { p.texts += n })
		}
		s.end = p.to
	}
	slices.Sort(s.order)
	number = 1
	for _, taken := range s.order {
		if taken == uint64(number) {
			number++
		}
	}
	begins := len(line) > 1 && (line[0] == '{' || line[0] == ',')
	return number, begins && s.end < len(line) && line[s.end] == '}'
}

// truncatedNumber returns 1 for the key truncated, n for truncated#n, and 0 for
// others. An n that is larger than a line can have members may overflow.
func truncatedNumber(key []byte) (n uint64) {
	if len(key) < len(truncated) || string(key[:len(truncated)]) != truncated {
		return 0
	}
	digits := key[len(truncated):]
	if len(digits) == 0 {
		return 1
	}
	if digits[0] != '#' {
		return 0
	}
	for _, c := range digits[1:] {
		if c-'0' > 9 || n == 0 && c == '0' {
			return 0
		}
		n = 10*n + uint64(c-'0')
	}
	if n == 1 {
		n = 0
	}
	return n
}

// isKey reports whether the literal that ends at end is a key.
func isKey(b []byte, end int) bool { return end < len(b) && b[end] == ':' }

// eachText calls f with the length of each string of a value that is not a key.
func eachText(b []byte, f func(n int)) {
	if len(b) == 0 {
		return
	}
	switch b[0] {
	case '"':
		f(len(b) - 2)
		return
	case '{', '[':
	default:
		return
	}
	for i := 0; i < len(b); {
		if b[i] != '"' {
			i++
			continue
		}
		end, _ := stringEnd(b, i)
		if !isKey(b, end) {
			f(end - i - 2)
		}
		i = end
	}
}

// dropParts marks as gone the members that must be removed as a whole, so that
// cutting strings can shorten the line from size to room bytes. It returns the
// size of the rest, with the strings.
func (s *Scratch) dropParts(size, room int) int {
	bare := size
	for i := range s.parts {
		bare -= s.parts[i].texts
	}
	for class := Free; class < Never && bare > room; class++ {
		s.order = s.order[:0]
		for i := range s.parts {
			if s.parts[i].class == class {
				largestFirst := math.MaxUint32 - uint32(s.parts[i].bare())
				s.order = append(s.order, uint64(largestFirst)<<32|uint64(i))
			}
		}
		slices.Sort(s.order)
		for _, o := range s.order {
			if bare <= room {
				break
			}
			p := &s.parts[uint32(o)]
			p.gone = true
			bare -= p.bare() + len(",")
			size -= p.to - p.from + len(",")
		}
	}
	return size
}

// limits returns the maximum lengths of the strings of free and late members
// that save excess bytes, if possible.
func (s *Scratch) limits(line []byte, excess int) (free, late int) {
	free, excess = s.limit(line, Free, excess)
	late, _ = s.limit(line, Late, excess)
	return free, late
}

// limit returns the length to which the strings of a class have to be cut to
// save excess bytes, and the number of excess bytes that remain.
func (s *Scratch) limit(line []byte, class Class, excess int) (limit, rest int) {
	if excess <= 0 {
		return math.MaxInt, 0
	}
	sizes, sum := s.sizes[:0], 0
	for i := range s.parts {
		if p := &s.parts[i]; p.class == class && !p.gone && p.texts > 0 {
			sum += p.texts
			eachText(line[p.colon+1:p.to], func(n int) { sizes = append(sizes, n) })
		}
	}
	s.sizes = sizes
	if sum <= excess {
		return 0, excess - sum
	}
	// Strings that are not longer than the limit save nothing: the others alone
	// are cut, to a limit that is not lower. A round removes a third of the
	// strings, or raises the limit by half as much as the round before.
	for {
		longer := sizes[:0]
		limit, sum = (sum-excess)/len(sizes), 0
		for _, n := range sizes {
			if n > limit {
				longer = append(longer, n)
				sum += n
			}
		}
		if len(longer) == len(sizes) {
			return limit, 0
		}
		sizes = longer
	}
}

// appendParts appends the brace or comma before the members, and those that are
// not gone, with the strings of free and late ones cut to so many bytes.
func (s *Scratch) appendParts(dst, line []byte, free, late int) []byte {
	dst = append(dst, line[0])
	first := len(dst)
	for i := range s.parts {
		p := &s.parts[i]
		if p.gone {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		limit := math.MaxInt
		switch p.class {
		case Free:
			limit = free
		case Late:
			limit = late
		}
		if p.texts <= limit {
			dst = append(dst, line[p.from:p.to]...)
			continue
		}
		dst = append(dst, line[p.from:p.colon+1]...)
		dst = appendCut(dst, line[p.colon+1:p.to], limit)
	}
	return dst
}

// appendCut appends b, a value, with each string in it cut to limit bytes.
func appendCut(dst, b []byte, limit int) []byte {
	if b[0] == '"' {
		return append(append(dst, b[:1+cutLen(b[1:len(b)-1], limit)]...), '"')
	}
	from := 0
	for i := 0; i < len(b); {
		if b[i] != '"' {
			i++
			continue
		}
		end, _ := stringEnd(b, i)
		if text := b[i+1 : end-1]; len(text) > limit && !isKey(b, end) {
			dst = append(dst, b[from:i+1+cutLen(text, limit)]...)
			from = end - 1
		}
		i = end
	}
	return append(dst, b[from:]...)
}

// cutLen returns the length of the longest beginning of text, the raw text of a
// string, that has at most limit bytes, which are fewer than text has, and ends
// between two characters.
func cutLen(text []byte, limit int) int {
	n := 0
	for {
		i := bytes.IndexByte(text[n:limit], '\\')
		if i < 0 {
			break
		}
		width := 2
		if text[n+i+1] == 'u' {
			_, width = unicodeEscape(text[n+i:])
		}
		if n += i; n+width > limit || width == 0 {
			return n
		}
		n += width
	}
	for limit > n && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}
