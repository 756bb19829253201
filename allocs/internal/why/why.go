// SPDX-License-Identifier: Apache-2.0

// Package why summarizes the evidence of the compiler and the code about a site
// in one sentence, and finds a fix in a catalogue of patterns.
package why

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Answer is the reason why a site allocates, and a fix.
type Answer struct {
	Pattern string // stable name of the catalogue's entry
	Reason  string // one sentence
	Fix     string // "" if there is no known fix
}

// Explain returns the Answer for a site. line is the source of the line,
// statement the whole statement it belongs to; logCall reports that the root is
// a log call.
func Explain(s *verdict.Site, line, statement string, logCall bool) Answer {
	q := newQuery(s, line, statement, logCall)
	a := Answer{Reason: mechanics(q)}
	general := true // the reason states what happens, not yet why
	if p := q.find(); p != nil {
		a.Pattern, a.Fix = p.Name, p.Fix
		if p.Reason != "" {
			a.Reason, general = p.Reason+elsewhere(q), false
		}
	}
	a.Reason = q.withAll(a.Reason)
	if e := s.Evidence.Escape; e != nil && s.Kind != heapcalls.Inside {
		if because := because(e); because != "" && general {
			a.Reason += "; " + because
		}
	}
	return a
}

// newQuery returns the query for a site. It treats an object that holds a slice
// of constant size, or the bytes of a constant, as such.
func newQuery(s *verdict.Site, line, statement string, logCall bool) query {
	q := query{Site: s, line: line, statement: statement, logCall: logCall}
	if s.Evidence.Escape == nil {
		return q
	}
	q.what = s.Evidence.Escape.What
	if s.Kind == heapcalls.Object && !q.moved() {
		as := *s
		switch {
		case strings.HasPrefix(q.what, "make("):
			as.Kind = heapcalls.Make
		case strings.HasPrefix(q.what, "([]byte)("), strings.HasPrefix(q.what, "[]byte("):
			as.Kind = heapcalls.ToBytes
		}
		q.Site = &as
	}
	return q
}

// find returns the first pattern that matches, or nil. A function that the line
// calls takes precedence over functions further below.
func (q *query) find() *Pattern {
	for range 2 {
		for _, p := range catalogue {
			if p.match(*q) {
				return p
			}
		}
		if q.Kind != heapcalls.Inside {
			return nil
		}
		q.deep = true
	}
	return nil
}

// elsewhere names the place if it is not in the function that the line calls.
func elsewhere(q query) string {
	if q.Kind != heapcalls.Inside || len(q.Stack) == 0 ||
		binary.Normalise(q.Stack[0].Func) == q.Callee {
		return ""
	}
	if q.deep {
		return fmt.Sprintf(" (%s: %s)", ShortName(q.Callee), at(q))
	}
	return " (" + at(q) + ")"
}

// withAll names all values of the line that may be meant, where the code does
// not show which.
func (q query) withAll(reason string) string {
	var all []string
	for _, v := range q.Evidence.Values {
		if !strings.HasPrefix(v, "~") {
			all = append(all, "`"+short(v)+"`")
		}
	}
	if len(all) < 2 {
		return reason
	}
	one := "`" + short(q.what) + "`"
	for _, verb := range []string{"copied", "made"} {
		reason = strings.Replace(reason, one+" is "+verb, strings.Join(all, ", ")+" are "+verb, 1)
	}
	return reason
}

// mechanics describes an allocation at a site in general.
func mechanics(q query) string {
	what := q.what
	if what == "" || strings.HasPrefix(what, "~") || what == "... argument" {
		what = ""
	}
	or := func(fallback string) string {
		if what == "" {
			return fallback
		}
		return "`" + short(what) + "`"
	}
	switch e := q.Evidence.Escape; {
	case q.Kind == heapcalls.Inside:
		return fmt.Sprintf("%s takes memory (%s)", ShortName(q.Callee), at(q))
	case q.Kind == heapcalls.Make:
		return or("a slice of variable size") + " is made on the heap"
	case q.Kind == heapcalls.Box: // except for empty strings and nil slices
		return or("a value") + " is copied to the heap to be stored in an interface"
	case q.Kind == heapcalls.BoxSmall:
		return or("a number") +
			" is copied to the heap to be stored in an interface (0 to 255 are free)"
	case happens[q.Kind] != "":
		return happens[q.Kind]
	case e != nil && e.Moved:
		return "the variable " + or("") + " is moved to the heap"
	}
	return or("a value") + " is made on the heap"
}

