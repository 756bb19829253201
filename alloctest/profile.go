// SPDX-License-Identifier: Apache-2.0

package alloctest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// maxStacks is the number of stacks that a failure shows, those with the most
// allocations.
const maxStacks = 8

// findings are the allocations in the profile of some calls.
type findings struct {
	calls  int
	own    int64 // allocations of the calls
	stacks []stack
}

// A stack is one place that allocates.
type stack struct {
	pcs    [32]uintptr
	count  int64
	frames string // the stack from the allocation up to the function under test
	own    bool   // called by profiled, and not for a cache of the runtime
}

// caches lists the functions in which the runtime fills its own caches, which
// is not an allocation of the code that calls them. It caches type assertions
// at random, about one in a thousand that are not cached yet. It keeps records
// of waiting goroutines, and makes one if more wait than before: a call that
// never waits does so when it meets another goroutine at a lock. It keeps a
// list of running timers, which grows if more run than before.
var caches = []string{
	"runtime.typeAssert", "runtime.interfaceSwitch",
	"runtime.acquireSudog", "runtime.(*timers).addHeap",
}

// profile calls f with the memory profile at its finest and returns the
// records. The rate should be set once at the start of a program; a rate of 1
// takes effect at once, because every allocation checks it.
func profile(f func(), calls int) findings {
	defer quiet()()
	before := snapshot()
	repeat(f, runs) // refill the pools that the snapshot has emptied
	rate := runtime.MemProfileRate
	func() {
		defer func() { runtime.MemProfileRate = rate }()
		runtime.MemProfileRate = 1
		profiled(f, calls)
	}()
	found := findings{calls: calls}
	for pcs, count := range snapshot() {
		if count -= before[pcs]; count > 0 {
			s := stack{pcs: pcs, count: count}
			s.resolve()
			if s.own {
				found.own += count
			}
			found.stacks = append(found.stacks, s)
		}
	}
	return found
}

// profiled marks the stacks of the calls under test by its name.
//
//go:noinline
func profiled(f func(), calls int) {
	for range calls {
		f()
	}
}

// snapshot returns the number of allocations by stack since the program began.
// The runtime publishes them with a delay of up to two collections.
func snapshot() map[[32]uintptr]int64 {
	for range 3 {
		runtime.GC()
	}
	n, _ := runtime.MemProfile(nil, true)
	for {
		records := make([]runtime.MemProfileRecord, n+50)
		var ok bool
		if n, ok = runtime.MemProfile(records, true); !ok {
			continue
		}
		counts := make(map[[32]uintptr]int64, n)
		for _, r := range records[:n] {
			counts[r.Stack0] += r.AllocObjects
		}
		return counts
	}
}

// resolve turns program counters into text, without the callers of f and the
// allocator itself.
func (s *stack) resolve() {
	pcs := s.pcs[:]
	if end := slices.Index(pcs, 0); end >= 0 {
		pcs = pcs[:end]
	}
	var text strings.Builder
	frames := runtime.CallersFrames(pcs)
	cached := false
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "/alloctest.profiled") {
			s.own = !cached
			break
		}
		cached = cached || slices.Contains(caches, f.Function)
		if !strings.HasPrefix(f.Function, "runtime.mallocgc") {
			fmt.Fprintf(&text, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			break
		}
	}
	s.frames = text.String()
}

// String lists the stacks, most allocations first. Stacks of other goroutines
// are shown only if f has none, as the only hint.
func (f findings) String() string {
	shown := slices.DeleteFunc(slices.Clone(f.stacks), func(s stack) bool {
		return !s.own && f.own > 0
	})
	slices.SortFunc(shown, func(a, b stack) int {
		if a.count != b.count {
			return int(b.count - a.count)
		}
		return strings.Compare(a.frames, b.frames)
	})
	var text strings.Builder
	switch {
	case len(shown) == 0:
		fmt.Fprintf(&text,
			"a profile of %d more calls saw no stack: either these did not allocate, or only "+
				"objects too small for it\n", f.calls)
	case f.own == 0:
		fmt.Fprintf(&text,
			"a profile of %d more calls saw none below f, but these in the process:\n", f.calls)
	default:
		fmt.Fprintf(&text, "a profile of %d more calls saw:\n", f.calls)
	}
	for i, s := range shown {
		if i == maxStacks {
			fmt.Fprintf(&text, "and %d more stacks\n", len(shown)-i)
			break
		}
		fmt.Fprintf(&text, "%d allocations at\n%s", s.count, s.frames)
	}
	return text.String()
}
