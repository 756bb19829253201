// SPDX-License-Identifier: Apache-2.0

package jsonread

// A Scratch is working memory that calls reuse. The zero value is ready to use.
// It serves one call at a time and refers to no line after that.
type Scratch struct {
	fields []field
	names  []byte  // keys that had to be decoded
	table  []int32 // hash table of indexes into fields plus one; empty while there are few

	parts []part
	order []uint64 // parts ordered by size, with the index
	sizes []int    // sizes of strings
	end   int      // end of the last member
}

// The size of an element of the larger slices, in words.
const (
	fieldWords = 5
	partWords  = 7
)

// Size returns the number of bytes that s keeps for the next call, so that its
// owner can discard a Scratch that an unusual line has made large.
func (s *Scratch) Size() int {
	words := cap(s.fields)*fieldWords + cap(s.parts)*partWords + cap(s.order) + cap(s.sizes)
	return words*8 + cap(s.table)*4 + cap(s.names)
}
