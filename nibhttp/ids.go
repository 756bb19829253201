// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
)

// idLen is the length of a request id that is made up: 128 random bits in
// hexadecimal. They come from math/rand/v2, seeded by the system: unlike each
// other, but no secret.
const idLen = 32

// maxClientID limits the id that a client adds to every line.
const maxClientID = 128

// RequestID returns the id of the request that ctx belongs to, or "" without
// [Middleware]. A made-up id is a new string: 1 malloc.
func RequestID(ctx context.Context) string {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x.requestID()
	}
	return ""
}

func makeID(dst *[idLen]byte) {
	var b [idLen / 2]byte
	binary.NativeEndian.PutUint64(b[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64())
	hex.Encode(dst[:], b[:])
}

// clientID returns the X-Request-Id of the client if there is exactly one and
// it is 1 to 128 characters of visible ASCII without quotes, backslash, comma,
// semicolon and angle brackets: nothing that a reader of logs, a shell or a
// page that shows it could take for more than an id. Otherwise it returns "".
func clientID(h http.Header) string {
	v := h["X-Request-Id"]
	if len(v) != 1 || len(v[0]) > maxClientID {
		return ""
	}
	for i := range len(v[0]) {
		switch c := v[0][i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == '~', c == ':', c == '/', c == '+', c == '=', c == '@':
		default:
			return ""
		}
	}
	return v[0]
}

// parseTraceparent reads the header of W3C Trace Context (Recommendation of
// 23 November 2021, section 3.2): version, trace-id, parent-id and flags. ids
// are in lower-case hexadecimal and not zero; version ff is invalid; a version
// above 00 may have more behind a dash. trace and span lie within s.
func parseTraceparent(s string) (trace, span string, ok bool) {
	const size = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-00")
	if len(s) < size || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return "", "", false
	}
	version, trace, span, flags := s[:2], s[3:35], s[36:52], s[53:55]
	switch {
	case version == "ff", !isHex(version), !isHex(flags):
		return "", "", false
	case !isHex(trace), isZero(trace), !isHex(span), isZero(span):
		return "", "", false
	case len(s) > size && (version == "00" || s[size] != '-'):
		return "", "", false
	}
	return trace, span, true
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isZero(s string) bool {
	for i := range len(s) {
		if s[i] != '0' {
			return false
		}
	}
	return true
}
