// SPDX-License-Identifier: Apache-2.0

package binary

import "sort"

// graph answers two questions about an instruction: does every call of the
// function execute it, and can the function still return after it?
type graph struct {
	insts []inst
	succ  [][2]int // successors; none is -1
	exit  []bool   // returns from the function
	lives []bool   // an exit can be reached from here
}

const none = -1

func newGraph(insts []inst, start, end uint64, neverReturns func(addr uint64) bool) *graph {
	g := &graph{insts: insts, succ: make([][2]int, len(insts)), exit: make([]bool, len(insts)), lives: make([]bool, len(insts))}
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
	g.spread()
	return g
}

// spread marks the instructions from which an exit can be reached, backwards
// until nothing changes.
func (g *graph) spread() {
	copy(g.lives, g.exit)
	for changed := true; changed; {
		changed = false
		for i := len(g.insts) - 1; i >= 0; i-- {
			if g.lives[i] {
				continue
			}
			for _, s := range g.succ[i] {
				if s != none && g.lives[s] {
					g.lives[i], changed = true, true
				}
			}
		}
	}
}

// doomed reports whether no exit can be reached from instruction i, in a
// function that can return at all: an endless loop is not doomed.
func (g *graph) doomed(i int) bool { return g.lives[0] && !g.lives[i] }

// always reports whether no exit can be reached without executing instruction
// i.
func (g *graph) always(i int) bool {
	if len(g.insts) == 0 || !g.lives[i] {
		return false
	}
	seen := make([]bool, len(g.insts))
	seen[i] = true
	work := []int{0}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if g.exit[n] {
			return false
		}
		for _, s := range g.succ[n] {
			if s != none {
				work = append(work, s)
			}
		}
	}
	return true
}
