// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a name, a keyword or a value without quotes
	tokenKey              // a name in backquotes
	tokenString           // a value in quotes
	tokenOp               // a comparison or !
	tokenPunct            // parentheses and the comma
	tokenBad
)

// A token is a part of a query.
type token struct {
	kind   tokenKind
	text   string // decoded
	offset int
}

func (t token) String() string {
	if t.kind == tokenEnd {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// is reports whether the token is a keyword, in lower or upper case, or an
// operator.
func (t token) is(text string) bool {
	return t.kind != tokenKey && t.kind != tokenString && strings.EqualFold(t.text, text)
}

// A lexer splits a query into tokens.
type lexer struct {
	text  string
	at    int // offset after the token
	token token
}

// operators are the signs of the language, the longer ones first, and the
// tokens that they are.
var operators = []struct {
	sign string
	kind tokenKind
	text string
}{
	{"==", tokenOp, "="}, {"!=", tokenOp, "!="}, {"<=", tokenOp, "<="}, {">=", tokenOp, ">="},
	{"!~", tokenOp, "!~"}, {"=~", tokenOp, "~"}, {"&&", tokenWord, "and"},
	{"||", tokenWord, "or"}, {"=", tokenOp, "="}, {"<", tokenOp, "<"}, {">", tokenOp, ">"},
	{"~", tokenOp, "~"}, {"!", tokenOp, "!"}, {"(", tokenPunct, "("}, {")", tokenPunct, ")"},
	{",", tokenPunct, ","},
}

// next reads the next token.
func (x *lexer) next() {
	for x.at < len(x.text) && strings.IndexByte(" \t\r\n", x.text[x.at]) >= 0 {
		x.at++
	}
	x.token = token{kind: tokenEnd, offset: x.at}
	if x.at == len(x.text) {
		return
	}
	rest := x.text[x.at:]
	switch c := rest[0]; c {
	case '"', '\'':
		x.quoted(c)
		return
	case '`':
		if end := strings.IndexByte(rest[1:], '`'); end >= 0 {
			x.take(tokenKey, rest[1:end+1], end+2)
			return
		}
		x.bad("the backquote is not closed")
		return
	}
	for _, op := range operators {
		if strings.HasPrefix(rest, op.sign) {
			x.take(op.kind, op.text, len(op.sign))
			return
		}
	}
	end := strings.IndexAny(rest, " \t\r\n(),\"'`=<>~!&|")
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(rest)
		x.bad(fmt.Sprintf("%q has no meaning here", rest[:end]))
		return
	}
	x.take(tokenWord, rest[:end], end)
}

func (x *lexer) take(kind tokenKind, text string, n int) {
	x.token.kind, x.token.text = kind, text
	x.at += n
}

func (x *lexer) bad(problem string) {
	x.token.kind, x.token.text = tokenBad, problem
	x.at = len(x.text)
}

// quoted reads a text in quotes. A backslash escapes the quote, another
// backslash, and the letters of Go; before anything else it is an ordinary
// character, so that regular expressions need no doubled backslashes.
func (x *lexer) quoted(quote byte) {
	var b strings.Builder
	body := x.text[x.at+1:]
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == quote:
			x.take(tokenString, b.String(), i+2)
			return
		case c == '\\' && i+1 < len(body):
			i++
			switch next := body[i]; next {
			case quote, '\\':
				b.WriteByte(next)
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte('\\')
				b.WriteByte(next)
			}
		default:
			b.WriteByte(c)
		}
	}
	x.bad("the quote is not closed")
}
