// SPDX-License-Identifier: Apache-2.0

package logs

// maxPattern is the maximum length of a pattern.
const maxPattern = 160

// appendPattern appends a message in which the parts that differ from line to
// line, words with digits and quoted text, are replaced by a star.
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

func isWordByte(c byte) bool {
	switch {
	case c-'0' <= 9, c|0x20 >= 'a' && c|0x20 <= 'z', c == '-', c == '_', c == '.', c >= 0x80:
		return true
	}
	return false
}
