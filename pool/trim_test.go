// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"testing"

	"github.com/nib-log/nib/pool"
)

// fill puts the values from..to-1.
func fill(p *pool.Pool[int], from, to int) {
	for i := from; i < to; i++ {
		p.Put(i)
	}
}

// drain takes all values and fails if one comes twice.
func drain(t *testing.T, p *pool.Pool[int]) map[int]bool {
	t.Helper()
	seen := map[int]bool{}
	for range p.Stats().Len {
		v := p.Get()
		if seen[v] {
			t.Fatalf("got %d twice", v)
		}
		seen[v] = true
	}
	return seen
}

func TestTrimLeavesSoManyValues(t *testing.T) {
	for _, have := range []int{0, 1, 7, 8, 9, 24, 25, 1000, 5000} {
		for _, n := range []int{0, 1, 5, 8, 17, 999, 1000, 1 << 30} {
			var p pool.Pool[int]
			fill(&p, 1, have+1)
			p.Trim(n)
			got, want := p.Stats(), min(have, n)
			if got.Len != want || got.Trimmed != uint64(have-want) || got.Puts != uint64(have) {
				t.Errorf("Trim(%d) of %d: got %+v, want %d left", n, have, got, want)
			}
			used := 0
			p.Slots(func(v int) {
				if v != 0 {
					used++
				}
			})
			if used != want {
				t.Errorf("Trim(%d) of %d: got %d slots that are not clear, want %d", n, have, used, want)
			}
			if seen := drain(t, &p); len(seen) != want || seen[0] {
				t.Errorf("Trim(%d) of %d: got %d values, want %d", n, have, len(seen), want)
			}
		}
	}
}

// A shard with an empty stack and a spare magazine with values once both gave
// that magazine away and kept it.
func TestTrimWhereOnlyTheSpareHasValues(t *testing.T) {
	for taken := range 24 {
		var p pool.Pool[int]
		fill(&p, 1, 25)
		for range taken {
			p.Get()
		}
		p.Trim(3)
		fill(&p, 100, 200)
		if got, want := len(drain(t, &p)), min(24-taken, 3)+100; got != want {
			t.Errorf("%d taken: got %d values, want %d", taken, got, want)
		}
	}
}

func TestTrimGivesEmptySlotsAway(t *testing.T) {
	var p pool.Pool[int]
	fill(&p, 0, 10_000)
	for range 10_000 {
		p.Get()
	}
	count := func() (slots int) {
		p.Slots(func(int) { slots++ })
		return slots
	}
	if got := count(); got < 10_000 {
		t.Errorf("before: got %d slots, want 10000", got)
	}
	p.Trim(0)
	if got := count(); got != 0 {
		t.Errorf("after: got %d slots, want none", got)
	}
	fill(&p, 0, 10_000)
	p.Shrink()
	p.Trim(5)
	p.Shrink() // its earlier notes are gone
	p.Shrink()
	if got := p.Stats().Len; got != 0 || p.Fault() != "" {
		t.Errorf("after Shrink: got %d values %s, want none", got, p.Fault())
	}
}

func TestTrimToANegativeNumberPanics(t *testing.T) {
	var p pool.Pool[int]
	wantPanic(t, "nib/pool: Trim to a negative number of values", func() { p.Trim(-1) })
}

// wantPanic checks that f panics with a text.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("got panic %v, want %q", got, want)
		}
	}()
	f()
}
