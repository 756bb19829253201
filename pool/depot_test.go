// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib/internal/publish"
)

// onPlace runs f on a new goroutine, whose place is the same in all that f
// calls, and not the place of processor 0. There is one processor.
func onPlace[T any](t *testing.T, p *Pool[T], f func(table *table[T], home uintptr)) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p.begin()
	done := make(chan struct{})
	go onFixedStack(func() {
		defer close(done)
		table := p.table.Load()
		for table.place()&table.mask == 0 {
			table.salt += 2 // still a place of stacks
		}
		f(table, table.place()&table.mask)
	})
	<-done
}

// onFixedStack calls f with half of a stack in use. The place is part of the
// address of the stack, which is moved when it grows, or when less than a
// quarter is used.
//
//go:noinline
func onFixedStack(f func()) byte {
	var half [1 << 14]byte
	f()
	return half[runtime.NumGoroutine()]
}

// idle returns how many values are in the items of a shard.
func (s *shard[T]) idle() int { return int(atomic.LoadUint32(&s.state) / one) }

func TestPlacesAreThoseOfGoroutines(t *testing.T) {
	p := New(func() int { return -1 })
	onPlace(t, p, func(table *table[int], home uintptr) {
		p.keep(table, home, 1)
		p.keep(table, 0, 2)
		if got := table.place() & table.mask; got != home {
			t.Errorf("got place %d, want %d", got, home)
		}
		if got := p.Get(); got != 1 {
			t.Errorf("got %d, want what lies at the place of the goroutine", got)
		}
		p.Put(3)
		if a, b := table.at(home).idle(), table.at(0).idle(); a != 1 || b != 1 {
			t.Errorf("got %d and %d values, want one each", a, b)
		}
	})
}

// The shards of a pool share one array at first: a value goes to any of them
// without an allocation. For large values it would waste memory.
func TestShardsHaveRoomAtFirst(t *testing.T) {
	var small Pool[int]
	var large Pool[[1 << 20]byte]
	small.begin()
	large.begin()
	for i := range small.table.Load().shards {
		if got := cap(small.table.Load().shards[i].items); got < firstMagazine {
			t.Errorf("shard %d: got room for %d values, want %d", i, got, firstMagazine)
		}
		if got := cap(large.table.Load().shards[i].items); got != 0 {
			t.Errorf("shard %d: got room for %d large values, want none", i, got)
		}
	}
}

func TestNumberOfShards(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, procs := range []int{1, 4, 5, 8, 31, 32, 33, 64, 100} {
		runtime.GOMAXPROCS(procs)
		want := 1
		for want < 8*max(procs, runtime.NumCPU()) {
			want *= 2
		}
		want = min(want, 256)
		if table := newTable[int](); len(table.shards) != want || table.mask != uintptr(want-1) {
			t.Errorf("%d processors: got %d shards and mask %#x, want %d", procs, len(table.shards), table.mask, want)
		}
	}
}

// The depot's mutex is for values that are not at hand.
func TestValuesAtHandNeedNoDepot(t *testing.T) {
	p := New(func() int { return -1 })
	onPlace(t, p, func(table *table[int], home uintptr) {
		p.keep(table, home, 1)
		p.depot.mu.Lock()
		defer p.depot.mu.Unlock()
		for range 3 { // one value, and room for more
			p.Put(p.Get())
		}
	})
	if s := p.Stats(); s.Len != 1 || s.Hits != 3 {
		t.Errorf("got %+v, want 3 hits", s)
	}
}

// An empty shard takes half of the values of another one, so that the next Get
// finds one at hand. A full shard gets more room, where its values are.
func TestEmptyAndFullShards(t *testing.T) {
	p := New(func() int64 { return -1 })
	onPlace(t, p, func(table *table[int64], home uintptr) {
		for i := range firstMagazine {
			p.keep(table, home+1, int64(i))
		}
		p.Get()
		if a, b := table.at(home).idle(), table.at(home+1).idle(); a != firstMagazine/2-1 || b != firstMagazine/2 {
			t.Errorf("after Get: got %d values here and %d there, want 3 and 4", a, b)
		}
		for table.at(home).idle() < firstMagazine {
			p.keep(table, home, 1)
		}
		p.keep(table, home+2, 1)
		p.Put(1)
		if a, b := len(table.at(home).spare), table.at(home+2).idle(); a != firstMagazine || b != 1 {
			t.Errorf("after Put: got %d values set aside here and %d there, want 8 and 1", a, b)
		}
	})
	if fault := p.Fault(); fault != "" {
		t.Error(fault)
	}
}

