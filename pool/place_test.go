// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"runtime"
	"testing"

	"github.com/nib-log/nib/internal/publish"
)

func TestPlacesChangeLessAndLessOften(t *testing.T) {
	var c crowding
	changes := []int{}
	salt := c.salt
	for i := 1; i <= 5000; i++ {
		if c.meet(); c.salt != salt {
			salt = c.salt
			changes = append(changes, i)
		}
	}
	want := []int{64, 128, 256, 512, 1024, 2048, 4096}
	if len(changes) != len(want) {
		t.Fatalf("got changes at %v, want %v", changes, want)
	}
	for i := range want {
		if changes[i] != want[i] {
			t.Errorf("got changes at %v, want %v", changes, want)
		}
	}
}

// The place only decides where a call begins to search.
func TestAllIsFoundAfterPlacesChanged(t *testing.T) {
	misses := 0
	p := New(func() int { misses++; return -1 }, WithLimit(1000))
	seen := map[int]bool{}
	for i := range 1000 {
		p.Put(i)
		for range 10 * (i % 7) {
			p.table.Load().meet()
		}
		if hasProcessor() {
			p.table.Load().salt ^= uintptr(i) & byProcessor
		}
	}
	for range 1000 {
		seen[p.Get()] = true
		p.table.Load().meet()
		if hasProcessor() {
			p.table.Load().salt ^= byProcessor
		}
	}
	if len(seen) != 1000 || misses != 0 || p.Fault() != "" {
		t.Errorf("got %d values, %d misses %s, want 1000 and none", len(seen), misses, p.Fault())
	}
}

// A call skips shards that are in use.
func TestShardsInUseArePassedBy(t *testing.T) {
	p := New(func() int { return -1 })
	p.Put(0)
	table := p.table.Load()
	open := table.place() + table.mask/2 + 1
	p.keep(table, open, 1)
	release := lockAllBut(table, table.at(open))
	p.Put(77)
	if got := p.Get(); got != 77 {
		t.Errorf("got %d, want what was put into the shard that is not in use", got)
	}
	release()
	if s := p.Stats(); s.Len != 2 || s.Puts != 3 || p.Fault() != "" {
		t.Errorf("got %+v %s, want 2 idle of 3", s, p.Fault())
	}
}

// lockAllBut locks shards like calls that take long.
func lockAllBut[T any](table *table[T], but *shard[T]) (unlock func()) {
	states := make([]uint32, len(table.shards))
	for i := range table.shards {
		if s := &table.shards[i]; s != but {
			states[i] = s.lock()
		}
	}
	return func() {
		for i := range table.shards {
			if s := &table.shards[i]; s != but {
				publish.Uint32(&s.state, states[i])
			}
		}
	}
}

func TestCallWaitsForAShardThatItNeeds(t *testing.T) {
	var p Pool[int]
	p.Put(5)
	table := p.table.Load()
	unlock := lockAllBut(table, nil)
	got := make(chan int)
	go func() { got <- p.Get() }()
	for range 100 {
		runtime.Gosched()
	}
	select {
	case v := <-got:
		t.Errorf("got %d while all shards were locked", v)
	default:
	}
	unlock()
	if v := <-got; v != 5 {
		t.Errorf("got %d, want 5", v)
	}
}

// TestShardBesideABusyOne uses a shard as goroutines do that find theirs in
// use: values that they put there stay within its room, and they do not wait.
func TestShardBesideABusyOne(t *testing.T) {
	s := &shard[int]{items: make([]int, 2, 4)}
	for n, want := range []bool{true, true, false} {
		if got := s.tryPut(n + 1); got != want {
			t.Errorf("put %d: got %v, want %v", n+1, got, want)
		}
	}
	state := s.state
	s.state = lockBit
	if _, ok := s.tryGet(); ok || s.tryPut(9) || s.state != lockBit {
		t.Error("a shard that is in use was changed")
	}
	s.state = state
	for _, want := range []int{2, 1, 0} {
		if got, ok := s.tryGet(); got != want || ok != (want > 0) {
			t.Errorf("get: got %d and %v, want %d", got, ok, want)
		}
	}
	if s.items[0] != 0 || s.items[1] != 0 {
		t.Errorf("the shard keeps what was taken: %d", s.items)
	}
}
