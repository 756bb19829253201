// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"encoding/binary"
	"math"
	"math/bits"
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
// key that p removes, or nothing if all keys differ. Keys are compared as
// decoded, not as they are escaped. The remaining members keep their order and
// their bytes. Rename skips a number if the line has that key already,
// anywhere; so all keys differ in the end. s must not be used by concurrent
// calls. 0 allocs, except to grow dst and s.
func Duplicates(dst, line []byte, p Policy, s *Scratch) []byte {
	if p == KeepAll || p > Rename || !s.findTwins(line) {
		return dst
	}
	if p == Rename {
		return s.appendRenamed(dst, line)
	}
	start, from := len(dst), 0 // line[from:] has not been copied
	for i := range s.fields {
		f := &s.fields[i]
		stays := f.first
		if p == LastWins {
			stays = s.fields[stays].last
		}
		if int(stays) == i {
			continue
		}
		dst = append(dst, line[from:f.from-1]...) // without the comma or the brace
		from = int(f.to)
	}
	dst = append(dst, line[from:]...)
	dst[start] = line[0] // the first member may be gone
	return dst
}

// findTwins reads the members of line into s.fields and reports whether two of
// them have the same key.
func (s *Scratch) findTwins(line []byte) (found bool) {
	s.fields, s.names, s.table = s.fields[:0], s.names[:0], s.table[:0]
	if len(line) > math.MaxInt32 {
		return false
	}
	var seen [16]uint64 // one bit for each key, by its hash
	for i := firstMember(line); i > 0; i = nextMember(line, int(s.fields[len(s.fields)-1].to)) {
		colon, hash, escaped := keyEnd(line, i)
		if colon < 0 || colon >= len(line) || line[colon] != ':' {
			return false
		}
		to := value(line, colon+1)
		if to < 0 || to >= len(line) {
			return false
		}
		n := len(s.fields)
		s.fields = append(s.fields, field{})
		f := &s.fields[n] // set in place: a copy would wait for the stores to its parts
		f.from, f.colon, f.to, f.name = int32(i), int32(colon), int32(to), -1
		f.first, f.last, f.number = int32(n), int32(n), 1
		name := line[i+1 : colon-1]
		if escaped {
			name = s.decodeName(line, f)
			hash = hashOf(name)
		}
		f.hash = hash
		word, bit := &seen[hash>>60], uint64(1)<<(hash>>54&63)
		if *word&bit != 0 || len(s.table) > 0 {
			if twin := s.find(line, name, hash, n); twin >= 0 {
				f.first, found = int32(twin), true
				s.fields[twin].last = int32(n)
			}
		}
		*word |= bit
		if n >= fewFields {
			s.addToTable(line, name, n)
		}
	}
	return found
}

// decodeName decodes the key of a field.
func (s *Scratch) decodeName(line []byte, f *field) (name []byte) {
	f.name = int32(len(s.names))
	s.names, _ = AppendUnquoted(s.names, line[f.from:f.colon])
	f.nameEnd = int32(len(s.names))
	return s.names[f.name:]
}

// keyEnd is stringEnd for the key of a member, with its hash: 0 if the key has
// an escape sequence, and colon -1 if there is no key at i.
func keyEnd(b []byte, i int) (colon int, hash uint64, escaped bool) {
	if i >= len(b) || b[i] != '"' {
		return -1, 0, false
	}
	for at := i + 1; at+8 <= len(b); at += 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		stop := zeros(w^quotes) | zeros(w^backslashes)
		if stop == 0 {
			hash = bits.RotateLeft64(hash, 23) ^ w
			continue
		}
		n := bits.TrailingZeros64(stop) >> 3
		if at += n; b[at] != '"' {
			break
		}
		return at + 1, mix(hash, w&(1<<(8*n)-1), at-i-1), false
	}
	if colon, escaped = stringEnd(b, i); colon >= 0 && !escaped {
		hash = hashOf(b[i+1 : colon-1])
	}
	return colon, hash, escaped
}

// hashOf distinguishes the keys of most lines. Its upper bits are the best.
func hashOf(name []byte) (hash uint64) {
	size := len(name)
	for ; len(name) >= 8; name = name[8:] {
		hash = bits.RotateLeft64(hash, 23) ^ binary.LittleEndian.Uint64(name)
	}
	var last [8]byte
	copy(last[:], name)
	return mix(hash, binary.LittleEndian.Uint64(last[:]), size)
}

// mix adds the last bytes and the size, and spreads the bits by the golden
// ratio.
func mix(hash, last uint64, size int) uint64 {
	return (bits.RotateLeft64(hash, 23) ^ last + uint64(size)) * 0x9E3779B97F4A7C15
}

// appendRenamed writes the line with a number after each repeated key.
func (s *Scratch) appendRenamed(dst, line []byte) []byte {
	from := 0
	for i := range s.fields {
		f := &s.fields[i]
		if int(f.first) == i {
			continue
		}
		end := int(f.colon) - 1
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
		twin := s.find(line, s.names[n:], hashOf(s.names[n:]), len(s.fields))
		s.names = s.names[:n]
		if twin < 0 {
			return int(f.number)
		}
	}
}
