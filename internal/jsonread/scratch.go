// SPDX-License-Identifier: Apache-2.0

package jsonread

// A Scratch is working memory that calls use again and again. The zero value is
// ready. It serves one call at a time and refers to no line once that is over.
type Scratch struct {
	fields []field
	names  []byte  // keys that had to be decoded
	table  []int32 // hash table of indexes into fields plus one; empty while there are few

	parts []part
	order []int // indexes into parts
	sizes []int // of strings
	end   int   // of the last member
}

// What an element of the larger slices takes, in words.
const (
	fieldWords = 9
	partWords  = 7
)

// Size returns how many bytes s keeps for the next call, so that its owner can
// drop one that an unusual line has made large.
func (s *Scratch) Size() int {
	words := cap(s.fields)*fieldWords + cap(s.parts)*partWords + cap(s.order) + cap(s.sizes)
	return words*8 + cap(s.table)*4 + cap(s.names)
}
