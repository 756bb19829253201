// SPDX-License-Identifier: Apache-2.0

package jsonenc

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// AppendString appends s as a quoted JSON string.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendText(dst, s)
	return append(dst, '"')
}

// AppendBytes appends the text in b as a quoted JSON string.
func AppendBytes(dst, b []byte) []byte {
	return AppendString(dst, string(b))
}

// AppendKey appends a comma, the quoted key and a colon.
func AppendKey(dst []byte, key string) []byte {
	dst = append(dst, ',')
	dst = AppendString(dst, key)
	return append(dst, ':')
}

// AppendKeyString appends a comma, the quoted key, a colon and the quoted
// string val.
func AppendKeyString(dst []byte, key, val string) []byte {
	return AppendString(AppendKey(dst, key), val)
}

// AppendKeyInt appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyInt(dst []byte, key string, v int64) []byte {
	return AppendInt(AppendKey(dst, key), v)
}

// AppendKeyUint appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyUint(dst []byte, key string, v uint64) []byte {
	return AppendUint(AppendKey(dst, key), v)
}

func appendText(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, "\xef\xbf\xbd"...)
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, "\\n"...)
		case r == '\r':
			dst = append(dst, "\\r"...)
		case r == '\t':
			dst = append(dst, "\\t"...)
		case r == '\b':
			dst = append(dst, "\\b"...)
		case r == '\f':
			dst = append(dst, "\\f"...)
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst
}
