// SPDX-License-Identifier: Apache-2.0

package usercode_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/usercode"
)

//go:noinline
func chain(depth int, end func()) {
	if depth > 1 {
		chain(depth-1, end)
		return
	}
	end()
}

func TestFramesCountsItsOwnStack(t *testing.T) {
	for _, depth := range []int{1, 5, 200} {
		chain(depth, func() {
			if got := usercode.Frames(chain); got != depth {
				t.Errorf("Frames at depth %d = %d", depth, got)
			}
			if got := usercode.FramesNamed("github.com/nib-log/nib/internal/usercode_test.", "other", "chain"); got != depth {
				t.Errorf("FramesNamed at depth %d = %d", depth, got)
			}
			if got := usercode.FramesNamed("elsewhere.", "github.com/nib-log/nib/internal/usercode_test.chain"); got != 0 {
				t.Errorf("FramesNamed of another package at depth %d = %d, want 0", depth, got)
			}
		})
	}
	if got := usercode.Frames(chain); got != 0 {
		t.Errorf("Frames outside of the chain = %d, want 0", got)
	}
}

func TestFramesDoesNotSeeOtherGoroutines(t *testing.T) {
	chain(3, func() {
		got := make(chan int)
		go func() { got <- usercode.Frames(chain) }()
		if n := <-got; n != 0 {
			t.Errorf("Frames on another goroutine = %d, want 0", n)
		}
	})
}

// grow makes the stack of its caller large enough not to be moved by a test.
//
//go:noinline
func grow() byte {
	var room [32 << 10]byte
	return room[len(os.Args)]
}

// keepStack makes the stack of a test large, and keeps the garbage collector
// from shrinking it: an entry is not found from a stack that has moved.
func keepStack(t *testing.T) {
	t.Helper()
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	runtime.GC() // no other one goes on
	grow()
}

// onLargeStack runs f on a stack that shares its 256 KiB with no other
// goroutine.
//
//go:noinline
func onLargeStack(frames int, f func()) byte {
	var room [64 << 10]byte // a larger one would not be on the stack
	if frames > 1 {
		return onLargeStack(frames-1, f)
	}
	f()
	return room[len(os.Args)]
}

func TestEnterCountsUpAlongAChain(t *testing.T) {
	keepStack(t)
	var enter func(depth int)
	enter = func(depth int) {
		s, n := usercode.Enter(usercode.Settings)
		defer s.Leave()
		if n < depth {
			t.Errorf("Enter at depth %d: %d under way", depth, n)
		}
		if depth < 7 {
			enter(depth + 1)
		}
	}
	enter(1)
}

// Goroutines with stacks far apart do not share a slot, or every line would
// have to inspect its stack while others are being built.
func TestStacksApartHaveSlotsOfTheirOwn(t *testing.T) {
	const goroutines = 64
	slots, release := make(chan usercode.Entry), make(chan bool)
	var all sync.WaitGroup
	for range goroutines {
		all.Add(1)
		go onLargeStack(5, func() {
			defer all.Done()
			s, _ := usercode.Enter(usercode.Settings)
			slots <- s
			<-release
			s.Leave()
		})
	}
	different := map[usercode.Entry]bool{}
	for range goroutines {
		different[<-slots] = true
	}
	close(release)
	all.Wait()
	if len(different) < goroutines/4 {
		t.Errorf("%d goroutines have %d slots", goroutines, len(different))
	}
}

// line owns entries, like an event.
type line struct{ _ [8]uint64 }

// nest calls f within entries of all lines, each inside of the one before.
func nest(lines []*line, f func()) {
	if len(lines) == 0 {
		f()
		return
	}
	e, _ := usercode.EnterFor(usercode.Fields, lines[0])
	nest(lines[1:], f)
	e.Leave()
}

func newLines(n int) (lines []*line) {
	for range n {
		lines = append(lines, new(line))
	}
	return lines
}

func TestLeaveTakesAllBack(t *testing.T) {
	keepStack(t)
	lines := newLines(6)
	first, _ := usercode.EnterFor(usercode.Fields, lines[0])
	first.Correct(0) // whatever other tests have left
	first.Leave()
	before := usercode.Open()
	for range 100 {
		nest(lines[1:], func() {
			if got := usercode.Open(); got != before+5 {
				t.Fatalf("%d entries are open, want 5", got-before)
			}
		})
		if got := usercode.Open(); got != before {
			t.Fatalf("%d entries are open after all have left", got-before)
		}
	}
}

// A chain is found whatever lines the goroutine has written before, and in
// which order their owners have been used.
func TestChainsOfOwnersCountUp(t *testing.T) {
	keepStack(t)
	const chain = 5
	lines := newLines(7)
	rng := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range 1000 {
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		nest(lines[:rng.IntN(chain)+1], func() {})
		nest(lines[:chain-1], func() {
			nest(lines[chain-1:chain], func() {})
			e, n := usercode.EnterFor(usercode.Fields, lines[chain])
			if n <= chain-1 {
				t.Fatalf("%d calls in progress on a stack with %d", n, chain)
			}
			e.Leave()
		})
	}
}

// Goroutines that take turns in one slot may leave a count behind. The first to
// inspect its stack corrects it.
func TestCountsOfOtherGoroutinesAreCorrected(t *testing.T) {
	keepStack(t)
	lines := newLines(8)
	for range 100 {
		var open []usercode.Entry
		n := 0
		for _, l := range lines {
			e, count := usercode.EnterFor(usercode.Fields, l)
			open, n = append(open, e), count
		}
		for _, e := range open { // in the wrong order
			e.Leave()
		}
		if n <= 4 {
			t.Fatalf("%d calls in progress, want more than 4", n)
		}
	}
	e, n := usercode.EnterFor(usercode.Fields, lines[0])
	if n <= 4 {
		t.Fatalf("%d calls in progress after leaving in the wrong order, want more than 4", n)
	}
	if got := e.Correct(0); got != 0 {
		t.Errorf("Correct(0) = %d", got)
	}
	e.Leave()
	for _, l := range lines {
		e, n := usercode.EnterFor(usercode.Fields, l)
		if n > 2 {
			t.Errorf("%d calls in progress after the count was corrected", n)
		}
		e.Leave()
	}
}
