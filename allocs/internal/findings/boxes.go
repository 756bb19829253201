// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"fmt"
	"math"
	"strings"

	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// argument is a site, and the value that it boxes if that is known.
type argument struct {
	*verdict.Site
	value string
}

// each returns the sites, with one for each boxed value.
func each(sites []*verdict.Site, boxes load.Boxes) (out []argument) {
	for _, s := range sites {
		out = append(out, arguments(s, boxes)...)
	}
	return out
}

// arguments makes a site for each value that is boxed at a line. The code has
// one call for each, but only the source shows the values.
func arguments(s *verdict.Site, boxes load.Boxes) []argument {
	want := load.Other
	switch s.Kind {
	case heapcalls.BoxSmall:
		want = load.Small
	case heapcalls.Box:
	default:
		return []argument{{s, ""}}
	}
	var values []string
	for _, v := range s.Evidence.Values {
		kind, ok := boxes[s.File][s.Line][v]
		if !ok {
			return []argument{{s, ""}}
		}
		if kind == want {
			values = append(values, v)
		}
	}
	n := len(values)
	if n == 0 || s.Evidence.Calls%n != 0 {
		return []argument{{s, ""}}
	}
	var out []argument
	for _, v := range values {
		one := *s
		e := &one.Evidence
		e.Values = []string{v}
		if e.Escape != nil && e.Escape.What != v {
			escape := *e.Escape
			escape.What = v
			e.Escape = &escape
		}
		e.Calls /= n
		e.Runs = nil
		for _, r := range s.Evidence.Runs {
			e.Runs = append(e.Runs, share(r, n))
		}
		one.Reason = shared(s, e.Runs)
		if n == 1 && len(s.Evidence.Values) == 1 {
			v = "" // there is nothing to distinguish
		}
		out = append(out, argument{&one, v})
	}
	return out
}

// shared returns the verdict of a site in words, with the count of one call.
func shared(s *verdict.Site, runs []verdict.Seen) string {
	const seen = "seen in "
	most := verdict.Seen{}
	for _, r := range runs {
		if r.PerOp > most.PerOp {
			most = r
		}
	}
	if !strings.HasPrefix(s.Reason, seen) || len(runs) == 0 || most.Name == "" {
		return s.Reason
	}
	return fmt.Sprintf("%s%s: %v per operation", seen, most.Name, math.Round(100*most.PerOp)/100)
}

// share returns the share of one of n calls in a count.
func share(s verdict.Seen, n int) verdict.Seen {
	s.PerOp /= float64(n)
	s.Total /= float64(n)
	s.Bytes /= float64(n)
	return s
}
