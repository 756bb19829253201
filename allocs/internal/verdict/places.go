// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"fmt"
	"math"
	"sort"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

// Place is one of the places below a line that a run saw allocating when warm.
type Place struct {
	Stack []binary.Frame // allocation first
	Kind  heapcalls.Kind
	PerOp float64
}

// addPlace notes a measured stack. The same allocation seen by several runs, or
// reached on several paths, is one place.
func (s *Site) addPlace(stack []binary.Frame, kind heapcalls.Kind, perOp float64) {
	if s.Kind != heapcalls.Inside || perOp <= 0 {
		return
	}
	for i := range s.Places {
		p := &s.Places[i]
		if p.Stack[0].Func == stack[0].Func && p.Kind == kind {
			if text(stack) < text(p.Stack) {
				p.Stack = stack
			}
			p.PerOp = max(p.PerOp, perOp)
			return
		}
	}
	s.Places = append(s.Places, Place{stack, kind, perOp})
}

// tellPlaces gives the site the place that allocates most often: the function
// that the line calls can allocate at several. The order is the same in each
// run.
func (s *Site) tellPlaces() {
	if len(s.Places) == 0 {
		return
	}
	sort.Slice(s.Places, func(i, j int) bool {
		a, b := s.Places[i], s.Places[j]
		if x, y := math.Round(a.PerOp*2), math.Round(b.PerOp*2); x != y {
			return x > y
		}
		return text(a.Stack) < text(b.Stack)
	})
	s.Stack, s.Inner = s.Places[0].Stack, s.Places[0].Kind
}

func text(stack []binary.Frame) string { return fmt.Sprint(stack) }
