// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"hash/maphash"
	"slices"
)

// fewFields is the number of fields up to which they are compared one by one.
// Above it a hash table is made, as 10,000 fields would take 50 million
// comparisons.
const fewFields = 16

// A field is a top-level member and how it relates to those with the same key.
type field struct {
	from, colon, to int32 // bounds of the member, and the colon between key and value
	name, nameEnd   int32 // the decoded key in Scratch.names; name is -1 without an escape
	first           int32 // index of the first field with this key, which may be this one
	last            int32 // set at the first field with a key: index of the last one
	number          int32 // set at the first field with a key: the last number that Rename has used
	hash            uint64
}

// nameOf returns the decoded key of f, valid until s.names changes.
func (s *Scratch) nameOf(line []byte, f *field) []byte {
	if f.name < 0 {
		return line[f.from+1 : f.colon-1]
	}
	return s.names[f.name:f.nameEnd]
}

// find returns the index of the first of n fields with that key, or -1.
func (s *Scratch) find(line, name []byte, hash uint64, n int) int {
	if len(s.table) > 0 {
		return int(s.table[s.slot(line, name)]) - 1
	}
	for i := range s.fields[:n] {
		f := &s.fields[i]
		if f.hash == hash && string(s.nameOf(line, f)) == string(name) {
			return i
		}
	}
	return -1
}

// addToTable adds the last field, with that index and key, to the table.
func (s *Scratch) addToTable(line, name []byte, i int) {
	if 2*len(s.fields) > len(s.table) {
		s.rehash(line)
	} else if int(s.fields[i].first) == i {
		s.table[s.slot(line, name)] = int32(i + 1)
	}
}

// hashSeed prevents an attacker from choosing keys that collide.
var hashSeed = maphash.MakeSeed()

// slot returns the index in the table at which the field with that key is or
// belongs.
func (s *Scratch) slot(line, name []byte) int {
	mask := len(s.table) - 1
	i := int(maphash.Bytes(hashSeed, name)) & mask
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
		if f := &s.fields[i]; int(f.first) == i {
			s.table[s.slot(line, s.nameOf(line, f))] = int32(i + 1)
		}
	}
}
