// SPDX-License-Identifier: Apache-2.0

package usercode_test

import (
	"os"
	"sync"
	"testing"

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
	grow()
	var enter func(depth int)
	enter = func(depth int) {
		s, n := usercode.Enter()
		defer s.Leave()
		if n < depth {
			t.Errorf("Enter at depth %d: %d under way", depth, n)
		}
		if depth < 8 {
			enter(depth + 1)
		}
	}
	enter(1)
}

// Goroutines with stacks far apart do not share a Slot, or every line would
// have to inspect its stack while others are being built.
func TestStacksApartHaveSlotsOfTheirOwn(t *testing.T) {
	const goroutines = 64
	slots, release := make(chan *usercode.Slot), make(chan bool)
	for range goroutines {
		go onLargeStack(5, func() {
			s, _ := usercode.Enter()
			slots <- s
			<-release
			s.Leave()
		})
	}
	different := map[*usercode.Slot]bool{}
	for range goroutines {
		different[<-slots] = true
	}
	if got := usercode.Open(); got != goroutines {
		t.Errorf("Open returns %d, want %d", got, goroutines)
	}
	close(release)
	if len(different) < goroutines/4 {
		t.Errorf("%d goroutines have %d slots", goroutines, len(different))
	}
}

func TestLeaveTakesAllBack(t *testing.T) {
	var wg sync.WaitGroup
	for range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 100 {
				s, _ := usercode.Enter()
				s.Leave()
			}
		}()
	}
	wg.Wait()
	s, n := usercode.Enter()
	defer s.Leave()
	if n != 1 {
		t.Errorf("%d under way after all have left, want this one", n)
	}
}