// All shards are in use except the last shard of a search.
func TestTheLastShardIsTriedToo(t *testing.T) {
	p := New(func() int { return -1 })
	onPlace(t, p, func(table *table[int], home uintptr) {
		last := home + table.mask
		p.keep(table, last, 1)
		unlock := lockAllBut(table, table.at(last))
		p.Put(2)
		if got := p.Get(); got != 2 {
			t.Errorf("got %d, want what was put into the last shard", got)
		}
		unlock()
		if got := table.met; got != 2 {
			t.Errorf("got %d calls that found their shard in use, want 2", got)
		}
	})
}

// An empty magazine is used again, once: the depot removes it.
func TestEmptyMagazinesAreUsedAgain(t *testing.T) {
	full, empty := make([]int, 5, 8), make([]int, 0, 32)
	for _, withFull := range []bool{false, true} {
		d := depot[int]{mags: [][]int{empty}}
		if withFull {
			d.mags, d.full = [][]int{full, empty}, 1
		}
		if got := d.magazine(8); cap(got) != 32 || &got[:1][0] != &empty[:1][0] {
			t.Errorf("got a magazine for %d values, want the empty one for 32", cap(got))
		}
		if len(d.mags) != d.full || d.mags[:d.full+1][d.full] != nil {
			t.Errorf("got %d magazines, want %d", len(d.mags), d.full)
		}
		if got := d.magazine(16); cap(got) != 16 {
			t.Errorf("got a magazine for %d values, want a new one for 16", cap(got))
		}
	}
}

// Empty magazines are dropped, and the list if half of it, or more, was for
// them.
func TestEmptyMagazinesAreGivenUp(t *testing.T) {
	for _, full := range []int{0, 2, 5, 8, 10} {
		list := make([][]int, 10)
		for i := range list {
			list[i] = make([]int, 1)
			if i >= full {
				list[i] = list[i][:0]
			}
		}
		d := depot[int]{mags: list, full: full}
		d.tidy()
		if len(d.mags) != full || (cap(d.mags) == 10) != (full > 5) {
			t.Errorf("%d magazines with values: got %d in a list for %d", full, len(d.mags), cap(d.mags))
		}
		for i, m := range list[full:] {
			if m != nil {
				t.Errorf("%d magazines with values: magazine %d is still in the list", full, full+i)
			}
		}
	}
}

// A Put that is refused without a search does not need the depot's mutex, and
// waits for no shard but its own.
func TestRefusalsNeedNoDepot(t *testing.T) {
	p := New(func() int { return -1 }, WithLimit(3))
	onPlace(t, p, func(table *table[int], home uintptr) {
		for range 3 + searchesPerMark*len(table.shards) {
			p.Put(1)
		}
		p.depot.mu.Lock()
		defer p.depot.mu.Unlock()
		unlock := lockAllBut(table, table.at(home))
		defer unlock()
		p.Put(1)
	})
	dropped := uint64(searchesPerMark*len(p.table.Load().shards) + 1)
	if s := p.Stats(); s.Len != 3 || s.Dropped != dropped || p.Fault() != "" {
		t.Errorf("got %+v %s, want 3 idle and %d dropped", s, p.Fault(), dropped)
	}
}

// A Get may take a value between the search of a Put that is refused and the
// marks, from any shard.
func TestNoShardIsMarkedIfOneHasRoom(t *testing.T) {
	p := New(func() int { return -1 }, WithLimit(100))
	onPlace(t, p, func(table *table[int], home uintptr) {
		for range 100 {
			p.Put(1)
		}
		for i := range uintptr(len(table.shards)) {
			p.depot.mu.Lock()
			s := table.at(i)
			st := s.lock()
			s.items = s.items[:len(s.items)+1] // room for one more value
			publish.Uint32(&s.state, st)
			p.depot.refused = searchesPerMark * len(table.shards)
			p.depot.mark(table)
			st = s.lock()
			s.items = s.items[:len(s.items)-1]
			publish.Uint32(&s.state, st)
			p.depot.mu.Unlock()
			if p.depot.marked || p.Fault() != "" {
				t.Errorf("room in shard %d: got marked %v %s", i, p.depot.marked, p.Fault())
			}
		}
	})
}
