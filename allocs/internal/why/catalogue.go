// SPDX-License-Identifier: Apache-2.0

package why

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

//go:embed catalogue.txt
var catalogueText string

// catalogue is searched from the top, so special patterns come first.
var catalogue = parse(catalogueText)

// Pattern is an entry of the catalogue.
type Pattern struct {
	Name   string
	Reason string // replaces the general reason; "" keeps it
	Fix    string
	kinds  []string
	calls  []string
}

// parse reads the catalogue.
func parse(text string) (out []*Pattern) {
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "" || word == "#":
		case line[0] != ' ':
			out = append(out, &Pattern{Name: word})
		default:
			p := out[len(out)-1]
			switch word {
			case "kind":
				p.kinds = strings.Fields(rest)
			case "call":
				p.calls = append(p.calls, strings.Fields(rest)...)
			case "why":
				p.Reason = rest
			case "fix":
				p.Fix = rest
			default:
				panic("catalogue: " + line)
			}
		}
	}
	return out
}

// match reports whether a site is about the kinds or functions of the pattern,
// and meets its condition.
func (p *Pattern) match(q query) bool {
	if len(p.kinds)+len(p.calls) > 0 && !slices.Contains(p.kinds, string(q.Kind)) &&
		!q.calls(p.calls) {
		return false
	}
	condition := conditions[p.Name]
	return condition == nil || condition(q)
}

// query is the input of patterns.
type query struct {
	*verdict.Site
	what      string
	line      string
	statement string
	logCall   bool
	deep      bool // also match functions that the callee calls
}

// moved reports whether a variable moves to the heap.
func (q query) moved() bool { return q.Evidence.Escape != nil && q.Evidence.Escape.Moved }

// escapes reports whether the compiler keeps a slice off the stack for another
// reason than its size.
func (q query) escapes() bool {
	if q.Evidence.Escape == nil {
		return false
	}
	_, how := split(last(q.Evidence.Escape).Text)
	return how != "" && how != "non-constant size"
}

func (q query) boxed() bool { return q.Kind == heapcalls.Box || q.Kind == heapcalls.BoxSmall }

// calls reports whether the site is inside one of the functions.
func (q query) calls(names []string) bool {
	if q.Kind != heapcalls.Inside {
		return false
	}
	if slices.ContainsFunc(names, func(n string) bool { return matches(n, q.Callee) }) {
		return true
	}
	if !q.deep {
		return false
	}
	// Functions that the line calls may be inlined: also match the functions
	// between the line and the allocation.
	for _, f := range q.Stack {
		if binary.Normalise(f.Func) == q.Func {
			break
		}
		if slices.Contains(names, f.Func) {
			return true
		}
	}
	return false
}

// matches compares a name with a pattern that may have one asterisk, besides
// those of receivers.
func matches(pattern, name string) bool {
	i := strings.LastIndexByte(pattern, '*')
	if i < 0 || i > 0 && pattern[i-1] == '(' {
		return name == pattern
	}
	start, end := pattern[:i], pattern[i+1:]
	return len(name) >= len(start)+len(end) && strings.HasPrefix(name, start) &&
		strings.HasSuffix(name, end)
}

func (q query) has(parts ...string) bool {
	for _, p := range parts {
		// The innermost statement of the line can be in a function literal.
		if strings.Contains(q.statement, p) || strings.Contains(q.line, p) {
			return true
		}
	}
	return false
}

// flows reports whether a step of the value's way to the heap has the text.
func (q query) flows(text string) bool {
	if q.Evidence.Escape == nil {
		return false
	}
	for _, s := range q.Evidence.Escape.Reasons {
		if strings.Contains(s.Text, text) {
			return true
		}
	}
	return false
}
