// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/base64"
	"encoding/binary"
)

// AppendHex appends b as a quoted string of lower-case hexadecimal digits.
func AppendHex(dst, b []byte) []byte {
	n := 2*len(b) + 2
	j := len(dst)
	if cap(dst)-j < n {
		dst = grow(dst, n)
	}
	dst = dst[:j+n]
	out := dst[j:]
	out[0] = '"'
	putHex(out[1:], b)
	out[n-1] = '"'
	return dst
}

// putHex writes b in hexadecimal to the front of out, which has room for it.
func putHex(out, b []byte) {
	for _, c := range b {
		binary.LittleEndian.PutUint16(out, uint16(hexDigits[c>>4])|uint16(hexDigits[c&15])<<8)
		out = out[2:]
	}
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
