// SPDX-License-Identifier: Apache-2.0

package lineedit

// A Class says when Shorten may touch a top-level member.
type Class uint8

// The classes.
const (
	Free  Class = iota // may be cut and left out
	Late               // only when that does not suffice for the free ones
	Never              // stays as it is
)

// Shorten appends line to dst, cut to at most max bytes.
func Shorten(dst, line []byte, max int, class func(key []byte) Class, s *Scratch) []byte {
	return append(dst, line...)
}
