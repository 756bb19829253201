// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"slices"
	"strings"

	"github.com/nib-log/nib/internal/contract"
)

// A kind is the role of a byte in a text.
type kind uint8

const (
	other  kind = iota
	word        // ASCII letters and digits, _ and -
	stop        // ends a value
	opener      // ( [ {
	closer      // ends a value unless a letter or digit follows it
	escape      // the backslash
	wide        // first byte of a character that may be punctuation
)

// The first bytes of the Unicode blocks with the punctuation of Chinese and
// Japanese texts. Each character has three.
const (
	general   = 0xe2
	cjk       = 0xe3
	fullWidth = 0xef
)

// Punctuation that is not ASCII.
const (
	wideSeparators = "：＝"
	wideStops      = "，；。、！）】》」』”’\u3000"
)

// isOneOf reports whether the character of three bytes at i is in list.
func (m *masker) isOneOf(list string, i int) bool {
	return i+3 <= m.end && strings.Contains(list, string(m.src[i:i+3]))
}

var kinds = func() (table [256]kind) {
	for c := range table {
		switch b := byte(c); {
		case b-'0' <= 9, b-'a' < 26, b-'A' < 26, b == '_', b == '-':
			table[c] = word
		case strings.IndexByte(" ,;&", b) >= 0:
			table[c] = stop
		case strings.IndexByte("([{", b) >= 0:
			table[c] = opener
		case strings.IndexByte(")]}>'`\"", b) >= 0:
			table[c] = closer
		case b == '\\':
			table[c] = escape
		case b == cjk || b == general || b == fullWidth:
			table[c] = wide
		}
	}
	return table
}()

// inWord reports whether c can be part of a word, and therefore of a key.
func inWord(c byte) bool { return kinds[c] == word }

// afterKey masks the value of the key name, whose separator is in src[i:from],
// and returns where to continue. quote is the quote after the key, if any: then
// the mask of a JSON number or object is quoted, so that the text stays JSON.
func (m *masker) afterKey(i, from int, name, quote []byte) int {
	for n := 1; n > 0 && from < m.end; from += n {
		switch m.src[from] {
		case ':', '=', '>':
			n = 1
		case '\\':
			var c byte
			if c, n = m.escapedSeparator(from); c == 0 {
				n = 0
			}
		default:
			n = 0
		}
	}
	header := from == i+1 && m.src[i] == ':' && isHeader(name)
	start := m.skipBlanks(from, len(quote) > 0) // JSON may have line ends
	header = header && start > from
	from, single := m.skipScheme(start)
	if q, to := m.quotedAt(from); q >= 0 {
		m.replace(q, to, contract.SecretText)
		return to
	}
	to := 0
	if header && !single {
		to = m.lineEnd(from)
	} else {
		to = m.tokenEnd(from)
	}
	if to == from {
		return to
	}
	if from > start || m.src[i] != ':' || m.isQuote(to, '"', len(quote)) {
		quote = nil
	}
	m.dst = append(append(m.dst, m.src[m.from:from]...), quote...)
	m.dst = append(append(m.dst, contract.SecretText...), quote...)
	m.from = to
	return to
}

// skipBlanks is spaceBefore for the text from i on.
//
//go:noinline
func (m *masker) skipBlanks(i int, lines bool) int {
	for i < m.end {
		n := i
		for n < m.end && m.src[n] == '\\' {
			n++
		}
		if n == m.end || n == i && m.src[i] != ' ' || n > i && !isBlank(m.src[n], lines) {
			break
		}
		i = n + 1
	}
	return i
}

// headers are the fields of HTTP whose values hold more than one token.
var headers = []string{"authorization", "proxy-authorization", "cookie", "set-cookie"}

func isHeader(name []byte) bool {
	return slices.ContainsFunc(headers, func(h string) bool {
		return len(h) == len(name) && equalFold(name, h)
	})
}

// schemes lists the schemes of HTTP authentication, which are not masked; true
// if a single token follows, not a list of parameters.
var schemes = []struct {
	name   string
	single bool
}{{"bearer", true}, {"basic", true}, {"digest", false}, {"token", false}}

// skipScheme skips the name of a scheme if a credential follows it.
func (m *masker) skipScheme(i int) (next int, single bool) {
	for _, s := range schemes {
		to := i + len(s.name)
		if to >= m.end || m.src[to] != ' ' || !equalFold(m.src[i:to], s.name) {
			continue
		}
		next := m.skipBlanks(to, false)
		if q, _ := m.quotedAt(next); q >= 0 || m.tokenEnd(next) > next {
			return next, s.single
		}
	}
	return i, false
}

// quotedAt returns the beginning and end of the text in the quotes that open at
// i; one or two letters may precede the quotes, as in Python. It returns -1 if
// there are none.
func (m *masker) quotedAt(i int) (from, to int) {
	p := i
	for p < m.end && p < i+2 && strings.IndexByte("bBuUrRfF", m.src[p]) >= 0 {
		p++
	}
	run := m.backslashes(p)
	from = p + run + 1
	if from > m.end {
		return -1, -1
	}
	quote, width := m.src[from-1], quoteWidth(run)
	switch {
	case quote == '"' && width == run+1:
	case (quote == '\'' || quote == '`') && run == 0:
	default:
		return -1, -1
	}
	if p > i && (from == m.end || kinds[m.src[from]] == stop || kinds[m.src[from]] == closer) {
		return -1, -1 // the quote closes the string around the letters
	}
	return from, m.quoteEnd(from, quote, width)
}

