// SPDX-License-Identifier: Apache-2.0

package jsonenc

// Every byte of a word set to the same value.
const (
	all01 = 0x0101010101010101
	all02 = 0x02 * all01
	all21 = 0x21 * all01
	all5c = 0x5c * all01
	all80 = 0x80 * all01
)

// mark sets the top bit of each byte of w that cannot be copied unchanged:
// control bytes, the quote, the backslash, DEL and everything that is not
// ASCII; callers look at mark(w)&all80. The lowest such bit is right, and there
// is none if w is clean; above it there may be wrong ones, as carries and
// borrows run upwards.
//
//   - x^0x02 moves the quote (0x22) to 0x20 and leaves the control bytes below
//     0x20, so one subtraction of 0x21 finds both;
//   - x^0x5c makes the backslash 0;
//   - x+1 carries 0x7f and more into the top bit. 0xff becomes 0 there, but the
//     first subtraction finds it.
func mark(w uint64) uint64 {
	return ((w ^ all02) - all21) | ((w ^ all5c) - all01) | (w + all01)
}

// load4to7 returns the first and the last four bytes of s, which is 4 to 7
// bytes long, as one word.
func load4to7(s string) uint64 {
	return load32(s, 0) | load32(s, len(s)-4)<<32
}

// store4to7 writes n bytes that load4to7 returned.
func store4to7(b []byte, j, n int, w uint64) {
	store32(b, j, w)
	store32(b, j+n-4, w>>32)
}

// load1to3 returns the first, the middle and the last byte of s, which is 1 to
// 3 bytes long, and pads the word with spaces.
func load1to3(s string) uint64 {
	return load8(s, 0) | load8(s, len(s)>>1)<<8 | load8(s, len(s)-1)<<16 | 0x2020202020000000
}

// store1to3 writes n bytes that load1to3 returned.
func store1to3(b []byte, j, n int, w uint64) {
	store8(b, j, w)
	store8(b, j+n>>1, w>>8)
	store8(b, j+n-1, w>>16)
}
