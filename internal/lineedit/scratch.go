// SPDX-License-Identifier: Apache-2.0

package lineedit

// A Scratch is working memory that calls reuse. The zero value is ready. It
// serves one call at a time.
type Scratch struct {
	buf []byte
}

// Size returns how many bytes of memory s keeps, so that its owner can drop one
// that a huge line has made large.
func (s *Scratch) Size() int { return cap(s.buf) }
