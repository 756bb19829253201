// SPDX-License-Identifier: Apache-2.0

// Package pools compares nib's pools and its list with other ways to keep
// values for reuse.
//
// Every contestant has its own loop over concrete types: a common loop over an
// interface would add the same time to each and so hide a part of the
// difference.
package pools

import (
	stdlist "container/list"
	"fmt"
	"runtime"
	"sync"

	"github.com/bytedance/gopkg/lang/mcache"
	"github.com/colega/zeropool"
	"github.com/valyala/bytebufferpool"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/pool"
	"github.com/nib-log/nib/pool/list"
)

// Names of the contestants. The part after a hyphen is the way in which it is
// used.
const (
	zeropoolName = "zeropool"
	syncValue    = "sync.Pool-value"   // boxed at each Put
	syncPointer  = "sync.Pool-pointer" // the pointer is kept along with the value
	mutexName    = "mutex+slice"
)

// Set returns the set of the pools.
func Set() measure.Set {
	const parallel = "The time of a round divided by the operations of all goroutines together."
	cpus := runtime.GOMAXPROCS(0)
	return measure.Set{
		Name: "pools", Path: "docs/pools.md", Note: "Nanoseconds of one operation.",
		Modules: []measure.Module{
			{Name: zeropoolName, Path: "github.com/colega/zeropool"},
			{Name: "mcache", Path: "github.com/bytedance/gopkg"},
			{Name: "bytebufferpool", Path: "github.com/valyala/bytebufferpool"},
		},
		Tables: []measure.Table{
			{Title: "Get and Put", Note: parallel, Scenarios: []measure.Scenario{
				{Name: "Bytes", Title: "[]byte, one goroutine", Versus: zeropoolName,
					Contestants: slices(0)},
				{Name: "Pointer", Title: "pointer, one goroutine", Versus: zeropoolName,
					Contestants: pages(0)},
				{Name: "BytesParallel", Title: "[]byte, a goroutine for each processor",
					Versus:     zeropoolName,
					Goroutines: cpus, Contestants: slices(0)},
				{Name: "PointerParallel", Title: "pointer, a goroutine for each processor",
					Versus: zeropoolName, Goroutines: cpus, Contestants: pages(0)},
			}},
			{Title: "Get, work, Put by goroutines that take turns",
				Note: "The work goes through the value " +
					"and takes about 150 ns if the value is in the processor's cache. After each Put the " +
					"goroutine gives way to the next one. " + parallel, Scenarios: []measure.Scenario{
					turns("BytesTurns64", "[]byte, 64 goroutines", 64, slices(steps)),
					turns("PointerTurns64", "pointer, 64 goroutines", 64, pages(steps)),
					turns("BytesTurns1000", "[]byte, 1,000 goroutines", 1000, slices(steps)),
					turns("PointerTurns1000", "pointer, 1,000 goroutines", 1000, pages(steps)),
				}},
			{Title: "Many values", Note: "Nanoseconds of each value.",
				Scenarios: []measure.Scenario{
					{Name: "FirstFill", Title: "Put of a million values into a new pool",
						Versus: zeropoolName,
						Ops:    1_000_000, Rounds: 5, Contestants: many(false)},
					{Name: "DrainRefill", Title: "Get of 10,000 values, then Put of all",
						Versus: zeropoolName,
						Ops:    10_000, Contestants: many(true)},
				}},
			{Title: "A limit of 1,000 idle values", Scenarios: []measure.Scenario{
				{Name: "LimitAt", Title: "Get and Put, as many idle as allowed", Versus: mutexName,
					Contestants: limited(false)},
				{Name: "LimitAbove", Title: "Put that the limit refuses", Versus: mutexName,
					Contestants: limited(true)},
			}},
			{Title: "Buffers of 4 KiB", Note: parallel, Scenarios: []measure.Scenario{
				{Name: "Buffers", Title: "buffers, one goroutine", Versus: "mcache",
					Contestants: sized()},
				{Name: "BuffersParallel", Title: "buffers, a goroutine for each processor",
					Versus: "mcache", Goroutines: cpus, Contestants: sized()},
			}},
			{Title: "List", Scenarios: []measure.Scenario{
				{Name: "ListPushRemove", Title: "list, push and remove", Versus: "container/list",
					Contestants: lists()},
			}},
		},
	}
}

func turns(name, title string, goroutines int, contestants []measure.Contestant) measure.Scenario {
	return measure.Scenario{Name: name, Title: "in turns, " + title, Versus: zeropoolName,
		Ops:    32_000,
		Rounds: 20, Goroutines: goroutines, Turns: true, Contestants: contestants}
}

const (
	bufferSize = 1024 // the size in zeropool's own benchmark

	// steps of the work that is done on a value where its place in the caches
	// should matter: about 150 ns if the value is at hand. stride is short enough
	// that each step is on the cache line of the previous step, or on the next.
	steps  = bufferSize / stride
	stride = 8
)

