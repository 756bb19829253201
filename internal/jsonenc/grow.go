// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "slices"

// grow returns dst with room for n more bytes and some to spare, so that a line
// that outgrows its buffer does not grow again with its next field. It is kept
// out of line because it is rare and its callers are hot.
//
//go:noinline
func grow(dst []byte, n int) []byte {
	return slices.Grow(dst, n+len(dst)/2+64)
}
