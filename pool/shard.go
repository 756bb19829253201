// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"runtime"
	"sync/atomic"

	"github.com/nib-log/nib/internal/publish"
)

// cacheLine is two lines of most processors, which fetch them in pairs.
const cacheLine = 128

// A table is a power of two of shards. Which of them a call uses only matters
// for speed: place gives the same one to calls on the same goroutine most of
// the time.
type table[T any] struct {
	shards []shard[T]
	mask   uintptr
	slots  []slot[T] // one for each shard, or none; for Buffers
	crowding
}

func newTable[T any]() *table[T] {
	n := 1
	for n < placesPerCPU*max(runtime.GOMAXPROCS(0), runtime.NumCPU()) && n < maxShards {
		n *= 2
	}
	return &table[T]{shards: make([]shard[T], n), mask: uintptr(n - 1)}
}

const maxShards = 256

// at returns the shard for place i.
func (t *table[T]) at(i uintptr) *shard[T] { return &t.shards[i&t.mask] }

// A shard holds idle values: in items, a stack that Get and Put work on, and in
// spare, a full stack in reserve. The pair keeps calls that alternate around a
// boundary away from the depot (the magazines of Bonwick and Adams, Magazines
// and Vmem, USENIX 2001).
//
// The lock is a value of state: the goroutine that swaps it in owns the shard,
// gets its fill level with the same instruction, and releases it by storing the
// new state. It is held for a few instructions and never while user code runs;
// a goroutine that finds it taken tries another shard or yields.
//
// The fields that Get and Put use come first, on one cache line.
type shard[T any] struct {
	// state is lockBit alone, or the number of values in items times one and
	// perhaps spareBit and fullBit. All access is atomic, but by the functions of
	// sync/atomic: methods of atomic.Uint32 are not inlined into generic code
	// that is instantiated in a package without that import.
	state   uint32
	_       uint32
	items   []T    // len is its room, how many values it may hold: its share of the limit
	puts    uint64 // Puts of values that were kept
	refused uint64 // Puts above the limit
	spare   []T    // len is the number of values, 0 unless spareBit is set
	_       [cacheLine - shardSize]byte
}

const (
	firstMagazine = 8
	maxMagazine   = 256
	magazineBytes = 16 << 10 // maximum size of a magazine
	tableBytes    = 64 << 10 // maximum size of the first magazines of all shards
)

// largest returns the maximum number of values of T in a magazine: at least
// two, however large they are.
func largest[T any]() int { return min(maxMagazine, max(2, magazineBytes/slotSize[T]())) }

// furnish gives the shards their first magazines, in one allocation: the place
// of a goroutine changes when its stack is moved, and should not cost an
// allocation at each new place. For large values it would waste memory.
func (t *table[T]) furnish() {
	size := slotSize[T]()
	n := min(max(firstMagazine, cacheLine/2/size), tableBytes/size/len(t.shards))
	all := make([]T, n*len(t.shards))
	for i := range t.shards {
		t.shards[i].items = all[i*n : i*n : (i+1)*n]
	}
}

const (
	lockBit  = 1
	spareBit = 2
	one      = 4 // a value in items

	// fullBit is set in all shards if the pool is as full as its limit allows. So
	// a Put is refused by the state of its shard. A Get does not take a value
	// from a shard with fullBit, which looks negative, before it has unmarked all
	// shards.
	fullBit = 1 << 31
)

// count returns the number of values in items.
func count(state uint32) int { return int((state &^ fullBit) / one) }

// locked reports whether the shard is locked.
func (s *shard[T]) locked() bool { return atomic.LoadUint32(&s.state) == lockBit }

// lock waits for the shard and returns its state.
func (s *shard[T]) lock() uint32 {
	for {
		if st := atomic.SwapUint32(&s.state, lockBit); st != lockBit {
			return st
		}
		runtime.Gosched() // the owner may have been preempted
	}
}

// tryGet takes a value from items if there is one.
func (s *shard[T]) tryGet() (v T, ok bool) {
	st := atomic.SwapUint32(&s.state, lockBit)
	switch {
	case st == lockBit:
		return v, false
	case int32(st) >= one:
		v, ok = s.pop(st), true
		st -= one
	}
	publish.Uint32(&s.state, st)
	return v, ok
}

// tryPut puts v into items if there is room.
func (s *shard[T]) tryPut(v T) bool {
	st := atomic.SwapUint32(&s.state, lockBit)
	if st == lockBit {
		return false
	}
	ok := int(st/one) < len(s.items)
	if ok {
		s.items[st/one] = v
		s.puts++
		st += one
	}
	publish.Uint32(&s.state, st)
	return ok
}

// pop takes the last value of a locked shard in state st, which has one.
func (s *shard[T]) pop(st uint32) T {
	slot := &s.items[st/one-1]
	v := *slot
	var zero T
	*slot = zero
	return v
}