// quoteEnd returns where the quoted text at i ends, before the backslashes that
// belong to the closing quote. A quote followed by a word or another quote
// counts as part of the text, as when a text with quotes was quoted without
// escaping. A quote with fewer backslashes belongs to the enclosing text.
func (m *masker) quoteEnd(i int, quote byte, width int) int {
	run := 0
	for ; i < m.end; i++ {
		c := m.src[i]
		if c == '\\' {
			run++
			continue
		}
		if c == quote {
			own := 1
			if quote == '"' {
				own = quoteWidth(run)
			}
			switch at := i + 1 - own; {
			case own < width:
				return at
			case own > width || quote != '"' && run%4 != 0:
				// escaped
			case m.isQuote(i+1, quote, width):
				i += width // doubled
			case !m.isLetter(i + 1):
				return at
			}
		}
		run = 0
	}
	return m.end
}

// skipQuoted returns the offset after the double quote that closes the text at
// i. closed is false if the enclosing text ends first.
func (m *masker) skipQuoted(i, width int) (next int, closed bool) {
	i = m.quoteEnd(i, '"', width)
	if !m.isQuote(i, '"', width) {
		return i, false
	}
	return i + width, true
}

// isQuote reports whether there is a quote of that width at i.
func (m *masker) isQuote(i int, quote byte, width int) bool {
	end := i + width - 1
	if end >= m.end || m.src[end] != quote {
		return false
	}
	for ; i < end; i++ {
		if m.src[i] != '\\' {
			return false
		}
	}
	return true
}

// isLetter reports whether the character at i is in a word, or has two bytes,
// as the letters of Latin, Greek, Cyrillic, Hebrew and Arabic that are not
// ASCII. A Chinese one may follow a closing bracket without a space.
func (m *masker) isLetter(i int) bool {
	return i < m.end && (inWord(m.src[i]) || m.src[i]-0xc3 <= 0xdf-0xc3)
}

// tokenEnd returns where the token at i ends. It continues after brackets.
// Closers in front belong to it, unless they are all that is left of the text
// around a pair without a value.
func (m *masker) tokenEnd(i int) int {
	from := i
	for i < m.end && kinds[m.src[i]] == closer {
		i++
	}
	if i > from && (i == m.end || kinds[m.src[i]] == stop || kinds[m.src[i]] == escape ||
		m.isOneOf(wideStops, i)) {
		return from
	}
	if i+1 < m.end && m.src[i] == '&' && kinds[m.src[i+1]] == opener { // a pointer to a struct
		i++
	}
	for i < m.end {
		switch kinds[m.src[i]] {
		case stop:
			return i
		case closer:
			if !m.isLetter(i + 1) {
				return i
			}
		case opener:
			i = m.bracketEnd(i)
			continue
		case wide:
			if m.isOneOf(wideStops, i) {
				return i
			}
		case escape:
			run := m.backslashes(i)
			next := i + run
			if next >= m.end {
				return m.end
			}
			c := m.src[next]
			switch {
			case c == '"' && !m.isLetter(next+1):
				return next + 1 - quoteWidth(run)
			case run%2 == 0:
				i = next
				continue
			case c == 'n' || c == 'r' || c == 't':
				return next - 1
			}
			i = next
		}
		i++
	}
	return m.end
}

// bracketEnd returns the offset after the bracket that closes the one at i. A
// closing bracket of the wrong kind counts as text. Of more than 32 open ones
// the outermost are dropped, so that nothing closes them.
func (m *masker) bracketEnd(i int) int {
	var open uint64 // two bits of each open bracket, the innermost lowest, none 0
	depth := 0
	for i < m.end {
		switch c := m.src[i]; c {
		case '(', '[', '{':
			open = open<<2 | uint64(c>>5&3)
			depth++
		case ')', ']', '}':
			if open&3 != uint64(c>>5&3) {
				break
			}
			open >>= 2
			if depth--; depth == 0 {
				return i + 1
			}
		case '\\':
			run := m.backslashes(i)
			i += run
			if i < m.end && m.src[i] == '"' {
				var closed bool
				if i, closed = m.skipQuoted(i+1, quoteWidth(run)); !closed {
					return i
				}
			} else if run%2 == 1 {
				i++
			}
			continue
		}
		i++
	}
	return m.end
}

// lineEnd returns where the line of text at i ends, or the quotes around it.
// Quotes of parameters, as in realm="x", do not end it.
func (m *masker) lineEnd(i int) int {
	for i < m.end {
		switch c := m.src[i]; c {
		case '\'', '`':
			if !m.isLetter(i + 1) {
				return i
			}
		case '\\':
			run := m.backslashes(i)
			next := i + run
			if next >= m.end {
				return m.end
			}
			switch c := m.src[next]; {
			case c == '"' && m.src[i-1] == '=':
				var closed bool
				if i, closed = m.skipQuoted(next+1, quoteWidth(run)); !closed {
					return i
				}
				continue
			case c == '"':
				return next + 1 - quoteWidth(run)
			case c == 'n' || c == 'r':
				if run%2 == 0 { // escaped once more
					return i
				}
				return next - 1
			}
			i = next
		}
		i++
	}
	return m.end
}
