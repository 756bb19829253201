// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/nib-log/nib"
)

type operandKind uint8

const (
	operandField operandKind = iota
	operandTime
	operandLevel
	operandMessage
	operandLine
)

// An operand is the left side of a comparison.
type operand struct {
	kind  operandKind
	index int           // index of a field in Query.paths
	unit  time.Duration // unit of durations, from the key; 0 if the key has none
}

// fact returns the fact that the operand stands for, 0 if there is none.
func (o operand) fact() fact {
	switch o.kind {
	case operandTime:
		return factTime
	case operandLevel:
		return factLevel
	}
	return 0
}

// isPassed reports, in a call of Query.Lacks, that a comparison with a missing
// fact is true.
func (m *matching) isPassed(f fact) bool {
	if m.missing <= 0 {
		return false
	}
	m.lacks |= f
	return true
}

// orMissing returns match, which is a comparison of text.
func (o operand) orMissing(match predicate) predicate {
	f := o.fact()
	if f == 0 {
		return match
	}
	return func(l *Line) bool { return match(l) || l.known&^l.found&f != 0 && l.isPassed(f) }
}

// raw returns the raw value, nil if the line has none.
func (o operand) raw(l *Line) []byte {
	switch o.kind {
	case operandTime:
		return RawOf(l, "time")
	case operandLevel:
		return RawOf(l, "level")
	case operandMessage:
		return l.Message()
	case operandLine:
		return l.text
	}
	return l.field(o.index)
}

// text returns the text of the value.
func (o operand) text(l *Line) (text []byte, ok bool) {
	if o.kind == operandLine {
		return l.text, true
	}
	raw := o.raw(l)
	return l.Text(raw), raw != nil || o.kind == operandMessage && l.format == FormatText
}

func (o operand) exists() predicate {
	return func(l *Line) bool { return o.raw(l) != nil }
}

// outcomes has the results of comparisons for -1, 0 and 1 of cmp.Compare.
var outcomes = map[string][3]bool{
	"=":  {false, true, false},
	"<":  {true, false, false},
	"<=": {true, true, false},
	">":  {false, false, true},
	">=": {false, true, true},
}

func compareLevel(op string, level nib.Level) predicate {
	result := outcomes[op]
	return func(l *Line) bool {
		got, ok := l.Level()
		if !ok {
			return l.isPassed(factLevel)
		}
		return result[cmp.Compare(got, level)+1]
	}
}

func compareTime(op string, at time.Time) predicate {
	result := outcomes[op]
	return func(l *Line) bool {
		got, ok := l.Time()
		if !ok {
			return l.isPassed(factTime)
		}
		return result[got.Compare(at)+1]
	}
}

func (o operand) compareNumber(op string, n number) predicate {
	result := outcomes[op]
	return func(l *Line) bool {
		got, ok := parseNumber(l.Text(o.raw(l)))
		return ok && result[got.compare(n)+1]
	}
}

func (o operand) compareDuration(op string, d time.Duration) predicate {
	result := outcomes[op]
	return func(l *Line) bool {
		text := l.Text(o.raw(l))
		if n, ok := parseNumber(text); ok {
			unit := o.unit
			if unit == 0 {
				unit = l.durationUnit()
			}
			return result[cmp.Compare(math.Round(n.float*float64(unit)), float64(d))+1]
		}
		got, ok := parseDuration(text)
		return ok && result[cmp.Compare(got, d)+1]
	}
}

func (o operand) compareText(op, want string) predicate {
	if op == "=" {
		return func(l *Line) bool {
			text, ok := o.text(l)
			return ok && string(text) == want
		}
	}
	result := outcomes[op]
	value := []byte(want)
	return func(l *Line) bool {
		text, ok := o.text(l)
		return ok && result[bytes.Compare(text, value)+1]
	}
}

// orEqual returns match, or a comparison of the text as well: 10B may be a
// name.
func (o operand) orEqual(match predicate, op, text string) predicate {
	if op != "=" {
		return match
	}
	equal := o.compareText(op, text)
	return func(l *Line) bool { return match(l) || equal(l) }
}

func (o operand) contains(part string) predicate {
	value := []byte(part)
	return func(l *Line) bool {
		text, ok := o.text(l)
		return ok && bytes.Contains(text, value)
	}
}

// matches compiles a regular expression. A plain text, or the beginning of a
// text, needs no matcher.
func (o operand) matches(re *regexp.Regexp, source string) predicate {
	if text, anchored, ok := literal(source); ok {
		if !anchored {
			return o.contains(text)
		}
		prefix := []byte(text)
		return func(l *Line) bool {
			text, ok := o.text(l)
			return ok && bytes.HasPrefix(text, prefix)
		}
	}
	return func(l *Line) bool {
		text, ok := o.text(l)
		return ok && re.Match(text)
	}
}

// literal returns the text that an expression matches, and whether it must be
// at the beginning.
func literal(source string) (text string, anchored, ok bool) {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return "", false, false
	}
	parsed = parsed.Simplify()
	if parsed.Op == syntax.OpConcat && len(parsed.Sub) == 2 &&
		parsed.Sub[0].Op == syntax.OpBeginText {
		parsed, anchored = parsed.Sub[1], true
	}
	if parsed.Op != syntax.OpLiteral || parsed.Flags&syntax.FoldCase != 0 ||
		strings.ContainsRune(string(parsed.Rune), '\uFFFD') {
		return "", false, false
	}
	return string(parsed.Rune), anchored, true
}
