// SPDX-License-Identifier: Apache-2.0

package lineedit

import (
	"hash/maphash"
	"slices"

	"github.com/nib-log/nib/internal/jsonscan"
)

// fewFields is how many fields are compared one by one. Above it a hash table is
// made, as 10,000 fields would take 50 million comparisons.
const fewFields = 16

// A field is a top-level member and how it relates to those with the same key.
type field struct {
	member
	name, nameEnd int // the decoded key in Scratch.names; name is -1 if it stands in the line as it reads
	first         int // index of the first field with this key, maybe its own
	last          int // of the first field with a key: index of the last one
	number        int // of the first field with a key: the last number that Rename has given
}

// decode puts the key of f into s.names if it does not stand in the line as it
// reads.
func (s *Scratch) decode(line []byte, f *field) {
	if f.marks&hasEscape == 0 {
		return
	}
	f.name = len(s.names)
	s.names, _ = jsonscan.AppendUnquoted(s.names, line[f.from:f.colon])
	f.nameEnd = len(s.names)
}

// nameOf returns the decoded key of f, valid until s.names changes.
func (s *Scratch) nameOf(line []byte, f *field) []byte {
	if f.name < 0 {
		return f.key(line)
	}
	return s.names[f.name:f.nameEnd]
}

// find returns the index of the first field with that key, or -1.
func (s *Scratch) find(line, name []byte) int {
	if len(s.table) == 0 {
		return slices.IndexFunc(s.fields, func(f field) bool { return string(s.nameOf(line, &f)) == string(name) })
	}
	i := s.slot(line, name)
	return int(s.table[i]) - 1
}

// add appends f.
func (s *Scratch) add(line []byte, f field) {
	s.fields = append(s.fields, f)
	n := len(s.fields)
	switch {
	case n <= fewFields:
	case 2*n > len(s.table):
		s.rehash(line)
	case f.first == n-1:
		s.table[s.slot(line, s.nameOf(line, &f))] = int32(n)
	}
}

// seed keeps others from choosing keys that meet in one slot.
var seed = maphash.MakeSeed()

// slot returns where the table has the field with that key, or would have it.
func (s *Scratch) slot(line, name []byte) int {
	mask := len(s.table) - 1
	i := int(maphash.Bytes(seed, name)) & mask
	for s.table[i] != 0 && string(s.nameOf(line, &s.fields[s.table[i]-1])) != string(name) {
		i = (i + 1) & mask
	}
	return i
}

// rehash makes the table twice as large, a power of two, and fills it.
func (s *Scratch) rehash(line []byte) {
	n := max(4*fewFields, 2*len(s.table))
	s.table = slices.Grow(s.table[:0], n)[:n]
	clear(s.table)
	for i := range s.fields {
		if f := &s.fields[i]; f.first == i {
			s.table[s.slot(line, s.nameOf(line, f))] = int32(i + 1)
		}
	}
}
