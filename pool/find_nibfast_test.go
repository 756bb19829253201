// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && amd64 && !race

package pool

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// ownShard returns a pool of the numbers from 0 to n-1, and the shard of the
// only processor.
func ownShard(t *testing.T, n int) (*Pool[int], *shard[int]) {
	t.Helper()
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	p := New(func() int { return -1 })
	for i := range n {
		p.Put(i)
	}
	return p, &p.table.Load().shards[0]
}

// findPinned takes one value, and leaves the others where they are.
func findPinned(t *testing.T, p *Pool[int]) {
	t.Helper()
	idle := p.Stats().Len
	p.depot.mu.Lock()
	v, ok := p.depot.findPinned(p.table.Load())
	p.depot.mu.Unlock()
	if !ok || v < 0 {
		t.Errorf("got %d and %v, want a value", v, ok)
	}
	if got := p.Stats().Len; got != idle-1 || p.Fault() != "" {
		t.Errorf("got %d idle values %s, want %d", got, p.Fault(), idle-1)
	}
}

func TestFindInItemsWithoutAStop(t *testing.T) {
	p, s := ownShard(t, 1000)
	for s.state/one > 1 {
		p.Get()
	}
	for s.state&spareBit != 0 { // so that a reload would replace the items
		p.Get()
	}
	for s.state/one > 1 {
		p.Get()
	}
	if p.depot.full == 0 || s.state != one {
		t.Fatalf("got %d magazines and state %d, want some, and one value", p.depot.full, s.state)
	}
	findPinned(t, p)
}

func TestFindInTheDepotWithoutAStop(t *testing.T) {
	p, s := ownShard(t, 1000)
	for s.state/one > 0 {
		p.Get()
	}
	findPinned(t, p)
}

func TestKeepWithoutAStop(t *testing.T) {
	p, s := ownShard(t, 1)
	for i := 1; int(s.state/one) < len(s.items); i++ {
		p.Put(i)
	}
	idle := p.Stats().Len
	p.depot.mu.Lock()
	ok := p.depot.keepPinned(p.table.Load(), 99)
	p.depot.mu.Unlock()
	if got := p.Stats().Len; !ok || got != idle+1 || p.Fault() != "" {
		t.Errorf("got %v and %d values %s, want %d", ok, got, p.Fault(), idle+1)
	}
}

// A processor that has no shard leaves those of the others alone.
func TestProcessorWithoutAShard(t *testing.T) {
	p, _ := ownShard(t, 10)
	none := new(table[int])
	if v, ok := p.depot.findPinned(none); ok {
		t.Errorf("found %d without a shard", v)
	}
	if p.depot.keepPinned(none, 1) {
		t.Error("kept a value without a shard")
	}
}

// Get and Put do not use a shard beyond the last one.
func TestProcessorBeyondTheShards(t *testing.T) {
	p, _ := ownShard(t, 1)
	if got, want := p.own.count, uint32(len(p.table.Load().shards)); got != want {
		t.Fatalf("got %d shards for processors, want %d", got, want)
	}
	beyond := &shard[int]{state: one, pin: pin{open: 4}, items: []int{42, 0, 0, 0}}
	p.own.count, p.own.first = 0, beyond
	if v := p.Get(); v != 0 {
		t.Errorf("got %d, want 0, which was put", v)
	}
	p.Put(7)
	if beyond.state != one {
		t.Errorf("got state %d of a shard that is not of the pool, want %d", beyond.state, one)
	}
}

func TestPlaceIsTheProcessor(t *testing.T) {
	p, _ := ownShard(t, 1)
	table := p.table.Load()
	for salt := range uintptr(1000) {
		atomic.StoreUintptr(&table.salt, salt)
		if got := table.place(); got != 0 {
			t.Fatalf("got place %d, want 0, the only processor", got)
		}
	}
}

// A stop closes all shards before the barrier, and resume opens them.
func TestStopClosesAndResumeOpens(t *testing.T) {
	p, s := ownShard(t, 10)
	table := p.table.Load()
	if closed(table) {
		t.Fatal("all shards are closed before the stop")
	}
	barriers := 0
	p.depot.mu.Lock()
	began := table.stopWith(func() {
		barriers++
		if !closed(table) {
			t.Error("a shard is open at the barrier")
		}
	})
	if barriers != 1 || began.IsZero() {
		t.Errorf("got %d barriers and begin %v, want one, and the time", barriers, began)
	}
	table.resume(began)
	p.depot.mu.Unlock()
	if got := atomic.LoadUint32(&s.open); got != uint32(len(s.items)) || got == 0 {
		t.Errorf("got %d open slots, want %d", got, len(s.items))
	}
}

// A pinned goroutine is not stopped, so the world stops after it is unpinned.
func TestStopOfTheWorldWaitsForPinned(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for range 100 {
		var pinned, done atomic.Bool
		go func() {
			procPin()
			pinned.Store(true)
			for range 500_000 {
				done.Load()
			}
			done.Store(true)
			procUnpin()
		}()
		for !pinned.Load() {
			runtime.Gosched()
		}
		stopTheWorld()
		if !done.Load() {
			t.Fatal("the world was stopped while a goroutine was pinned")
		}
	}
}
