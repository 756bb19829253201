// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/pool"
)

// mallocs counts the allocations of f, on all goroutines: the minimum of some
// tries, because the runtime itself allocates now and then. alloctest would
// stop the collector and use one processor, which is not wanted here.
func mallocs(tries int, f func()) uint64 {
	least := ^uint64(0)
	for range tries {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// counts reports whether allocations can be counted in this build.
func counts(t *testing.T) bool {
	if !alloctest.Enabled {
		t.Log("allocations are not counted: this build adds its own")
	}
	return alloctest.Enabled
}

type quad [8]uint64 // 64 bytes

type named struct {
	name, value string
	n           int
}

// steady checks that calls on a pool of some values do not allocate, neither
// alternating, nor with many Gets and then many Puts, nor after a collection.
func steady[T any](t *testing.T, create func() T) {
	t.Helper()
	p := pool.New(create)
	alloctest.Zero(t, func() { p.Put(p.Get()) })
	held := make([]T, 3000)
	burst := func() {
		for i := range held {
			held[i] = p.Get()
		}
		for _, v := range held {
			p.Put(v)
		}
	}
	burst()
	if !counts(t) {
		return
	}
	if got := mallocs(5, burst); got != 0 {
		t.Errorf("%d Gets and as many Puts: got %d mallocs, want 0", len(held), got)
	}
	// A collection may move the stack, and so make the goroutine use another
	// shard, which then takes some slots for the first time.
	got := ^uint64(0)
	for i := 0; i < 50 && got != 0; i++ {
		runtime.GC()
		runtime.GC()
		got = min(got, mallocs(1, burst))
	}
	if got != 0 {
		t.Errorf("after collections: got %d mallocs, want 0", got)
	}
}

func TestAllocSteadyStateBytes(t *testing.T) {
	steady(t, func() []byte { return make([]byte, 100) })
}

func TestAllocSteadyStateStructOf64Bytes(t *testing.T) {
	steady(t, func() quad { return quad{} })
}

func TestAllocSteadyStatePointer(t *testing.T) {
	steady(t, func() *quad { return new(quad) })
}

func TestAllocSteadyStateInterface(t *testing.T) {
	steady(t, func() io.Reader { return strings.NewReader("x") })
}

func TestAllocSteadyStateStructWithStrings(t *testing.T) {
	steady(t, func() named { return named{name: strconv.Itoa(1000), value: "b", n: 1} })
}

func TestAllocStats(t *testing.T) {
	var p pool.Pool[int]
	p.Put(1)
	alloctest.Zero(t, func() { p.Stats() })
}

func TestAllocFirstFillAndRefill(t *testing.T) {
	const n = 1_000_000
	if !counts(t) {
		return
	}
	var p pool.Pool[[]byte]
	values := make([][]byte, n)
	fill := func() {
		for _, v := range values {
			p.Put(v)
		}
	}
	drain := func() {
		for range values {
			p.Get()
		}
	}
	first := mallocs(1, fill)
	t.Logf("first fill of %d values: %d mallocs, one for %d values", n, first, n/max(1, first))
	if first > n/64 {
		t.Errorf("first fill: got %d mallocs, want at most %d", first, n/64)
	}
	if got := mallocs(1, drain); got > 8 { // the runtime may have some
		t.Errorf("first drain: got %d mallocs, want none", got)
	}
	if got := mallocs(3, func() { fill(); drain() }); got != 0 {
		t.Errorf("refill and drain: got %d mallocs, want 0", got)
	}
}

func TestAllocPreallocated(t *testing.T) {
	const n = 10_000
	if !counts(t) {
		return
	}
	least := ^uint64(0)
	for range 3 {
		p := pool.New(func() *quad { return new(quad) }, pool.WithPrealloc(n))
		least = min(least, mallocs(1, func() {
			for range n {
				p.Get()
			}
		}))
	}
	if least != 0 {
		t.Errorf("%d Gets of as many values: got %d mallocs, want 0", n, least)
	}
}

// One goroutine takes the values, another puts them: each Get has to fetch a
// value from the shard of the other.
func TestAllocHandOver(t *testing.T) {
	for _, n := range []int{1, 4} {
		procs(t, n)
		p := pool.New(func() []byte { return make([]byte, 64) })
		work, done := make(chan []byte, 100), make(chan struct{})
		stop := make(chan struct{})
		go func() {
			defer close(stop)
			for b := range work {
				last := b[0] == 1
				p.Put(b)
				if last {
					done <- struct{}{}
				}
			}
		}()
		const ops = 10_000
		handOver := func() {
			for i := range ops {
				b := p.Get()
				if b[0] = 0; i == ops-1 {
					b[0] = 1
				}
				work <- b
			}
			<-done
		}
		handOver()
		handOver()
		if got := mallocs(10, handOver); counts(t) && got != 0 {
			t.Errorf("GOMAXPROCS %d: got %d mallocs in %d hand-overs, want 0", n, got, ops)
		}
		close(work)
		<-stop
	}
}

// A scrape appends to slices from the pool and passes them by value to a
// worker, which puts them: with sync.Pool each Put would box one.
func TestAllocSlicesReturnedByAWorker(t *testing.T) {
	type sample struct {
		series string
		at     int64
		value  float64
	}
	var p pool.Pool[[]sample]
	work, done := make(chan []sample, 16), make(chan float64)
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		sum := 0.0
		for batch := range work {
			for _, s := range batch {
				sum += s.value
			}
			last := batch[0].at == 99
			p.Put(batch[:0])
			if last {
				done <- sum
			}
		}
	}()
	scrape := func() {
		for i := range int64(100) {
			batch := p.Get()[:0]
			for j := range 200 {
				batch = append(batch, sample{"up", i, float64(j)})
			}
			work <- batch
		}
		<-done
	}
	for range 20 { // until each slice has grown
		scrape()
	}
	if got := mallocs(10, scrape); counts(t) && got != 0 {
		t.Errorf("got %d mallocs for 100 batches, want 0", got)
	}
	close(work)
	<-stop
}

func TestAllocErasable(t *testing.T) {
	p := pool.NewErasable(func() *page { return &page{head: "h"} })
	alloctest.Zero(t, func() {
		v := p.Get()
		v.body = append(v.body, "text"...)
		if err := p.Put(v); err != nil {
			t.Error(err)
		}
	})
}

func TestAllocBuffers(t *testing.T) {
	var p pool.Buffers
	text := make([]byte, 3000)
	cases := map[string]func(){
		"one size": func() { p.Put(p.Get(500)) },
		"sizes": func() {
			for n := range 100 {
				p.Put(p.Get(n * n))
			}
		},
		"growing": func() {
			b := p.Get(0)
			for range 20 {
				b.Write(text)
				b.WriteString("abc")
				b.WriteByte('d')
			}
			b.Grow(100_000)
			p.Put(b)
		},
		"cut": func() {
			b := p.Get(100)
			b.B = append(b.B, text[:100]...)[50:60]
			p.Put(b)
		},
		"stats": func() { p.Stats() },
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) { alloctest.Zero(t, f) })
	}
}