// work goes through b in the given number of steps. Each step depends on the
// previous one, as in a checksum.
func work(b []byte, steps int) {
	sum := byte(1)
	for i := range steps {
		sum = sum*31 + b[i*stride]
		b[i*stride] = sum
	}
}

// A page is a value to which a pool keeps a pointer.
type page struct{ content [bufferSize]byte }

func newPage() *page   { return new(page) }
func newBytes() []byte { return make([]byte, bufferSize) }

// balance checks that the counters of a pool add up.
func balance(stats func() pool.Stats) func() error {
	return func() error {
		s := stats()
		if s.Puts+s.Preallocated != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) || s.Hits > s.Gets {
			return fmt.Errorf("values got lost: %+v", s)
		}
		return nil
	}
}

// plain returns a contestant that has nothing to check.
func plain(name string, do func(n int)) measure.Contestant {
	return measure.Ready(name, measure.Run{Do: do})
}

// slices returns pools of buffers.
func slices(steps int) []measure.Contestant {
	own, zero, guarded := pool.New(newBytes), zeropool.New(
		newBytes), &guarded[[]byte]{create: newBytes}
	value := sync.Pool{New: func() any { return newBytes() }}
	pointer := sync.Pool{New: func() any { b := newBytes(); return &b }}
	return []measure.Contestant{
		measure.Ready("nib", measure.Run{Check: balance(own.Stats), Do: func(n int) {
			for range n {
				b := own.Get()
				work(b, steps)
				own.Put(b)
			}
		}}),
		plain(zeropoolName, func(n int) {
			for range n {
				b := zero.Get()
				work(b, steps)
				zero.Put(b)
			}
		}),
		plain(mutexName, func(n int) {
			for range n {
				b := guarded.Get()
				work(b, steps)
				guarded.Put(b)
			}
		}),
		plain(syncValue, func(n int) {
			for range n {
				b := value.Get().([]byte)
				work(b, steps)
				//lint:ignore SA6002 the allocation is what is measured
				value.Put(b)
			}
		}),
		plain(syncPointer, func(n int) {
			for range n {
				b := pointer.Get().(*[]byte)
				work(*b, steps)
				pointer.Put(b)
			}
		}),
	}
}

// pages returns pools of pointers, for which sync.Pool needs no box.
func pages(steps int) []measure.Contestant {
	own, zero, guarded := pool.New(newPage), zeropool.New(newPage), &guarded[*page]{create: newPage}
	pointer := sync.Pool{New: func() any { return newPage() }}
	return []measure.Contestant{
		measure.Ready("nib", measure.Run{Check: balance(own.Stats), Do: func(n int) {
			for range n {
				v := own.Get()
				work(v.content[:], steps)
				own.Put(v)
			}
		}}),
		plain(zeropoolName, func(n int) {
			for range n {
				v := zero.Get()
				work(v.content[:], steps)
				zero.Put(v)
			}
		}),
		plain(mutexName, func(n int) {
			for range n {
				v := guarded.Get()
				work(v.content[:], steps)
				guarded.Put(v)
			}
		}),
		plain(syncPointer, func(n int) {
			for range n {
				v := pointer.Get().(*page)
				work(v.content[:], steps)
				pointer.Put(v)
			}
		}),
	}
}

// many returns pools that hold many values. Each round fills a new pool or, if
// drain is set, takes all values out of a full pool, and puts them back.
// A pool's functions take many times as long as the calls, since the values are
// not in the caches, so that all contestants share one loop.
func many(drain bool) []measure.Contestant {
	contestant := func(name string, open func() keeper) measure.Contestant {
		var values [][]byte
		var pool keeper
		return measure.Ready(name, measure.Run{Prepare: func(n int) {
			for len(values) < n {
				values = append(values, newSmall())
			}
			values = values[:n]
			pool = open()
			if drain {
				for _, v := range values {
					pool.Put(v)
				}
			}
			runtime.GC() // collects the values that the last round left
		}, Do: func(int) {
			if drain {
				for i := range values {
					values[i] = pool.Get()
				}
			}
			for _, v := range values {
				pool.Put(v)
			}
		}})
	}
	return []measure.Contestant{
		contestant("nib", func() keeper { return pool.New(newSmall) }),
		contestant(zeropoolName, func() keeper { p := zeropool.New(newSmall); return &p }),
		contestant(mutexName, func() keeper { return &guarded[[]byte]{create: newSmall} }),
	}
}

// A keeper is a pool of slices.
type keeper interface {
	Get() []byte
	Put(v []byte)
}

func newSmall() []byte { return make([]byte, 8) }

// idleLimit is the number of values that the pools with a limit may keep.
const idleLimit = 1000

