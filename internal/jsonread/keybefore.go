// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"unicode/utf8"
)

// keyBefore returns the key that ends before the separator at i, and the double
// quote after it, with its backslashes, if there is one. It does not look
// further back than first.
func (m *masker) keyBefore(first, i int) (name, quote []byte) {
	src, j := m.src, i
	if k := m.spaceBefore(first, j, true); k > first && src[k-1] == '"' {
		j = k
	} else {
		j = m.spaceBefore(first, j, false)
	}
	for range 3 { // user[password]=, params['password'] =, user[password][]=
		switch {
		case j > first && (src[j-1] == ']' || src[j-1] == '[' && j < i && src[j] == ']'):
			j--
		case j-first > 3 && src[j-3] == '%' && src[j-2] == '5' && lower(src[j-1])-'b' <= 'd'-'b':
			j -= 3
		}
	}
	if j > first {
		switch src[j-1] {
		case '"':
			width := quoteWidth(m.backslashesBefore(first, j-1))
			quote = src[j-width : j]
			j -= width
		case '\'', '`':
			j--
		}
	}
	if name := m.wordBefore(first, j); name != nil {
		return name, quote
	}
	for _, phrase := range m.keys.phrases {
		k := j - len(phrase)
		if k >= first && equalFold(src[k:j], phrase) && m.isBoundary(first, k) {
			return src[k:j], quote
		}
	}
	if quote != nil && m.escapedBefore(first, j, quote) {
		return quote, quote
	}
	return nil, nil
}

// spaceBefore returns where the spaces and escaped tabs before j begin, and, if
// lines is set, the escaped line ends.
//
//go:noinline
func (m *masker) spaceBefore(first, j int, lines bool) int {
	for j > first {
		j--
		if c := m.src[j]; c == ' ' {
			continue
		} else if !isBlank(c, lines) || j == first || m.src[j-1] != '\\' {
			return j + 1
		}
		for j > first && m.src[j-1] == '\\' {
			j--
		}
	}
	return j
}

// isBlank reports whether c is the letter of an escape of white space.
func isBlank(c byte, lines bool) bool { return c == 't' || lines && (c == 'n' || c == 'r') }

// wordBefore returns the word that ends at j if it is a key. The letters of an
// escape sequence before the key do not belong to it; if it is uncertain
// whether they are one, wordBefore tries both.
func (m *masker) wordBefore(first, j int) []byte {
	src, k := m.src, j
	for k > first && j-k < m.keys.reach && inWord(src[k-1]) {
		k--
	}
	if k == j {
		return nil
	}
	if name := m.known(k, j); name != nil && m.isBoundary(first, k) {
		return name
	}
	if k == first {
		return nil
	}
	skip := 0
	switch src[k-1] {
	case '\\':
		if skip = 1; src[k] == 'u' {
			skip = len(`u0000`)
		}
	case '%': // as in %26password=
		skip = 2
	default:
		return nil
	}
	if k+skip >= j {
		return nil
	}
	return m.known(k+skip, j)
}

// known returns src[k:j], without leading hyphens, if it is a key.
func (m *masker) known(k, j int) []byte {
	for k < j && m.src[k] == '-' {
		k++
	}
	if k < j && m.keys.has(m.src[k:j]) {
		return m.src[k:j]
	}
	return nil
}

// isBoundary reports whether a word can begin at k: the byte before it is not
// part of a word, nor a backslash that makes its first letter an escape.
func (m *masker) isBoundary(first, k int) bool {
	if k == first {
		return true
	}
	switch c := m.src[k-1]; {
	case c == '\\':
		return m.backslashesBefore(first, k)%2 == 0
	case !inWord(c) || !inWord(m.src[k]):
		return true
	}
	return k-2 >= first && m.src[k-2] == '\\' ||
		k-6 >= first && m.src[k-6] == '\\' && m.src[k-5] == 'u'
}

// escapedBefore reports whether the text that ends at j and began with the same
// quote is a key once its \uXXXX are decoded, at any depth of quotation.
func (m *masker) escapedBefore(first, j int, quote []byte) bool {
	name := m.src[max(first, j-len(quote)*6*m.keys.reach):j]
	if bytes.IndexByte(name, '\\') < 0 {
		return false
	}
	name = name[bytes.LastIndex(name, quote)+1:]
	if len(name) < len(quote) {
		return false
	}
	n := len(m.dst) // the end of m.dst serves as scratch space
	for i := len(quote) - 1; i < len(name); {
		if name[i] == '\\' {
			for i+1 < len(name) && name[i+1] == '\\' {
				i++
			}
			if r, width := unicodeEscape(name[i:]); width > 0 {
				m.dst = utf8.AppendRune(m.dst, r)
				i += width
				continue
			}
		}
		m.dst = append(m.dst, name[i])
		i++
	}
	decoded := m.dst[n:]
	m.dst = m.dst[:n]
	return m.keys.has(decoded)
}
