// SPDX-License-Identifier: Apache-2.0

package jsonread

import (
	"bytes"
	"strings"

	"github.com/nib-log/nib/internal/contract"
)

// Redact appends line to dst with secrets replaced by ***, or nothing if line
// has no secret.
//
// The value of every member whose key is in k becomes "***", whatever it is and
// however deep in objects and arrays the member is; the key is compared as a
// whole. Inside of the other strings
//
//   - the password of a URL goes: scheme://user:***@host, and the text that
//     package net/url takes for a port when the password has a slash;
//   - the text after a key and one of the separators : = => := goes, be it
//     quoted, bracketed, or a token up to white space, a comma, a semicolon, an
//     ampersand or the closing bracket or quote around the pair. The key may be
//     in quotes itself. This covers JSON within the string, escaped any number
//     of times, also with separators such as \u003d, the format of package fmt
//     for structs and maps, logfmt, query strings, forms, connection strings
//     and header lines. A scheme (Bearer, Basic, Digest, Token) in front of a
//     credential stays, and Authorization and Cookie headers are masked up to
//     the end of their line.
//
// In a text a key has to be a whole word: the characters of words are ASCII
// letters, digits, _ and -, and hyphens before a word do not count. So the key
// password matches user.password= and --password=, but neither db_password= nor
// passwords=. Chinese has no spaces, so other characters end a word, and its
// colon, comma and similar characters are known, too. A secret that does not
// follow its key this way is not found: the values that %v prints without
// names, or "--password x".
//
// Keys of members are never changed. If a value has no end, the rest of its
// string is masked. Redact is idempotent: it does not change its own output. If
// k is nil, only passwords in URLs are masked. 0 allocs, except to grow dst.
func Redact(dst, line []byte, k *Keys) []byte {
	if k == nil {
		k = &noKeys
	}
	m := masker{keys: k, src: line, dst: dst}
	for i := 0; i < len(line); {
		if line[i] != '"' {
			i++
			continue
		}
		end, escaped := stringEnd(line, i)
		if end < 0 {
			break
		}
		if end == len(line) || line[end] != ':' {
			i = m.literal(i)
			continue
		}
		from := i
		i = end + 1
		switch {
		case m.isSecret(from, end, escaped):
			if i = value(line, i); i < 0 {
				return m.rest()
			}
			m.replace(end+1, i, `"`+contract.SecretText+`"`)
		case i == len(line):
		case line[i] == '"':
			i = m.literal(i)
		case line[i]-'-' <= '9'-'-':
			i = max(i, scalarEnd(line, i))
		}
	}
	return m.rest()
}

// rest returns dst with the rest of src, unless nothing was copied before it.
func (m *masker) rest() []byte {
	if m.from == 0 {
		return m.dst
	}
	return append(m.dst, m.src[m.from:]...)
}

var noKeys Keys

// A masker copies src to dst and masks secrets. src[:from] has been copied;
// unchanged runs are copied when something after them is replaced.
type masker struct {
	keys *Keys
	src  []byte
	dst  []byte
	from int
	end  int // end of the text within src that is being searched
	noAt int // there is no @ between this offset and the end of the last URL

	lastAt       int // offset of the last @ of the last URL that has one
	authorityEnd int // end of the authority of that URL
}

// replace replaces src[from:to] with text.
func (m *masker) replace(from, to int, text string) {
	m.dst = append(append(m.dst, m.src[m.from:from]...), text...)
	m.from = to
}

// literal masks the secrets in the string at i, unless it is a key, and returns
// where to continue.
func (m *masker) literal(i int) int {
	end, found := literal(m.src, i)
	switch {
	case end < 0:
		return len(m.src)
	case end < len(m.src) && m.src[end] == ':':
		return i
	case found&hasForeign != 0:
		m.foreign(i+1, end-1)
	case found&hasSeparator != 0:
		m.text(i+1, end-1)
	}
	return end
}

// isSecret reports whether the key, the literal src[from:to], is secret.
func (m *masker) isSecret(from, to int, escaped bool) bool {
	if !escaped {
		return m.keys.has(m.src[from+1 : to-1])
	}
	n := len(m.dst) // the end of m.dst serves as scratch space
	m.dst, _ = AppendUnquoted(m.dst, m.src[from:to])
	name := m.dst[n:]
	m.dst = m.dst[:n]
	return m.keys.has(name)
}

// foreign is text for a text with unnecessary escape sequences. They could hide
// a key or a separator, so foreign removes them first: it appends a copy of the
// text without them to dst, searches that, and moves the result into its place.
// If nothing was found the text stays unchanged. What precedes it is copied in
// any case, so that no later call has to.
func (m *masker) foreign(from, to int) {
	m.replace(from, from, "")
	at := len(m.dst)
	m.dst = appendPlain(m.dst, m.src[from:to])
	copied := masker{keys: m.keys, src: m.dst[at:], dst: m.dst}
	copied.text(0, len(copied.src))
	if copied.from == 0 {
		m.dst = m.dst[:at]
		return
	}
	out := append(copied.dst, copied.src[copied.from:]...)
	n := copy(out[at:], out[at+len(copied.src):])
	m.dst, m.from = out[:at+n], to
}

