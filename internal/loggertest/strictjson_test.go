// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A node is a JSON value of a line. encoding/json would hide details that
// matter here: the order of keys, the same key twice, numbers to the digit.
type node struct {
	kind byte     // one of { [ " 0 t f n
	text string   // decoded string, or the number as written
	keys []string // of an object
	kids []*node
}

// A strictParser reads RFC 8259 and accepts nothing besides, no white space
// either, since a line has none.
type strictParser struct {
	src    string
	at     int
	halves bool // half of a surrogate pair is U+FFFD, as in encoding/json
}

// parseLine reads one line of a log and checks the rules for every line: one
// object, one newline at the end, valid UTF-8, nothing that a terminal or an
// editor would act on, and no reserved key twice.
func parseLine(line []byte) (*node, error) {
	if n := bytes.IndexByte(line, '\n'); n != len(line)-1 {
		return nil, fmt.Errorf("newline at %d of %d bytes", n, len(line))
	}
	text := string(line[:len(line)-1])
	if !utf8.ValidString(text) {
		return nil, errors.New("invalid UTF-8")
	}
	for i, r := range text {
		if unsafeRune(r) {
			return nil, fmt.Errorf("raw %U at %d", r, i)
		}
	}
	v, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if v.kind != '{' {
		return nil, errors.New("not an object")
	}
	seen := map[string]bool{}
	for _, k := range v.keys {
		switch k {
		case "time", "level", "message", "logger", "caller", "stack":
			if seen[k] {
				return nil, fmt.Errorf("reserved key %q twice", k)
			}
			seen[k] = true
		}
	}
	return v, nil
}

// unsafeRune reports whether r must never appear raw in a line.
func unsafeRune(r rune) bool {
	return r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff
}

func parseJSON(text string) (*node, error) { return (&strictParser{src: text}).document() }

func (p *strictParser) document() (*node, error) {
	v, err := p.value()
	if err == nil && p.at != len(p.src) {
		err = p.fail("text behind the value")
	}
	if err != nil {
		return nil, fmt.Errorf("%w in %.300q", err, p.src)
	}
	return v, nil
}

func (p *strictParser) fail(what string) error { return fmt.Errorf("%s at %d", what, p.at) }

func (p *strictParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *strictParser) eat(c byte) bool {
	if p.peek() != c || p.at >= len(p.src) {
		return false
	}
	p.at++
	return true
}

func (p *strictParser) value() (*node, error) {
	switch c := p.peek(); c {
	case '{', '[':
		return p.container(c)
	case '"':
		s, err := p.str()
		return &node{kind: '"', text: s}, err
	case 't', 'f', 'n':
		for _, word := range []string{"true", "false", "null"} {
			if strings.HasPrefix(p.src[p.at:], word) {
				p.at += len(word)
				return &node{kind: c, text: word}, nil
			}
		}
		return nil, p.fail("no literal")
	default:
		return p.number()
	}
}

func (p *strictParser) container(open byte) (*node, error) {
	v := &node{kind: open}
	p.at++
	if p.eat(open + 2) {
		return v, nil
	}
	for {
		if open == '{' {
			k, err := p.str()
			if err != nil {
				return nil, err
			}
			if !p.eat(':') {
				return nil, p.fail("no colon")
			}
			v.keys = append(v.keys, k)
		}
		kid, err := p.value()
		if err != nil {
			return nil, err
		}
		v.kids = append(v.kids, kid)
		if p.eat(open + 2) {
			return v, nil
		}
		if !p.eat(',') {
			return nil, p.fail("no comma")
		}
	}
}

func (p *strictParser) str() (string, error) {
	if !p.eat('"') {
		return "", p.fail("no quote")
	}
	var out []byte
	for p.at < len(p.src) {
		c := p.src[p.at]
		p.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < 0x20:
			return "", p.fail("raw control byte")
		case c != '\\':
			out = append(out, c)
			continue
		}
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		out = utf8.AppendRune(out, r)
	}
	return "", p.fail("no end of string")
}

func (p *strictParser) escape() (rune, error) {
	c := p.peek()
	p.at++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 && c != 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, p.fail("unknown escape")
	}
	r, ok := p.hex4()
	if !ok {
		return 0, p.fail("bad \\u")
	}
	if utf16.IsSurrogate(r) {
		from := p.at
		if p.eat('\\') && p.eat('u') {
			if low, ok := p.hex4(); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, nil
				}
			}
		}
		p.at = from
		if !p.halves {
			return 0, p.fail("half a surrogate pair")
		}
		return utf8.RuneError, nil
	}
	return r, nil
}

func (p *strictParser) hex4() (rune, bool) {
	if p.at+4 > len(p.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.src[p.at:p.at+4], 16, 16)
	p.at += 4
	return rune(n), err == nil
}

func (p *strictParser) digits() bool {
	from := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	return p.at > from
}

func (p *strictParser) number() (*node, error) {
	from := p.at
	p.eat('-')
	if !p.eat('0') && !p.digits() {
		return nil, p.fail("no value")
	}
	if p.eat('.') && !p.digits() {
		return nil, p.fail("no digit behind the point")
	}
	if p.eat('e') || p.eat('E') {
		if !p.eat('+') {
			p.eat('-')
		}
		if !p.digits() {
			return nil, p.fail("no exponent")
		}
	}
	return &node{kind: '0', text: p.src[from:p.at]}, nil
}

// get returns the only member with this key, or nil.
func (v *node) get(key string) *node {
	var found *node
	for i, k := range v.keys {
		if k == key {
			if found != nil {
				return nil
			}
			found = v.kids[i]
		}
	}
	return found
}

// String returns the value as compact JSON with the least escaping: equal
// values have equal texts, which tests print.
func (v *node) String() string {
	if v == nil {
		return "(nothing)"
	}
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *node) write(b *strings.Builder) {
	switch v.kind {
	case '"':
		b.WriteString(strconv.Quote(v.text))
	case '{', '[':
		b.WriteByte(v.kind)
		for i, kid := range v.kids {
			if i > 0 {
				b.WriteByte(',')
			}
			if v.kind == '{' {
				b.WriteString(strconv.Quote(v.keys[i]))
				b.WriteByte(':')
			}
			kid.write(b)
		}
		b.WriteByte(v.kind + 2)
	default:
		b.WriteString(v.text)
	}
}
