// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// A Query selects lines; see the package comment for the language. The zero
// Query selects all. It never changes, so any number of goroutines may use it,
// each with its own Line.
type Query struct {
	text  string
	match predicate
	paths []string // paths of the fields, indexed like Line.values
	asks  fact     // the facts that it compares
}

// A predicate decides about a line.
type predicate func(*Line) bool

// maxFields is the number of different fields that a query can have.
const maxFields = 64

// ParseQuery compiles a query. Times like "-1h" and "yesterday" are relative to
// now and in its zone. The error is a [*QueryError]. An empty text selects all.
func ParseQuery(text string, now time.Time) (*Query, error) {
	p := parser{lexer: lexer{text: text}, now: now, query: &Query{text: text}}
	if strings.TrimSpace(text) == "" {
		return p.query, nil
	}
	p.next()
	p.query.match = p.or()
	if p.token.kind != tokenEnd {
		p.fail("want and, or, or the end of the query, not %s", p.token)
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.query, nil
}

// String returns the text of the query.
func (q *Query) String() string { return q.text }

// Match reports whether the query selects l. A nil Query selects all.
func (q *Query) Match(l *Line) bool {
	if q == nil || q.match == nil {
		return true
	}
	if l.query != q {
		l.query, l.asked = q, 0
	}
	return q.match(l)
}

// Lacks reports whether l, which q has not selected, only lacks a level or a
// time: q would select it if they were there and compared as q wants. An empty
// line lacks nothing.
func (q *Query) Lacks(l *Line) (level, time bool) {
	if q == nil || q.asks&l.known&^l.found == 0 || len(l.text) == 0 {
		return false, false
	}
	l.missing, l.lacks = 1, 0
	if !q.Match(l) {
		l.lacks = 0
	}
	l.missing = 0
	return l.lacks&factLevel != 0, l.lacks&factTime != 0
}

// And returns a query that selects the lines that all of queries select.
func And(queries ...*Query) *Query {
	var all []*Query
	var matches []predicate
	var texts []string
	var asks fact
	for _, q := range queries {
		if q != nil && q.match != nil {
			all, matches, asks = append(all, q), append(matches, q.Match), asks|q.asks
			texts = append(texts, "("+q.text+")")
		}
	}
	switch len(all) {
	case 0:
		return new(Query)
	case 1:
		return all[0]
	}
	return &Query{text: strings.Join(texts, " and "), asks: asks, match: allOf(matches)}
}

// field returns the raw value of a field of the query, looked up once per line.
func (l *Line) field(i int) []byte {
	if l.asked&(1<<i) == 0 {
		l.asked |= 1 << i
		l.values[i], _ = l.Lookup(l.query.paths[i])
	}
	return l.values[i]
}

// A QueryError reports why a text is not a query.
type QueryError struct {
	Query   string
	Offset  int // counted in bytes
	Problem string
}

func (e *QueryError) Error() string {
	return fmt.Sprintf("nib/logread: %s at character %d of the query %q", e.Problem, e.column()+1,
		e.Query)
}

// Caret returns the query and a line with a caret below the character at
// Offset.
func (e *QueryError) Caret() (query, caret string) {
	query = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return r
	}, e.Query)
	return query, strings.Repeat(" ", e.column()) + "^"
}

// column returns the number of characters before Offset.
func (e *QueryError) column() int {
	return utf8.RuneCountInString(e.Query[:min(e.Offset, len(e.Query))])
}
