// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
)

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
	isPart := func(c byte) bool {
		return c == ':' || c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f'
	}
	for ; n < len(text) && isPart(text[n]); n++ {
		if c := text[n]; c == ':' {
			colons++
		} else if c <= '9' {
			digits++
		}
	}
	if colons < 2 || digits == 0 || n < len(text) && isWordByte(text[n]) {
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

// The numbers of different words that are distinguished at a place of a
// message: in the same text otherwise, or behind the same text, as the first
// word, and as any other one.
const (
	maxWords = 64
	maxFirst = 256
)

// varying stands in the key of a pattern for a word that differs from message
// to message.
const varying = "\x01"

// A joinable is a pattern as tokens: words, and the bytes between them.
type joinable struct {
	key      string
	tokens   []string
	isJoined bool // one of them is varying
}

// joinPatterns returns the key of the pattern that each pattern is a part of.
// Patterns with too many different words at a place are joined, as of "user
// alice logged in". First these are patterns with the same text otherwise. Of
// the rest, in which several words vary, it is the tree by their tokens, as in
// Drain, that has a bounded number of words below each node.
func joinPatterns(keys []string) map[string]string {
	lists := map[int][]*joinable{}
	for _, key := range keys {
		p := newJoinable(key)
		lists[len(p.tokens)] = append(lists[len(p.tokens)], p)
	}
	joined := map[string]string{}
	for n, list := range lists {
		if n > 1 { // a pattern needs a word
			absorb(list)
			joinAlike(list)
			joinBelow(list, 0)
			absorb(list)
		}
		for _, p := range list {
			joined[p.key] = strings.Join(p.tokens, "")
		}
	}
	return joined
}

func newJoinable(key string) *joinable {
	p := &joinable{key: key, isJoined: strings.Contains(key, varying)}
	for rest := key; rest != ""; {
		n := tokenLen(rest)
		p.tokens, rest = append(p.tokens, rest[:n]), rest[n:]
	}
	return p
}

// vary makes a word of the pattern varying.
func (p *joinable) vary(i int) { p.tokens[i], p.isJoined = varying, true }

// absorb joins patterns with those that have a varying word in place of theirs.
func absorb(list []*joinable) {
	var joined []*joinable
	seen := map[string]bool{}
	for _, p := range list {
		if text := strings.Join(p.tokens, ""); p.isJoined && !seen[text] {
			seen[text] = true
			joined = append(joined, p)
		}
	}
	slices.SortFunc(joined, func(p, q *joinable) int { return slices.Compare(p.tokens, q.tokens) })
	for _, p := range list {
		for _, q := range joined {
			if p != q && q.covers(p) {
				p.tokens, p.isJoined = slices.Clone(q.tokens), true
			}
		}
	}
}

// covers reports whether o is p with words in place of varying ones.
func (p *joinable) covers(o *joinable) bool {
	for i, token := range p.tokens {
		if token != o.tokens[i] && (token != varying || !isWord(o.tokens[i])) {
			return false
		}
	}
	return true
}

// joinAlike joins patterns that differ in one word.
func joinAlike(list []*joinable) {
	if len(list) <= maxWords {
		return
	}
	seed := maphash.MakeSeed()
	type place struct {
		at   int
		rest uint64 // hash of the other tokens
	}
	words, isCounted := map[place]int{}, map[uint64]bool{}
	hashes := make([]uint64, 0, len(list))
	hash := func(i int, token string) uint64 { return maphash.String(seed, token) * uint64(2*i+1) }
	for _, p := range list {
		all := uint64(0)
		for i, token := range p.tokens {
			all += hash(i, token)
		}
		hashes = append(hashes, all)
		if isCounted[all] {
			continue
		}
		isCounted[all] = true
		for i, token := range p.tokens {
			if isWord(token) {
				words[place{i, all - hash(i, token)}]++
			}
		}
	}
	for n, p := range list {
		for i, token := range slices.Clone(p.tokens) {
			if isWord(token) && words[place{i, hashes[n] - hash(i, token)}] > maxWords {
				p.vary(i)
			}
		}
	}
}

// joinBelow joins patterns whose first tokens are the same, a number of them.
func joinBelow(list []*joinable, at int) {
	if len(list) <= maxWords || at == len(list[0].tokens) {
		return
	}
	most := maxWords
	if at == 0 {
		most = maxFirst
	}
	below := map[string][]*joinable{}
	words := 0
	for _, p := range list {
		token := p.tokens[at]
		if below[token] == nil && isWord(token) {
			words++
		}
		below[token] = append(below[token], p)
	}
	if words > most {
		clear(below)
		for _, p := range list {
			if isWord(p.tokens[at]) && !p.isJoined {
				p.vary(at)
				p.isJoined = false // it may be joined at other tokens, too
			}
			below[p.tokens[at]] = append(below[p.tokens[at]], p)
		}
	}
	for _, list := range below {
		joinBelow(list, at+1)
	}
	for _, p := range list {
		p.isJoined = p.isJoined || p.tokens[at] == varying
	}
}

// tokenLen returns the length of the token at the beginning of a pattern.
func tokenLen(text string) int {
	n := 0
	for n < len(text) && isWordByte(text[n]) {
		n++
	}
	return max(n, 1)
}

// isWord reports whether a token is a word, or stands for words.
func isWord(token string) bool {
	return token == "*" || token == varying || isWordByte(token[0])
}

// join replaces the key of a new pattern by the key of a joined pattern that
// covers it. When there are too many patterns, it joins them first.
func (c *collector) join() {
	if len(c.patterns) >= maxPatterns && !c.full {
		c.patterns = join(c.patterns, maxPatterns)
		c.full = len(c.patterns) > maxPatterns/2
		c.joined = map[int][]*joinable{}
		for key := range c.patterns {
			p := newJoinable(key)
			if n := len(p.tokens); p.isJoined && len(c.joined[n]) < maxWords {
				c.joined[n] = append(c.joined[n], p)
			}
		}
	}
	if c.joined == nil {
		return
	}
	o := newJoinable(string(c.key))
	for _, p := range c.joined[len(o.tokens)] {
		if p.covers(o) {
			c.key = append(c.key[:0], p.key...)
			return
		}
	}
}

// join joins the patterns of m, so that at most a number of them are left: of
// more, the least frequent become others.
func join(m map[string]*group, most int) map[string]*group {
	left := map[string]*group{}
	rest := m[others]
	delete(m, others)
	for from, key := range joinPatterns(slices.Collect(maps.Keys(m))) {
		left[key] = left[key].with(m[from])
	}
	if len(left) > most {
		keys := slices.SortedFunc(maps.Keys(left), func(a, b string) int {
			return cmp.Or(cmp.Compare(left[b].count, left[a].count), cmp.Compare(a, b))
		})
		for _, key := range keys[most:] {
			rest = rest.with(left[key])
			delete(left, key)
		}
	}
	if rest != nil {
		left[others] = rest
	}
	return left
}