// text masks the secrets in the text src[from:to].
func (m *masker) text(from, to int) {
	m.end, m.noAt = to, from
	first := from // keys do not begin before it
	for i := separator(m.src[:to], from); i < to; i = separator(m.src[:to], i) {
		width := 0
		switch m.src[i] {
		case ':', '=':
			if !m.mayEndKey(first, i) {
				if i++; m.src[i-1] == ':' && i < to && (m.src[i] == '/' || m.src[i] == '\\') {
					i = m.url(i - 1)
				}
				continue
			}
			width = 1
		case fullWidth:
			if m.isOneOf(wideSeparators, i) {
				width = 3
			}
		case '\\':
			c, n := m.escapedSeparator(i)
			if c != ':' && c != '=' {
				i += n
				continue
			}
			width = n
		}
		if width == 0 {
			i++
			continue
		}
		name, quote := m.keyBefore(first, i)
		switch {
		case name != nil:
			i = m.afterKey(i, i+width, name, quote)
			first = i
		case m.src[i] == ':' && i > first && inWord(m.src[i-1]):
			i = m.url(i)
		case m.src[i] == ':' && i > first && m.src[i-1] == '"':
			i = m.invalidPort(first, i)
		default:
			i += width
		}
	}
}

// mayEndKey reports whether the byte before a separator, at i, can be the last
// of a key, or the letter of an escaped tab or line end after one.
func (m *masker) mayEndKey(first, i int) bool {
	if i == first || !m.keys.notEnd[m.src[i-1]] {
		return true
	}
	return i-1 > first && m.src[i-2] == '\\' && isBlank(m.src[i-1], true)
}

// invalidPort masks the text, with the colon at i, that package url quotes in
// the error for a URL whose password contains a slash: it mistakes the text
// before the slash for a port. It returns where to continue.
func (m *masker) invalidPort(first, i int) int {
	width := quoteWidth(m.backslashesBefore(first, i-1))
	if !bytes.HasSuffix(m.src[first:i-width], []byte("invalid port ")) {
		return i + 1
	}
	to := m.quoteEnd(i+1, '"', width)
	if to > i+1 {
		m.replace(i+1, to, contract.SecretText)
	}
	return to
}

// url masks the password of the URL whose scheme ends with the colon at i, and
// returns where to continue.
func (m *masker) url(i int) int {
	p := i + 1
	for range 2 {
		for p < m.end && m.src[p] == '\\' { // JSON within the string may escape slashes
			p++
		}
		if p >= m.end || m.src[p] != '/' {
			return i + 1
		}
		p++
	}
	if p < m.noAt || p < m.end && m.src[p] == '[' {
		return p
	}
	colon, at, to := m.userinfo(p)
	if at < 0 {
		m.noAt = to
	} else {
		m.lastAt, m.authorityEnd = at, to
	}
	if colon < 0 || at < colon+2 {
		return p
	}
	if rest, masked := bytes.CutPrefix(m.src[colon+1:at], []byte(contract.SecretText)); masked &&
		len(rest) > 0 {
		if name, _ := m.keyBefore(p, colon); name != nil {
			return p // the mask belongs to a key, as in http://token:***&@
		}
	}
	m.replace(colon+1, at, contract.SecretText)
	return at
}

// userinfo finds the first colon of the authority at p, the last @ after it and
// its end. If there is no @, but the text after the colon is not a port, then a
// password that contains a slash has been printed unescaped, and the authority
// continues after that. Such an authority may contain the beginnings of others,
// which all end where it does: the search stops there.
func (m *masker) userinfo(p int) (colon, at, end int) {
	colon, at = -1, -1
	noPort := false
	for ; p < m.end; p++ {
		switch c := m.src[p]; c {
		case ':':
			if colon < 0 {
				colon = p
			}
		case '@':
			at = p
		case '/', '?', '#':
			if colon < 0 || at >= 0 || !noPort && isPort(m.src[colon+1:p]) {
				return colon, at, p
			}
			if p < m.lastAt {
				return colon, m.lastAt, m.authorityEnd
			}
			noPort = true
		case ' ', '<', '>', '`':
			return colon, at, p
		case '\\':
			run := m.backslashes(p)
			if p+run < m.end && strings.IndexByte(`"nrt`, m.src[p+run]) >= 0 {
				return colon, at, p
			}
			p += run - 1
		}
	}
	return colon, at, p
}

// isPort reports whether b begins with a port, or is empty. A comma continues a
// list of hosts, and a backslash belongs to an escaped slash.
func isPort(b []byte) bool {
	for _, c := range b {
		if c == ',' || c == '\\' {
			return true
		}
		if c-'0' > 9 {
			return false
		}
	}
	return true
}
