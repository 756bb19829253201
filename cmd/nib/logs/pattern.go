// SPDX-License-Identifier: Apache-2.0

package logs

import "bytes"

// maxPattern is the maximum length of a pattern.
const maxPattern = 160

// appendPattern appends a message in which the parts that differ from line to
// line, words with digits, addresses of IPv6 and quoted text, are replaced by a
// star.
func appendPattern(dst, text []byte) []byte {
	from := len(dst)
	for i := 0; i < len(text) && len(dst)-from < maxPattern; {
		c := text[i]
		if c == '"' || c == '\'' && (i == 0 || !isWordByte(text[i-1])) {
			end := i + 1
			for end < len(text) && text[end] != c {
				end++
			}
			if end < len(text) {
				dst = append(dst, c, '*', c)
				i = end + 1
				continue
			}
		}
		if n := colonsLen(text[i:]); n > 0 && (i == 0 || !isWordByte(text[i-1])) {
			dst = append(dst, '*')
			i += n
			continue
		}
		end, digits := i, false
		for end < len(text) && isWordByte(text[end]) {
			digits = digits || text[end]-'0' <= 9
			end++
		}
		switch {
		case end == i:
			dst = append(dst, c)
			i++
		case digits:
			dst = append(dst, '*')
			i = end
		default:
			dst = append(dst, beginning(text[i:end], maxPattern)...)
			i = end
		}
	}
	return dst
}

// colonsLen returns the length of an address of IPv6, or of another number with
// two colons such as a time, at the beginning of text, or 0.
func colonsLen(text []byte) int {
	n, colons, digits := 0, 0, 0
	for ; n < len(text); n++ {
		switch c := text[n]; {
		case c == ':':
			colons++
		case c-'0' <= 9:
			digits++
		case c|0x20 < 'a' || c|0x20 > 'f':
			if colons < 2 || digits == 0 || isWordByte(c) {
				return 0
			}
			return len(bytes.TrimRight(text[:n], ":"))
		}
	}
	if colons < 2 || digits == 0 {
		return 0
	}
	return len(bytes.TrimRight(text[:n], ":"))
}

func isWordByte(c byte) bool {
	switch {
	case c-'0' <= 9, c|0x20 >= 'a' && c|0x20 <= 'z', c == '-', c == '_', c == '.', c >= 0x80:
		return true
	}
	return false
}
