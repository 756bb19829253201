// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/linevalue"
)

// A parser compiles a query by recursive descent.
type parser struct {
	lexer
	now   time.Time
	query *Query
	depth int
}

// maxNesting limits the parentheses and nots around a comparison.
const maxNesting = 200

func (p *parser) errorf(format string, values ...any) error {
	if p.token.kind == tokenBad {
		return p.errorAt(p.token.offset, "%s", p.token.text)
	}
	return p.errorAt(p.token.offset, format, values...)
}

func (p *parser) errorAt(offset int, format string, values ...any) error {
	return &QueryError{Query: p.text, Offset: offset, Problem: fmt.Sprintf(format, values...)}
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

func (p *parser) or() (predicate, error) {
	list, err := p.list("or", p.and)
	if err != nil || len(list) == 1 {
		return first(list), err
	}
	return anyOf(list), nil
}

func (p *parser) and() (predicate, error) {
	list, err := p.list("and", p.not)
	switch {
	case err != nil || len(list) == 1:
		return first(list), err
	case len(list) == 2:
		a, b := list[0], list[1]
		return func(l *Line) bool { return a(l) && b(l) }, nil
	}
	return func(l *Line) bool {
		for _, match := range list {
			if !match(l) {
				return false
			}
		}
		return true
	}, nil
}

func first(list []predicate) predicate {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// list parses parts that are joined by a keyword.
func (p *parser) list(word string, part func() (predicate, error)) (list []predicate, err error) {
	for {
		match, err := part()
		if err != nil {
			return nil, err
		}
		list = append(list, match)
		if !p.token.is(word) {
			return list, nil
		}
		p.next()
	}
}

func (p *parser) not() (predicate, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.errorf("more than %d parentheses and nots", maxNesting)
	}
	defer func() { p.depth-- }()
	switch {
	case p.token.is("not"), p.token.kind == tokenOp && p.token.text == "!":
		p.next()
		match, err := p.not()
		if err != nil {
			return nil, err
		}
		return negate(match), nil
	case p.token.kind == tokenPunct && p.token.text == "(":
		p.next()
		match, err := p.or()
		if err != nil {
			return nil, err
		}
		if p.token.kind != tokenPunct || p.token.text != ")" {
			return nil, p.errorf("want a closing parenthesis, not %s", p.token)
		}
		p.next()
		return match, nil
	case p.token.is("exists"):
		p.next()
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		return o.exists(), nil
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
func (p *parser) operand() (o operand, err error) {
	t := p.token
	isKeyword := slices.ContainsFunc(keywords, t.is)
	if t.kind != tokenWord && t.kind != tokenKey || isKeyword || t.text == "" {
		return o, p.errorf("want the name of a field, not %s", t)
	}
	p.next()
	if t.kind == tokenWord {
		switch t.text {
		case "time":
			return operand{kind: operandTime}, nil
		case "level":
			return operand{kind: operandLevel}, nil
		case "message", "msg":
			return operand{kind: operandMessage}, nil
		case "line":
			return operand{kind: operandLine}, nil
		}
	}
	i := slices.Index(p.query.paths, t.text)
	if i < 0 {
		if len(p.query.paths) == maxFields {
			return o, p.errorAt(t.offset, "more than %d fields", maxFields)
		}
		i = len(p.query.paths)
		p.query.paths = append(p.query.paths, t.text)
	}
	return operand{kind: operandField, index: i, unit: unitOfKey(t.text)}, nil
}

func (p *parser) comparison() (predicate, error) {
	o, err := p.operand()
	if err != nil {
		return nil, err
	}
	p.query.asks |= o.fact()
	op := p.token
	switch {
	case op.is("in"):
		p.next()
		return p.in(o)
	case op.is("contains"):
		p.next()
		t, err := p.value()
		if err != nil {
			return nil, err
		}
		return o.orMissing(o.contains(t.text)), nil
	case op.kind != tokenOp || op.text == "!":
		return nil, p.errorf("want a comparison such as = or <, not %s", op)
	}
	p.next()
	if op.text == "~" || op.text == "!~" {
		return p.matches(o, op.text == "!~")
	}
	t, err := p.value()
	if err != nil {
		return nil, err
	}
	return p.compare(o, op.text, t)
}

// in parses the list of values after the keyword.
func (p *parser) in(o operand) (predicate, error) {
	if p.token.kind != tokenPunct || p.token.text != "(" {
		return nil, p.errorf("want an opening parenthesis and a list of values, not %s", p.token)
	}
	var list []predicate
	for {
		p.next()
		t, err := p.value()
		if err != nil {
			return nil, err
		}
		match, err := p.compare(o, "=", t)
		if err != nil {
			return nil, err
		}
		list = append(list, match)
		if p.token.kind != tokenPunct || p.token.text == "(" {
			return nil, p.errorf("want a comma or a closing parenthesis, not %s", p.token)
		}
		if p.token.text == ")" {
			p.next()
			return anyOf(list), nil
		}
	}
}

// value parses a value.
func (p *parser) value() (token, error) {
	t := p.token
	if t.kind != tokenWord && t.kind != tokenString {
		return t, p.errorf("want a value, not %s", t)
	}
	p.next()
	return t, nil
}

func (p *parser) matches(o operand, not bool) (predicate, error) {
	t, err := p.value()
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(t.text)
	if err != nil {
		return nil, p.errorAt(t.offset, "not a regular expression: %v", err)
	}
	match := o.orMissing(o.matches(re, t.text))
	if not {
		return negate(match), nil
	}
	return match, nil
}

// compare compiles a comparison with one value.
func (p *parser) compare(o operand, op string, t token) (predicate, error) {
	if op == "!=" {
		match, err := p.compare(o, "=", t)
		if err != nil {
			return nil, err
		}
		return negate(match), nil
	}
	switch o.kind {
	case operandLevel:
		level, err := linevalue.LevelNamed(t.text)
		if err != nil {
			return nil, p.errorAt(t.offset, "%q is not a level: write %s", t.text,
				"trace, debug, info, warn, error, panic or fatal")
		}
		return compareLevel(op, level), nil
	case operandTime:
		at, err := ParseMoment(t.text, p.now)
		if err != nil {
			return nil, p.errorAt(t.offset, "%v", err)
		}
		return compareTime(op, at), nil
	}
	if t.kind == tokenWord {
		if n, ok := parseNumber([]byte(t.text)); ok {
			return o.compareNumber(op, n), nil
		}
		if n, ok := parseSize(t.text); ok {
			return o.orEqual(o.compareNumber(op, n), op, t.text), nil
		}
		if d, err := time.ParseDuration(t.text); err == nil {
			return o.orEqual(o.compareDuration(op, d), op, t.text), nil
		}
	}
	return o.compareText(op, t.text), nil
}
