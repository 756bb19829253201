// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib/pool"
)

// procs sets GOMAXPROCS for the rest of a test.
func procs(t testing.TB, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// onNewThread runs f on a goroutine with a new thread, and waits for it.
func onNewThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		f()
	}()
	<-done
}

// counted is a pool of numbers that counts those that it has made.
type counted struct {
	*pool.Pool[int]
	made atomic.Int64
}

func newCounted(opts ...pool.Option) *counted {
	c := new(counted)
	c.Pool = pool.New(func() int { return -int(c.made.Add(1)) }, opts...)
	return c
}

func TestGetFindsWhatAnotherThreadPut(t *testing.T) {
	for _, n := range []int{1, 2, 8} {
		procs(t, n)
		for _, values := range []int{1, 2, 9, 40, 700} {
			p := newCounted()
			for round := range 20 {
				for i := range values {
					onNewThread(func() { atDepth(i%7, func() { p.Put(i) }) })
					if i >= 9 {
						fill(p.Pool, i+1, values)
						break
					}
				}
				seen := map[int]bool{}
				onNewThread(func() {
					for i := range values {
						atDepth((i+round)%5, func() { seen[p.Get()] = true })
					}
				})
				if p.made.Load() != 0 || len(seen) != values {
					t.Fatalf("GOMAXPROCS %d, %d values, round %d: got %d of them and %d new", n, values, round, len(seen), p.made.Load())
				}
			}
		}
	}
}

func TestGetFindsTheOnlyValueFromAnyPlace(t *testing.T) {
	p := newCounted()
	for from := range 40 {
		for to := range 40 {
			atDepth(from, func() { p.Put(1) })
			atDepth(to, func() { p.Get() })
		}
	}
	if p.made.Load() != 0 {
		t.Errorf("got %d new values, want none", p.made.Load())
	}
}

// Many goroutines pass a token on through the pool. Each Put happens before the
// next Get, so no Get may miss it.
func TestGetFindsWhatHappenedBefore(t *testing.T) {
	for _, n := range []int{1, 2, 4, 16} {
		procs(t, n)
		const goroutines, rounds = 16, 300
		p := newCounted()
		p.Put(1)
		turns := make([]chan struct{}, goroutines)
		for i := range turns {
			turns[i] = make(chan struct{})
		}
		var wg sync.WaitGroup
		for i := range turns {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for round := range rounds {
					<-turns[i]
					p.Put(p.Get())
					if next := (i + 1) % goroutines; next != 0 || round < rounds-1 {
						turns[next] <- struct{}{}
					}
				}
			}()
		}
		turns[0] <- struct{}{}
		wg.Wait()
		if s := p.Stats(); p.made.Load() != 0 || s.Hits != goroutines*rounds || s.Len != 1 {
			t.Errorf("GOMAXPROCS %d: got %d new values, %+v, want none and %d hits", n, p.made.Load(), s, goroutines*rounds)
		}
	}
}

func TestValuesOutliveGarbageCollections(t *testing.T) {
	p := newCounted()
	fill(p.Pool, 0, 5000)
	for range 20 {
		runtime.GC()
	}
	if got := len(drain(t, p.Pool)); got != 5000 || p.made.Load() != 0 {
		t.Errorf("got %d values and %d new, want 5000 and none", got, p.made.Load())
	}
}

func TestNumberOfProcessorsMayChange(t *testing.T) {
	procs(t, 1)
	p := newCounted()
	fill(p.Pool, 0, 300)
	for _, n := range []int{2, 32, 1, 300, 3} {
		runtime.GOMAXPROCS(n)
		var wg sync.WaitGroup
		for range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 200 {
					if v := p.Get(); v >= 0 {
						p.Put(v)
					}
				}
			}()
		}
		wg.Wait()
	}
	if got := len(drain(t, p.Pool)); got != 300 {
		t.Errorf("got %d values, want 300", got)
	}
	if fault := p.Fault(); fault != "" {
		t.Error(fault)
	}
}
