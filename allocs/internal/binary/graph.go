// SPDX-License-Identifier: Apache-2.0

package binary

import "sort"

// graph answers two questions about an instruction: does every call of the
// function execute it, and can the function still return after it?
type graph struct {
	insts []inst
	succ  [][2]int // successors; none is -1
	exit  []bool   // returns from the function
}

const none = -1

func newGraph(insts []inst, start, end uint64, neverReturns func(addr uint64) bool) *graph {
	g := &graph{insts: insts, succ: make([][2]int, len(insts)), exit: make([]bool, len(insts))}
	to := func(addr uint64) int {
		i := sort.Search(len(insts), func(i int) bool { return insts[i].pc >= addr })
		if i < len(insts) && insts[i].pc == addr {
			return i
		}
		return none
	}
	for i, in := range insts {
		after := i + 1
		if after == len(insts) {
			after = none
		}
		s := [2]int{none, none}
		inside := in.target >= start && in.target < end
		switch in.flow {
		case next, callAny:
			s[0] = after
		case call:
			if !neverReturns(in.target) {
				s[0] = after
			}
		case branch:
			s[0] = after
			if inside {
				s[1] = to(in.target)
			} else {
				g.exit[i] = true
			}
		case jump:
			if inside {
				s[0] = to(in.target)
			} else {
				g.exit[i] = true
			}
		case jumpAny, leave:
			// A jump through a table stays in the function, but its target is unknown.
			// It counts as an exit, so that nothing after it counts as unconditional.
			g.exit[i] = true
		}
		g.succ[i] = s
	}
	return g
}

// doomed returns the instructions from which every path ends in a panic, in a
// function that can do otherwise. No path from an endless loop ends.
func (g *graph) doomed() []bool {
	out := make([]bool, len(g.insts))
	all := func(next [2]int) bool {
		return (next[0] == none || out[next[0]]) && (next[1] == none || out[next[1]])
	}
	for again := true; again; {
		again = false
		for i := len(out) - 1; i >= 0; i-- {
			if !out[i] && !g.exit[i] && all(g.succ[i]) {
				out[i], again = true, true
			}
		}
	}
	if len(out) > 0 && out[0] {
		clear(out)
	}
	return out
}

// always reports whether no exit can be reached without executing instruction
// i.
func (g *graph) always(i int) bool { return !g.leaves(0, i) && g.leaves(i, none) }

// leaves reports whether an exit can be reached from an instruction without
// executing another one.
func (g *graph) leaves(from, without int) bool {
	seen := make([]bool, len(g.insts))
	if without != none {
		seen[without] = true
	}
	for work := []int{from}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if n == none || seen[n] {
			continue
		}
		seen[n] = true
		if g.exit[n] {
			return true
		}
		work = append(work, g.succ[n][:]...)
	}
	return false
}
