// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && amd64 && !race

package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// StayPinned keeps the pool from switching to locks, for a while.
func (p *Pool[T]) StayPinned() {
	if t := p.table.Load(); t != nil {
		p.depot.mu.Lock()
		t.debt = 0
		p.depot.mu.Unlock()
	}
}

func TestShardsBelongToProcessorsAtFirst(t *testing.T) {
	p := New(func() int { return 0 })
	for range 100_000 {
		p.Put(p.Get())
	}
	if table := p.table.Load(); table.isLocked() || p.Stats().Hits != 99_999 {
		t.Errorf("got locks %v and %+v, want shards of processors, and one value made", table.isLocked(), p.Stats())
	}
}

// A call that finds the pool stopped waits for the depot's mutex.
func TestStoppedPoolIsLeftAlone(t *testing.T) {
	p := New(func() int { return -1 })
	p.Put(1)
	table := p.table.Load()
	p.depot.mu.Lock()
	began := table.stop()
	got := make(chan int)
	go func() { got <- p.Get() }()
	go func() { p.Put(2); got <- 0 }()
	for range 1000 {
		runtime.Gosched()
	}
	select {
	case v := <-got:
		t.Errorf("a call ended with %d while the pool was stopped", v)
	default:
	}
	table.resume(began)
	p.depot.mu.Unlock()
	<-got
	<-got
	if s := p.Stats(); s.Puts != 2 || s.Hits+uint64(s.Len) != 2 || p.Fault() != "" {
		t.Errorf("got %+v %s, want two values", s, p.Fault())
	}
}

// closed reports whether no processor may use its shard.
func closed[T any](t *table[T]) bool {
	for i := range t.shards {
		if atomic.LoadUint32(&t.shards[i].open) != 0 {
			return false
		}
	}
	return true
}

// A stop waits for a shard in use.
func TestStopWaitsForShardsAtWork(t *testing.T) {
	p := New(func() int { return -1 })
	p.Put(1)
	table := p.table.Load()
	atomic.StoreUint32(&table.shards[3].busy, 1)
	done := make(chan bool)
	go func() { p.Stats(); done <- true }()
	for !closed(table) {
		runtime.Gosched()
	}
	for range 1000 {
		runtime.Gosched()
	}
	select {
	case <-done:
		t.Error("Stats did not wait")
	default:
	}
	atomic.StoreUint32(&table.shards[3].busy, 0)
	<-done
}

func TestStopsThatCostTooMuchLeadToLocks(t *testing.T) {
	p := New(func() int { return -1 }, WithLimit(1000))
	for i := range 1000 {
		p.Put(i)
	}
	table := p.table.Load()
	stops := 0
	for ; !table.isLocked(); stops++ {
		if p.depot.mu.Lock(); stops > 1_000_000 {
			t.Fatal("still pinned after a million stops")
		}
		table.resume(table.stop())
		p.depot.mu.Unlock()
	}
	seen := map[int]bool{}
	for range 1000 {
		seen[p.Get()] = true
	}
	for i := range 1000 {
		p.Put(i)
	}
	if s := p.Stats(); len(seen) != 1000 || s.Len != 1000 || s.Hits != 1000 || p.Fault() != "" {
		t.Errorf("after %d stops: got %d values, %+v %s, want all 1000", stops, len(seen), s, p.Fault())
	}
	t.Logf("%d stops in a row", stops)
}

// Stops may take the time that Gets and Puts have saved.
func TestStopsNowAndThenAreFine(t *testing.T) {
	p := New(func() int { return -1 })
	p.Put(1)
	table := p.table.Load()
	for range 10 {
		table.debt = maxDebt * 9 / 10
		for range 100_000 {
			p.Put(p.Get())
		}
		p.Stats()
		if debt := table.debt; debt > maxDebt/2 {
			t.Fatalf("got a debt of %v after 100,000 Puts, want less", debt)
		}
	}
	if table.isLocked() {
		t.Error("the pool went over to locks")
	}
}

// With more processors than there are shards, values are still found.
func TestMoreProcessorsThanShards(t *testing.T) {
	var p Pool[int]
	p.Put(1)
	n := len(p.table.Load().shards)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 * n))
	var wg sync.WaitGroup
	for i := range 4 * n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				p.Put(i + 2)
				runtime.Gosched()
				if p.Get() == 0 {
					t.Error("got nothing where something had been put")
				}
			}
		}()
	}
	wg.Wait()
	if s := p.Stats(); s.Len != 1 || p.Fault() != "" {
		t.Errorf("got %+v %s, want one value", s, p.Fault())
	}
}

// Stops may happen at any point of calls that need no lock. Without a barrier,
// values are returned twice: on two processors after some seconds.
func TestStopsBesideCalls(t *testing.T) {
	const values = 64
	stress := 5 * time.Second
	if testing.Short() {
		stress = 300 * time.Millisecond
	}
	for name, barrier := range map[string]func(){"membarrier": barrier, "stop the world": stopTheWorld} {
		t.Run(name, func(t *testing.T) {
			p := New(func() int { return -1 }, WithLimit(values))
			for i := range values {
				p.Put(i)
			}
			table := p.table.Load()
			var held [values]atomic.Bool
			var stopped atomic.Bool
			var wg sync.WaitGroup
			for range 2 * runtime.NumCPU() {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for !stopped.Load() {
						v := p.Get()
						if v < 0 {
							continue
						}
						if held[v].Swap(true) {
							t.Errorf("value %d was handed out twice", v)
						}
						held[v].Store(false)
						p.Put(v)
					}
				}()
			}
			for until := time.Now().Add(stress); time.Now().Before(until); {
				p.depot.mu.Lock()
				began := table.stopWith(barrier)
				for i := range table.shards {
					if s := &table.shards[i]; s.state >= one {
						v := s.pop(s.state)
						s.state -= one
						s.items[s.state/one] = v
						s.state += one
					}
				}
				table.debt = 0
				table.resume(began)
				p.depot.mu.Unlock()
			}
			stopped.Store(true)
			wg.Wait()
			if s := p.Stats(); s.Len+int(s.Dropped) != values || p.Fault() != "" {
				t.Errorf("got %+v %s, want %d values", s, p.Fault(), values)
			}
		})
	}
}
