// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/pool"
)

var limits = []int{0, 1, 7, 1000}

func TestLimitIsExact(t *testing.T) {
	for _, limit := range limits {
		p := newCounted(pool.WithLimit(limit))
		for i := range limit + 10 {
			p.Put(i)
			if got, want := p.Stats().Len, min(i+1, limit); got != want {
				t.Fatalf("limit %d: got %d values after %d Puts, want %d", limit, got, i+1, want)
			}
		}
		if got := p.Stats().Dropped; got != 10 {
			t.Errorf("limit %d: got %d dropped, want 10", limit, got)
		}
		if got := len(drain(t, p.Pool)); got != limit {
			t.Errorf("limit %d: got %d values, want as many", limit, got)
		}
	}
}

func TestLargestLimits(t *testing.T) {
	for _, limit := range []int{math.MaxInt, math.MaxInt - 1, math.MaxInt32} {
		p := newCounted(pool.WithLimit(limit))
		fill(p.Pool, 0, 1000)
		if got := p.Stats(); got.Len != 1000 || got.Dropped != 0 {
			t.Errorf("limit %d: got %+v, want 1000 values", limit, got)
		}
	}
}

// The free room of a limit is spread over the shards. A Put must find it in any
// of them, and never find more.
func TestLimitIsExactFromAnyPlace(t *testing.T) {
	from := seed.Of(t)
	for _, limit := range limits {
		random := rand.New(rand.NewPCG(from, uint64(limit)))
		p := pool.New[int](nil, pool.WithLimit(limit))
		idle, dropped := 0, uint64(0)
		for step := range 20_000 {
			depth := random.IntN(30)
			filling := random.IntN(2000) < 1000+int(900*math.Sin(float64(step)/700))
			switch {
			case step%997 == 996:
				p.Trim(random.IntN(limit + 1))
				idle = p.Stats().Len
			case !filling:
				atDepth(depth, func() { p.Get() })
				idle = max(0, idle-1)
			case idle < limit:
				atDepth(depth, func() { p.Put(1) })
				idle++
			default:
				atDepth(depth, func() { p.Put(1) })
				dropped++
			}
			if step%50 != 0 {
				continue
			}
			if s := p.Stats(); s.Len != idle || s.Dropped != dropped || p.Fault() != "" {
				t.Fatalf("limit %d, step %d: got %+v %s, want %d idle, %d dropped", limit, step, s, p.Fault(), idle, dropped)
			}
		}
	}
}

func TestLimitHoldsWhileGoroutinesPut(t *testing.T) {
	procs(t, 8)
	from := seed.Of(t)
	for _, limit := range limits {
		p := pool.New[int](nil, pool.WithLimit(limit))
		var wg sync.WaitGroup
		var stop atomic.Bool
		for n := range uint64(8) {
			wg.Add(1)
			go func() {
				defer wg.Done()
				random := rand.New(rand.NewPCG(from+n, 2))
				for !stop.Load() {
					atDepth(random.IntN(10), func() {
						for range random.IntN(20) {
							p.Put(1)
						}
						for range random.IntN(20) {
							p.Get()
						}
					})
				}
			}()
		}
		for range 500 {
			if got := p.Stats().Len; got > limit {
				t.Errorf("got %d values, want at most %d", got, limit)
			}
		}
		stop.Store(true)
		wg.Wait()
		before := p.Stats()
		for range limit - before.Len {
			p.Put(1)
		}
		if s := p.Stats(); s.Len != limit || s.Dropped != before.Dropped || p.Fault() != "" {
			t.Errorf("after filling it up: got %+v %s, want %d values and %d dropped", s, p.Fault(), limit, before.Dropped)
		}
	}
}

// fullAndRefusing returns a pool of limit values that has refused so many Puts
// that further ones are refused without a search.
func fullAndRefusing(t *testing.T, limit int) *counted {
	t.Helper()
	p := newCounted(pool.WithLimit(limit))
	for i := 0; !p.Refuses(); i++ {
		if i > 10_000 {
			t.Fatalf("limit %d: got a search for each of %d Puts", limit, i)
		}
		p.Put(i)
	}
	if s := p.Stats(); s.Len != limit || s.Puts != uint64(limit)+s.Dropped || p.Fault() != "" {
		t.Fatalf("limit %d: got %+v %s", limit, s, p.Fault())
	}
	return p
}

// A pool that refuses Puts without a search keeps the next one after a value
// has left it, at any place.
func TestPutIsKeptAfterAValueLeft(t *testing.T) {
	leave := map[string]func(p *counted){
		"Get":    func(p *counted) { p.Get() },
		"Trim":   func(p *counted) { p.Trim(p.Stats().Len - 1) },
		"shrink": func(p *counted) { p.Shrink(); p.Shrink() },
	}
	for name, leave := range leave {
		for _, limit := range limits[1:] {
			for depth := range 30 {
				p := fullAndRefusing(t, limit)
				leave(p)
				before := p.Stats()
				atDepth(depth, func() { p.Put(1) })
				want := before
				want.Len++
				want.Puts++
				if s := p.Stats(); s != want || p.Fault() != "" {
					t.Errorf("%s, limit %d: got %+v %s, want %+v", name, limit, s, p.Fault(), want)
				}
			}
		}
	}
}

// Goroutines fill a pool beyond its limit and take values, a few at a time.
// After each round, whatever they did, the limit is exact.
func TestLimitIsExactAfterRefusals(t *testing.T) {
	procs(t, 4)
	from := seed.Of(t)
	for _, limit := range limits[:3] {
		p := fullAndRefusing(t, limit)
		for round := range steps(t, 3000) {
			var wg sync.WaitGroup
			for id := range uint64(4) {
				wg.Add(1)
				go func() {
					defer wg.Done()
					random := rand.New(rand.NewPCG(from+id, uint64(round)))
					atDepth(random.IntN(10), func() {
						for range random.IntN(60) {
							p.Put(1)
						}
						for range random.IntN(3) {
							p.Get()
						}
					})
				}()
			}
			wg.Wait()
			before := p.Stats()
			want := before
			want.Puts += 2
			want.Len = min(limit, before.Len+2)
			want.Dropped += uint64(before.Len + 2 - want.Len)
			p.Put(1)
			p.Put(1)
			if s := p.Stats(); s != want || p.Fault() != "" {
				t.Fatalf("limit %d, round %d: got %+v %s, want %+v",
					limit, round, s, p.Fault(), want)
			}
		}
	}
}