// limited returns pools with a limit, which neither sync.Pool nor zeropool has,
// and which are full.
func limited(excess bool) []measure.Contestant {
	own := pool.New(newBytes, pool.WithLimit(idleLimit), pool.WithPrealloc(idleLimit))
	mutex := &guarded[[]byte]{create: newBytes, limit: idleLimit}
	channel := make(channel, idleLimit)
	for range idleLimit {
		mutex.Put(newBytes())
		channel.Put(newBytes())
	}
	contestant := func(name string, idle func() int, both, put func(n int)) measure.Contestant {
		do := both
		if excess {
			do = put
		}
		return measure.Ready(name, measure.Run{Do: do, Check: func() error {
			if n := idle(); n != idleLimit {
				return fmt.Errorf("%d values idle, want %d", n, idleLimit)
			}
			return nil
		}})
	}
	b := newBytes()
	return []measure.Contestant{
		contestant("nib", func() int { return own.Stats().Len }, func(n int) {
			for range n {
				own.Put(own.Get())
			}
		}, func(n int) {
			for range n {
				own.Put(b)
			}
		}),
		contestant(mutexName, func() int { return len(mutex.items) }, func(n int) {
			for range n {
				mutex.Put(mutex.Get())
			}
		}, func(n int) {
			for range n {
				mutex.Put(b)
			}
		}),
		contestant("channel", func() int { return len(channel) }, func(n int) {
			for range n {
				channel.Put(channel.Get())
			}
		}, func(n int) {
			for range n {
				channel.Put(b)
			}
		}),
	}
}

// A guarded is the simplest pool: a slice with a mutex, and a limit, which may
// be 0 for none.
type guarded[T any] struct {
	create func() T
	limit  int
	mu     sync.Mutex
	items  []T
}

func (g *guarded[T]) Get() (v T) {
	g.mu.Lock()
	last := len(g.items) - 1
	if last < 0 {
		g.mu.Unlock()
		return g.create()
	}
	v, g.items[last] = g.items[last], v
	g.items = g.items[:last]
	g.mu.Unlock()
	return v
}

func (g *guarded[T]) Put(v T) {
	g.mu.Lock()
	if g.limit == 0 || len(g.items) < g.limit {
		g.items = append(g.items, v)
	}
	g.mu.Unlock()
}

// A channel is a pool whose limit is exact because it is the capacity.
type channel chan []byte

func (c channel) Get() []byte {
	select {
	case v := <-c:
		return v
	default:
		return newBytes()
	}
}

func (c channel) Put(v []byte) {
	select {
	case c <- v:
	default:
	}
}

const pageSize = 4096

// touch writes to both ends of a buffer, which must have the full size.
func touch(b []byte) { b[0], b[pageSize-1] = 1, 1 }

// sized returns pools for buffers of any size.
func sized() []measure.Contestant {
	pointer := sync.Pool{New: func() any { b := make([]byte, pageSize); return &b }}
	var own pool.Buffers
	var other bytebufferpool.Pool
	return []measure.Contestant{
		measure.Ready("nib", measure.Run{Check: func() error {
			return healthy(own.Stats())
		}, Do: func(n int) {
			for range n {
				b := own.Get(pageSize)
				b.B = b.B[:pageSize]
				touch(b.B)
				own.Put(b)
			}
		}}),
		plain("mcache", func(n int) {
			for range n {
				b := mcache.Malloc(pageSize)
				touch(b)
				mcache.Free(b)
			}
		}),
		plain("bytebufferpool", func(n int) {
			for range n {
				b := other.Get()
				if cap(b.B) < pageSize { // the pool learns the size
					b.B = make([]byte, pageSize)
				}
				b.B = b.B[:pageSize]
				touch(b.B)
				other.Put(b)
			}
		}),
		plain(syncPointer, func(n int) {
			for range n {
				b := pointer.Get().(*[]byte)
				touch(*b)
				pointer.Put(b)
			}
		}),
	}
}

// healthy checks that no buffer got lost or was refused.
func healthy(s pool.BuffersStats) error {
	if s.Puts != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) || s.Dropped+s.Misused+s.Outgrown > 0 {
		return fmt.Errorf("buffers got lost: %+v", s)
	}
	return nil
}

// firstElement is the first number in a list: Go has preallocated interface
// values for smaller ones, which would save container/list an allocation.
const firstElement = 256

// lists returns the list that recycles its nodes, and the one of the standard
// library.
func lists() []measure.Contestant {
	var own list.List[int]
	var std stdlist.List
	return []measure.Contestant{
		plain("nib", func(n int) {
			for i := range n {
				own.PushBack(firstElement + i)
				own.Remove(own.Front())
			}
		}),
		plain("container/list", func(n int) {
			for i := range n {
				std.PushBack(firstElement + i)
				std.Remove(std.Front())
			}
		}),
	}
}
