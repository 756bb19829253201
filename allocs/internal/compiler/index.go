// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"fmt"
	"strings"
)

// Index finds the escapes of a place in the code.
type Index struct {
	byStack map[string][]*Escape
	byLine  map[string][]*Escape
	byOuter map[string][]*Escape // keyed by the stack without its inner frames
}

// NewIndex makes an index of escapes.
func NewIndex(all map[string][]Escape) *Index {
	x := &Index{byStack: map[string][]*Escape{}, byLine: map[string][]*Escape{},
		byOuter: map[string][]*Escape{}}
	for _, escapes := range all {
		for i := range escapes {
			e := &escapes[i]
			if e.What == "" {
				continue
			}
			x.byStack[stackKey(e.Stack)] = append(x.byStack[stackKey(e.Stack)], e)
			inner := stackKey(e.Stack[:1])
			x.byLine[inner] = append(x.byLine[inner], e)
			for n := 1; n < len(e.Stack); n++ {
				outer := stackKey(e.Stack[n:])
				x.byOuter[outer] = append(x.byOuter[outer], e)
			}
		}
	}
	return x
}

func stackKey(stack []Position) string {
	var b strings.Builder
	for _, p := range stack {
		fmt.Fprintf(&b, "%s:%d|", p.File, p.Line)
	}
	return b.String()
}

// At returns the escapes at an inline stack, innermost position first. The
// stack of the code and that of the compiler are the same when both come from
// the same function; where the code was inlined once more, the escapes of the
// innermost line are returned.
func (x *Index) At(stack []Position) []*Escape {
	if len(stack) == 0 {
		return nil
	}
	for n := len(stack); n > 0; n-- {
		if e := x.byStack[stackKey(stack[:n])]; len(e) > 0 {
			return e
		}
	}
	return x.byLine[stackKey(stack[:1])]
}

// Inlined returns the escapes in the code that was inlined at the place. The
// parameters of an inlined function are made where it is called: there the code
// has no frame of the function, and the compiler has.
func (x *Index) Inlined(stack []Position) []*Escape { return x.byOuter[stackKey(stack)] }
