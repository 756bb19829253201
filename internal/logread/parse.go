// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/linevalue"
)

// A parser compiles a query by recursive descent. After an error the query
// seems to end, so that the functions return soon, with a predicate of no use.
type parser struct {
	lexer
	now   time.Time
	query *Query
	depth int
	err   error // the first one
}

// maxNesting limits the parentheses and nots around a comparison.
const maxNesting = 200

// fail reports an error at the token.
func (p *parser) fail(format string, values ...any) {
	if p.token.kind == tokenBad {
		format, values = "%s", []any{p.token.text}
	}
	p.failAt(p.token.offset, format, values...)
}

func (p *parser) failAt(offset int, format string, values ...any) {
	if p.err == nil {
		problem := fmt.Sprintf(format, values...)
		p.err = &QueryError{Query: p.text, Offset: offset, Problem: problem}
	}
	p.token, p.at = token{kind: tokenEnd}, len(p.text)
}

// accept goes on if the token is a keyword or an operator.
func (p *parser) accept(text string) bool {
	if !p.token.is(text) {
		return false
	}
	p.next()
	return true
}

// anyOf returns a predicate that holds if one of list holds.
func anyOf(list []predicate) predicate {
	return func(l *Line) bool {
		for _, match := range list {
			if match(l) {
				return true
			}
		}
		return false
	}
}

// allOf returns a predicate that holds if all of list hold.
func allOf(list []predicate) predicate {
	return func(l *Line) bool {
		for _, match := range list {
			if !match(l) {
				return false
			}
		}
		return true
	}
}

func (p *parser) or() predicate { return p.list("or", p.and, anyOf) }

func (p *parser) and() predicate { return p.list("and", p.not, allOf) }

// list parses parts with a keyword between them.
func (p *parser) list(
	word string, part func() predicate, join func([]predicate) predicate,
) predicate {
	list := []predicate{part()}
	for p.accept(word) {
		list = append(list, part())
	}
	if len(list) == 1 {
		return list[0]
	}
	return join(list)
}

func (p *parser) not() predicate {
	if p.depth++; p.depth > maxNesting {
		p.fail("more than %d parentheses and nots", maxNesting)
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("not"), p.accept("!"):
		return negate(p.not())
	case p.accept("("):
		match := p.or()
		if !p.accept(")") {
			p.fail("want a closing parenthesis, not %s", p.token)
		}
		return match
	case p.accept("exists"):
		return p.operand().exists()
	}
	return p.comparison()
}

func negate(match predicate) predicate {
	return func(l *Line) bool {
		l.missing = -l.missing
		matched := match(l)
		l.missing = -l.missing
		return !matched
	}
}

// keywords cannot be names of fields without backquotes.
var keywords = []string{"and", "or", "not", "in", "contains", "exists"}

// operand parses the name of a field.
func (p *parser) operand() operand {
	t := p.token
	isKeyword := slices.ContainsFunc(keywords, t.is)
	if t.kind != tokenWord && t.kind != tokenKey || isKeyword || t.text == "" {
		p.fail("want the name of a field, not %s", t)
		return operand{}
	}
	p.next()
	if t.kind == tokenWord {
		switch t.text {
		case "time":
			return operand{kind: operandTime}
		case "level":
			return operand{kind: operandLevel}
		case "message", "msg":
			return operand{kind: operandMessage}
		case "line":
			return operand{kind: operandLine}
		}
	}
	i := slices.Index(p.query.paths, t.text)
	if i < 0 {
		if i = len(p.query.paths); i == maxFields {
			p.failAt(t.offset, "more than %d fields", maxFields)
			return operand{}
		}
		p.query.paths = append(p.query.paths, t.text)
	}
	return operand{kind: operandField, index: i, unit: unitOfKey(t.text)}
}

func (p *parser) comparison() predicate {
	o := p.operand()
	p.query.asks |= o.fact()
	op := p.token
	switch {
	case p.accept("in"):
		return p.in(o)
	case p.accept("contains"):
		return o.orMissing(o.contains(p.value().text))
	case p.accept("~"):
		return p.matches(o)
	case p.accept("!~"):
		return negate(p.matches(o))
	case p.accept("!="):
		return negate(p.compare(o, "=", p.value()))
	case op.kind != tokenOp || op.text == "!":
		p.fail("want a comparison such as = or <, not %s", op)
	}
	p.next()
	return p.compare(o, op.text, p.value())
}

// in parses the list of values after the keyword.
func (p *parser) in(o operand) predicate {
	if !p.accept("(") {
		p.fail("want an opening parenthesis and a list of values, not %s", p.token)
	}
	list := []predicate{p.compare(o, "=", p.value())}
	for p.accept(",") {
		list = append(list, p.compare(o, "=", p.value()))
	}
	if !p.accept(")") {
		p.fail("want a comma or a closing parenthesis, not %s", p.token)
	}
	return anyOf(list)
}

func (p *parser) value() token {
	t := p.token
	if t.kind != tokenWord && t.kind != tokenString {
		p.fail("want a value, not %s", t)
	}
	p.next()
	return t
}

func (p *parser) matches(o operand) predicate {
	t := p.value()
	re, err := regexp.Compile(t.text)
	if err != nil {
		p.failAt(t.offset, "not a regular expression: %v", err)
	}
	return o.orMissing(o.matches(re, t.text))
}

// compare compiles a comparison with one value.
func (p *parser) compare(o operand, op string, t token) predicate {
	switch o.kind {
	case operandLevel:
		level, err := linevalue.LevelNamed(t.text)
		if err != nil {
			p.failAt(t.offset, "%q is not a level: write %s", t.text,
				"trace, debug, info, warn, error, panic or fatal")
		}
		return compareLevel(op, level)
	case operandTime:
		at, err := ParseMoment(t.text, p.now)
		if err != nil {
			p.failAt(t.offset, "%v", err)
		}
		return compareTime(op, at)
	}
	if t.kind == tokenWord {
		if n, ok := parseNumber([]byte(t.text)); ok {
			return o.compareNumber(op, n)
		}
		if n, ok := parseSize(t.text); ok {
			return o.orEqual(o.compareNumber(op, n), op, t.text)
		}
		if d, err := time.ParseDuration(t.text); err == nil {
			return o.orEqual(o.compareDuration(op, d), op, t.text)
		}
	}
	return o.compareText(op, t.text)
}
