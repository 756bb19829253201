// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"strconv"
)

// A Policy determines what happens to top-level members with the same key.
type Policy uint8

// The policies.
const (
	KeepAll   Policy = iota // all of them stay
	LastWins                // the last one stays in its place, those before it are removed
	FirstWins               // the first one stays in its place, those after it are removed
	Rename                  // all stay: the second becomes "key#2", the third "key#3"
)

// Duplicates appends line to dst, without the top-level members with the same
// key that p removes. Keys are compared as decoded, not as they are escaped.
// The remaining members keep their order and their bytes. Rename skips a number
// if the line has that key already, anywhere; so all keys differ in the end. s
// must not be used by concurrent calls. 0 allocs, except to grow dst and s.
func Duplicates(dst, line []byte, p Policy, s *Scratch) []byte {
	if p == KeepAll || p > Rename || !s.findTwins(line) {
		return append(dst, line...)
	}
	if p == Rename {
		return s.appendRenamed(dst, line)
	}
	start := len(dst)
	for i := range s.fields {
		f := &s.fields[i]
		if p == FirstWins && f.first != i || p == LastWins && s.fields[f.first].last != i {
			continue
		}
		dst = append(append(dst, ','), line[f.from:f.to]...)
	}
	dst[start] = '{'
	return append(dst, line[s.fields[len(s.fields)-1].to:]...)
}

// findTwins reads the members of line into s.fields and reports whether two of
// them have the same key.
func (s *Scratch) findTwins(line []byte) (found bool) {
	s.fields, s.names, s.table = s.fields[:0], s.names[:0], s.table[:0]
	var seen uint64 // one bit for each key, by its ends and length
	for i := firstMember(line); i > 0; i = nextMember(line, s.fields[len(s.fields)-1].to) {
		m, ok := memberAt(line, i)
		if !ok {
			return false
		}
		n := len(s.fields)
		f := field{member: m, name: -1, first: n, last: n, number: 1}
		name := m.key(line)
		if m.marks&hasEscape != 0 {
			f.name = len(s.names)
			s.names, _ = AppendUnquoted(s.names, line[m.from:m.colon])
			f.nameEnd = len(s.names)
			name = s.names[f.name:]
		}
		bit := uint64(1) << (endsOf(name) & 63)
		if seen&bit != 0 || len(s.table) > 0 {
			if twin := s.find(line, name); twin >= 0 {
				f.first, found = twin, true
				s.fields[twin].last = n
			}
		}
		seen |= bit
		s.fields = append(s.fields, f)
		if n >= fewFields {
			s.addToTable(line, name, n)
		}
	}
	return found
}

// endsOf distinguishes most keys of a line at the cost of two additions.
func endsOf(name []byte) int {
	n := len(name)
	if n == 0 {
		return 0
	}
	return n + 5*int(name[0]) + 11*int(name[n-1])
}

// appendRenamed writes the line with a number after each repeated key.
func (s *Scratch) appendRenamed(dst, line []byte) []byte {
	from := 0
	for i := range s.fields {
		f := &s.fields[i]
		if f.first == i {
			continue
		}
		end := f.colon - 1
		dst = append(append(dst, line[from:end]...), '#')
		dst = strconv.AppendInt(dst, int64(s.freeNumber(line, &s.fields[f.first])), 10)
		from = end
	}
	return append(dst, line[from:]...)
}

// freeNumber returns the next number with which the key of f is unique.
func (s *Scratch) freeNumber(line []byte, f *field) int {
	for {
		f.number++
		n := len(s.names) // the end of s.names serves as scratch space
		s.names = append(append(s.names, s.nameOf(line, f)...), '#')
		s.names = strconv.AppendInt(s.names, int64(f.number), 10)
		twin := s.find(line, s.names[n:])
		s.names = s.names[:n]
		if twin < 0 {
			return f.number
		}
	}
}
