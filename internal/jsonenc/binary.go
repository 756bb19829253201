// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/base64"
	"encoding/hex"
)

// AppendHex appends b as a quoted string of lower-case hexadecimal digits.
func AppendHex(dst, b []byte) []byte {
	if n := 2*len(b) + 2; cap(dst)-len(dst) < n {
		dst = grow(dst, n)
	}
	return append(hex.AppendEncode(append(dst, '"'), b), '"')
}

// AppendBase64 appends b as a quoted string in standard base64 with padding
// (RFC 4648, section 4).
func AppendBase64(dst, b []byte) []byte {
	n := base64.StdEncoding.EncodedLen(len(b)) + 2
	j := len(dst)
	if cap(dst)-j < n {
		dst = grow(dst, n)
	}
	dst = dst[:j+n]
	dst[j] = '"'
	base64.StdEncoding.Encode(dst[j+1:], b)
	dst[j+n-1] = '"'
	return dst
}
