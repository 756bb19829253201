// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"strconv"
)

// A Class determines when Shorten may change a top-level member.
type Class uint8

// The classes.
const (
	Free Class = iota // changed first
	Late              // if changing those does not suffice
	Never
)

// truncated is the key of the number of bytes left out.
const truncated = "truncated"

// Shorten appends line to dst, and if it is longer than limit bytes, including
// the newline, leaves out as much as necessary:
//
//  1. the strings in free members are cut, at any depth, the longest first: all
//     longer ones to the same number of bytes;
//  2. if necessary, the strings in late members too;
//  3. if necessary, whole free members go, the largest without their strings
//     first, and then late ones. Strings are cut only
//     as far as necessary.
//
// A string is cut between characters, never within an escape sequence or a
// surrogate pair. Keys are not cut, and members of class Never are not touched.
//
// A shortened line has one more member at its end, "truncated":N, where N is
// the number of bytes left out. If line has such a key already, it is
// truncated#2, or has the next free number. The result has at most limit bytes,
// unless the members of class Never and this one have more; then nothing else
// remains. Shortening it again changes nothing, unless it is still too long.
//
// class returns the class of each top-level member by its decoded key, which is
// valid during the call only; nil makes all of them free. s must not be used by
// concurrent calls. 0 allocs, except to grow dst and s.
func Shorten(dst, line []byte, limit int, class func(key string) Class, s *Scratch) []byte {
	if len(line) <= limit {
		return append(dst, line...)
	}
	number, ok := s.split(line, class)
	if !ok {
		return append(dst, line...)
	}
	var buf [len(truncated) + 32]byte
	added := append(append(buf[:0], `,"`...), truncated...)
	if number > 1 {
		added = strconv.AppendInt(append(added, '#'), int64(number), 10)
	}
	added = append(added, `":`...)

	room := limit - len(added) - decimalLen(len(line))
	size := s.dropParts(len(line), room)
	free, late := s.limits(line, size-room)

	start := len(dst)
	dst = s.appendParts(dst, line, free, late)
	switch {
	case len(dst) > start+1:
	case line[0] == ',':
		dst = dst[:start] // it is left out, too
	default:
		added = added[1:]
	}
	tail := line[s.end:]
	gone := len(line) - (len(dst) - start) - len(tail)
	dst = strconv.AppendInt(append(dst, added...), int64(gone), 10)
	return append(dst, tail...)
}

// decimalLen returns the number of digits of n.
func decimalLen(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}
