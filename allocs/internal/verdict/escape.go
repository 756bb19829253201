// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nib-log/nib/allocs/internal/compiler"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

// explainEscape finds the compiler's escape for the site.
func (in *Input) explainEscape(s *Site) {
	if in.Escapes == nil {
		return
	}
	var stack []compiler.Position
	for _, f := range s.Stack {
		stack = append(stack, compiler.Position{File: f.File, Line: f.Line})
	}
	for _, candidates := range [][]*compiler.Escape{in.Escapes.At(stack),
		in.Escapes.Inlined(stack)} {
		if s.choose(candidates); s.Evidence.Escape != nil {
			return
		}
	}
}

// choose selects the escape that fits best, and records the values of all that
// fit equally well.
func (s *Site) choose(candidates []*compiler.Escape) {
	best := 0
	for _, e := range candidates {
		f := fit(e, s)
		if f == 0 || f < best {
			continue
		}
		if f > best {
			best, s.Evidence.Escape, s.Evidence.Values = f, nil, nil
		}
		if have := s.Evidence.Escape; have == nil || len(e.Reasons) > 0 && len(have.Reasons) == 0 {
			s.Evidence.Escape = e
		}
		if !slices.Contains(s.Evidence.Values, e.What) {
			s.Evidence.Values = append(s.Evidence.Values, e.What)
		}
	}
}

// fit returns how well an escape matches the kind of allocation, from 0, not at
// all, to 2; a line can have several.
func fit(e *compiler.Escape, s *Site) int {
	kind := s.Kind
	if kind == heapcalls.Inside {
		kind = s.Inner
	}
	is := func(ok bool) int {
		if ok {
			return 2
		}
		return 0
	}
	switch kind {
	case heapcalls.Make:
		return is(strings.HasPrefix(e.What, "make("))
	case heapcalls.Grow, heapcalls.Move:
		return is(strings.HasPrefix(e.What, "append("))
	case heapcalls.Object:
		return fitObject(e)
	case heapcalls.Concat:
		return is(strings.Contains(e.What, " + "))
	case heapcalls.ToString, heapcalls.FromRunes:
		return is(strings.HasPrefix(e.What, "string("))
	case heapcalls.Box, heapcalls.BoxSmall:
		return is(
			!e.Moved && e.What != "... argument" && !strings.HasPrefix(e.What, "&") &&
				!strings.HasPrefix(e.What, "func literal") && !strings.HasPrefix(e.What, "\"") &&
				!constant(e.What))
	case heapcalls.ToBytes, heapcalls.ToRunes:
		return is(bytesOfText(e.What))
	}
	return 1
}

// fitObject is like fit, for an object. Escaping slices of constant size and
// method values are also objects.
func fitObject(e *compiler.Escape) int {
	switch {
	case e.Moved || strings.HasPrefix(e.What, "&") || strings.HasPrefix(e.What, "new(") ||
		strings.HasPrefix(e.What, "func literal") ||
		strings.HasPrefix(e.What, "... argument") || strings.HasSuffix(e.What, "{...}"):
		return 2
	case strings.HasPrefix(e.What, "make(") || bytesOfText(e.What) ||
		strings.Contains(e.What, ".") && !strings.ContainsAny(e.What, " ()[]{}\"+*"):
		return 1
	}
	return 0
}

func bytesOfText(text string) bool {
	return strings.HasPrefix(text, "([]byte)") || strings.HasPrefix(text, "[]byte(") ||
		strings.HasPrefix(text, "([]rune)") || strings.HasPrefix(text, "[]rune(")
}

// constant reports whether the source text is a number: its box is in the
// executable's data.
func constant(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}