// happens are sentences about kinds of allocation.
var happens = map[heapcalls.Kind]string{
	heapcalls.Grow: "append needs a larger array than the slice has",
	heapcalls.Move: "the slice was built on the stack and is copied to the heap because it " +
		"outlives the function",
	heapcalls.Map:       "a map is made",
	heapcalls.MapGrow:   "the map takes memory for a new key",
	heapcalls.Chan:      "a channel is made",
	heapcalls.Concat:    "strings are joined into a new one",
	heapcalls.Goroutine: "a goroutine is started",
	heapcalls.Defer:     "defer in a loop keeps a record for each round",
}

// at describes the kind of an allocation inside a callee, and the function that
// allocates if it is another.
func at(q query) string {
	noun := nouns[q.Inner]
	if noun == "" {
		noun = "an object"
	}
	if len(q.Stack) == 0 || binary.Normalise(q.Stack[0].Func) == q.Callee {
		return noun
	}
	return noun + " in " + ShortName(binary.Normalise(q.Stack[0].Func))
}

var nouns = map[heapcalls.Kind]string{
	heapcalls.Object: "an object", heapcalls.Box: "a boxed value",
	heapcalls.BoxSmall: "a boxed number", heapcalls.Make: "a slice",
	heapcalls.Grow: "a growing slice", heapcalls.Move: "a slice", heapcalls.Map: "a map",
	heapcalls.MapGrow: "a growing map",
	heapcalls.Chan:    "a channel", heapcalls.Concat: "a joined string",
	heapcalls.ToString: "a string", heapcalls.ToBytes: "a []byte",
	heapcalls.FromRunes: "a string", heapcalls.ToRunes: "a []rune",
	heapcalls.Goroutine: "a goroutine", heapcalls.Reflect: "a reflected value",
}

// directories are the part of an import path before the name of the package. A
// name can have several: its own, and one of each type argument.
var directories = regexp.MustCompile(`[^\s\[\](),*]+/`)

// ShortName cuts the paths in the name of a function to the names of the
// packages.
func ShortName(f string) string { return directories.ReplaceAllString(f, "") }

// because explains why the compiler could not keep a value on the stack: the
// last assignment before the heap.
func because(e *compiler.Escape) string {
	last := last(e)
	if last.Text == "" {
		return ""
	}
	text, how := split(last.Text)
	text = "`" + short(text) + "`"
	at := ""
	if last.At.File != e.Stack[len(e.Stack)-1].File ||
		last.At.Line != e.Stack[len(e.Stack)-1].Line {
		at = fmt.Sprintf(" (%s:%d)", filepath.Base(last.At.File), last.At.Line)
	}
	if how == "slice-literal-element" {
		text = strings.Replace(text, "`... argument`", "the argument list", 1)
	}
	if before, ok := ways[how]; ok {
		return fmt.Sprintf(before, text+at)
	}
	return "it reaches the heap through " + text + " (" + how + ")" + at
}

// ways are sentences about the last assignments before the heap.
var ways = map[string]string{
	"call parameter":        "it is passed to %s, and the compiler cannot see that the callee does not keep it",
	"return":                "it outlives the function through %s",
	"assign":                "%s stores it in something that lives longer",
	"assign-pair":           "%s stores it in something that lives longer",
	"star-assign":           "%s stores it in something that lives longer",
	"assign-pair-func-call": "%s stores it in something that lives longer",
	"captured by a closure": "a function literal keeps it: %s",
	"interface-converted":   "it becomes the interface value %s",
	"too large for stack":   "it is too large for the stack%.0s",
	"non-constant size":     "its size is not a constant%.0s",
	"address-of":            "its address is taken: %s",
	"slice-literal-element": "it becomes an element of %s",
	"send":                  "it is sent over a channel: %s",
}

// last returns the step of the flow that ends at the heap.
func last(e *compiler.Escape) compiler.Step {
	for _, s := range slices.Backward(e.Reasons) {
		if strings.HasPrefix(s.Text, "from ") && !strings.HasSuffix(s.Text, "(spill)") {
			return s
		}
	}
	return compiler.Step{}
}

// split splits "from x (how)".
func split(step string) (text, how string) {
	step = strings.TrimPrefix(step, "from ")
	i := strings.LastIndex(step, " (")
	if i < 0 {
		return step, ""
	}
	return step[:i], strings.TrimSuffix(step[i+2:], ")")
}

func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
