// SPDX-License-Identifier: Apache-2.0

//go:build nibfast

package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestShardThatSeldomMovesIsNotTakenForAWanderer(t *testing.T) {
	var c placing
	var s sample
	for i := range int32(10_000) {
		c.seen(&s, i/4)
	}
	if c.byCPU() {
		t.Error("got places by processor")
	}
}

func TestShardThatOftenMovesIsNoticed(t *testing.T) {
	var c placing
	var s sample
	for i := range int32(100) {
		c.seen(&s, i/2)
	}
	if !c.byCPU() {
		t.Error("got places by goroutine")
	}
}

func TestProcessorNumbersAreBelowGOMAXPROCS(t *testing.T) {
	for range 1000 {
		if got, want := cpu(), runtime.GOMAXPROCS(0); got >= uintptr(want) {
			t.Fatalf("got %d, want less than %d", got, want)
		}
	}
}

func TestAllIsFoundAfterGoroutinesWandered(t *testing.T) {
	misses := 0
	p := New(func() int { misses++; return -1 }, WithLimit(3000))
	seen := map[int]bool{}
	for i := range 3000 {
		p.Put(i)
		if i%500 == 250 {
			atomic.StoreUint32(&p.table.Load().wanders, uint32(i/500%2))
		}
	}
	atomic.StoreUint32(&p.table.Load().wanders, 1)
	for range 3000 {
		seen[p.Get()] = true
	}
	if len(seen) != 3000 || misses != 0 || p.Fault() != "" {
		t.Errorf("got %d values, %d misses %s, want 3000 and none", len(seen), misses, p.Fault())
	}
}

// Places change back and forth under the feet of goroutines that use the pool.
func TestPlacesMayChangeAtAnyTime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	p := New(func() int { return -1 }, WithLimit(100))
	for i := range 100 {
		p.Put(i)
	}
	var wg sync.WaitGroup
	var held [100]atomic.Bool
	for range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 3000 {
				if i%100 == 0 {
					atomic.StoreUint32(&p.table.Load().wanders, uint32(i/100%2))
				}
				v := p.Get()
				if v < 0 {
					continue
				}
				if held[v].Swap(true) {
					t.Errorf("got %d twice", v)
				}
				held[v].Store(false)
				p.Put(v)
			}
		}()
	}
	wg.Wait()
	if s := p.Stats(); s.Len+int(s.Dropped) != 100 || p.Fault() != "" {
		t.Errorf("got %+v %s, want 100 idle or dropped", s, p.Fault())
	}
}
