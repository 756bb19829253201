// SPDX-License-Identifier: Apache-2.0

package callsite

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/seed"
)

func TestZeroTableIsEmpty(t *testing.T) {
	var table Table[string]
	for _, pc := range []uintptr{0, 1, 0x401000, ^uintptr(0)} {
		if got := table.Get(pc); got != nil {
			t.Errorf("Get(%#x): got %q, want nil", pc, *got)
		}
	}
}

func TestTableKeepsWhatWasPut(t *testing.T) {
	for name, step := range map[string]uintptr{"next to each other": 1, "spread": 37, "same low bits": 1 << 12, "same low 20 bits": 1 << 20} {
		var table Table[string]
		const count = 2000
		for i := uintptr(1); i <= count; i++ {
			table.Put(i*step, strconv.Itoa(int(i)))
		}
		for i := uintptr(1); i <= count; i++ {
			got := table.Get(i * step)
			if want := strconv.Itoa(int(i)); got == nil || *got != want {
				t.Fatalf("%s: Get(%#x): got %v, want %q", name, i*step, got, want)
			}
		}
		for _, pc := range []uintptr{0, (count + 1) * step, (count + 12345) * step} {
			if got := table.Get(pc); got != nil {
				t.Errorf("%s: Get(%#x), which was not put: got %q, want nil", name, pc, *got)
			}
		}
	}
}

func TestFirstPutWins(t *testing.T) {
	var table Table[string]
	first := table.Put(7, "first")
	second := table.Put(7, "second")
	if *first != "first" || *second != "first" || *table.Get(7) != "first" {
		t.Errorf("got %q, %q and then %q, want \"first\" each time", *first, *second, *table.Get(7))
	}
}

func TestUnknownCallSiteIsNotKept(t *testing.T) {
	var table Table[string]
	if got := *table.Put(0, "unknown"); got != "unknown" {
		t.Errorf("got %q, want the value back", got)
	}
	table.Put(1, "known")
	if got := table.Get(0); got != nil {
		t.Errorf("got %q, want nil", *got)
	}
}

func TestValueStaysAfterGrowth(t *testing.T) {
	var table Table[string]
	p := table.Put(1, "one")
	for pc := uintptr(2); pc < 10*firstSize; pc++ {
		table.Put(pc, "other")
	}
	if *p != "one" || *table.Get(1) != "one" {
		t.Errorf("got %q and %q, want \"one\" both times", *p, *table.Get(1))
	}
}

func TestHalfOfTheTableStaysEmpty(t *testing.T) {
	var table Table[int]
	for pc := uintptr(1); pc <= 3*firstSize; pc++ {
		table.Put(pc, 0)
		s := table.now.Load()
		if 2*s.taken > len(s.entry) || s.taken != int(pc) {
			t.Fatalf("after %d: %d of %d taken, want %d and at most half", pc, s.taken, len(s.entry), pc)
		}
	}
}

// A pair shows whether a value is torn or unpublished: both halves belong to
// the key.
type pair struct{ a, b uint64 }

func pairOf(pc uintptr) pair { return pair{uint64(pc) * 3, ^uint64(pc) * 5} }

func TestConcurrentUse(t *testing.T) {
	const keys, rounds, writers, readers = 3000, 6000, 4, 4
	from := seed.Of(t)
	var table Table[pair]
	var put [writers][]uintptr
	var all sync.WaitGroup
	check := func(pc uintptr, got *pair) {
		if got != nil && *got != pairOf(pc) {
			t.Errorf("value of %d: got %v, want %v", pc, *got, pairOf(pc))
		}
	}
	for w := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			rnd := rand.New(rand.NewPCG(from, uint64(w)))
			for range rounds {
				pc := uintptr(rnd.IntN(keys) + 1)
				check(pc, table.Put(pc, pairOf(pc)))
				put[w] = append(put[w], pc)
				if back := rnd.IntN(len(put[w])); table.Get(put[w][back]) == nil {
					t.Errorf("key %d was put and is gone", put[w][back])
				}
			}
		}()
	}
	for r := range readers {
		all.Add(1)
		go func() {
			defer all.Done()
			rnd := rand.New(rand.NewPCG(from+1, uint64(r)))
			for range rounds {
				pc := uintptr(rnd.IntN(keys) + 1)
				check(pc, table.Get(pc))
			}
		}()
	}
	all.Wait()
	for w := range put {
		for _, pc := range put[w] {
			if table.Get(pc) == nil {
				t.Fatalf("key %d was put and is gone", pc)
			}
		}
	}
}

func TestGetDoesNotAllocate(t *testing.T) {
	var table Table[string]
	for pc := uintptr(1); pc < 1000; pc++ {
		table.Put(pc, "x")
	}
	pc, length := uintptr(0), 0
	alloctest.Zero(t, func() {
		pc = (pc + 1) % 1200 // hits and misses
		if v := table.Get(pc); v != nil {
			length += len(*v)
		}
	})
	if length == 0 {
		t.Error("no key was found")
	}
}

func TestPutOfAKnownKeyDoesNotAllocate(t *testing.T) {
	var table Table[string]
	table.Put(1, "x")
	alloctest.Zero(t, func() { table.Put(1, "y") })
}
