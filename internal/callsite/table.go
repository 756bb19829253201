// SPDX-License-Identifier: Apache-2.0

package callsite

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// A Table keeps one value per program counter for the life of the program. The
// zero value is empty and ready. It is safe for concurrent use and must not be
// copied. Nothing is ever removed: it holds at most one entry for each call
// site in the program text.
//
// A mutex around a map would serialise every log line, and sync.Map boxes its
// keys. A table that only grows needs neither: an entry, once visible, never
// changes, so a reader synchronises only with the one store that made it
// visible.
type Table[V any] struct {
	grow sync.Mutex // held by Put; readers never take it
	now  atomic.Pointer[slots[V]]
}

// slots is open addressing with linear probing.
//
// Invariants: len(entry) is a power of two; at most half of the entries are
// taken, so that each probe ends; within one slots an entry goes from empty to
// taken once and never changes again.
type slots[V any] struct {
	entry []slot[V]
	shift uint // 64 - log2(len(entry)): the hash is the upper bits of a product
	taken int  // protected by Table.grow
}

// slot is empty while pc is 0. v is written before pc and not after.
type slot[V any] struct {
	pc atomic.Uintptr
	v  V
}

// firstSize is the number of entries that the first Put makes room for: half of
// it are call sites, which is enough for a small program.
const firstSize = 128

// Get returns the value of pc, nil when there is none. The value is shared and
// must not be changed. It takes no lock and does not allocate.
func (t *Table[V]) Get(pc uintptr) *V {
	s := t.now.Load()
	if s == nil {
		return nil
	}
	return s.find(pc)
}

// Put makes v the value of pc and returns the value that Get returns from now
// on, under the same conditions. The first Put for a pc wins: if two goroutines
// miss the same entry and both make a value, both get the same one. A pc of 0
// is an unknown call site; its value is returned but not kept. It allocates
// when the table has to grow, and for a pc of 0.
func (t *Table[V]) Put(pc uintptr, v V) *V {
	if pc == 0 {
		unkept := v // only this copy moves to the heap
		return &unkept
	}
	t.grow.Lock()
	defer t.grow.Unlock()
	s := t.now.Load()
	if s != nil {
		if old := s.find(pc); old != nil {
			return old
		}
	}
	if s == nil || 2*(s.taken+1) > len(s.entry) {
		s = s.enlarged()
	}
	p := s.add(pc, v)
	t.now.Store(s) // readers have used the old slots until the new ones are complete
	return p
}

// find returns the value of pc or nil. The key is loaded before the value, in
// the reverse order of add, so that a key that is seen guarantees its value.
func (s *slots[V]) find(pc uintptr) *V {
	for i := s.start(pc); ; i++ {
		e := &s.entry[i&uint(len(s.entry)-1)]
		switch e.pc.Load() {
		case pc:
			if pc == 0 {
				return nil
			}
			return &e.v
		case 0:
			return nil
		}
	}
}

// add fills the first empty slot for pc, which must not be present. There must
// be room. Only one goroutine at a time may call it.
func (s *slots[V]) add(pc uintptr, v V) *V {
	i := s.start(pc)
	for s.entry[i&uint(len(s.entry)-1)].pc.Load() != 0 {
		i++
	}
	e := &s.entry[i&uint(len(s.entry)-1)]
	e.v = v
	e.pc.Store(pc)
	s.taken++
	return &e.v
}

// enlarged returns slots twice as large with the same entries, or the initial
// slots if s is nil.
func (s *slots[V]) enlarged() *slots[V] {
	size := firstSize
	if s != nil {
		size = 2 * len(s.entry)
	}
	n := &slots[V]{entry: make([]slot[V], size), shift: 64 - uint(bits.TrailingZeros(uint(size)))}
	if s != nil {
		for i := range s.entry {
			if pc := s.entry[i].pc.Load(); pc != 0 {
				n.add(pc, s.entry[i].v)
			}
		}
	}
	return n
}

// start returns where the probe for pc begins. Call sites are close together
// and differ in their lower bits, which the multiplication (by 2^64 over the
// golden ratio) spreads into the upper ones.
func (s *slots[V]) start(pc uintptr) uint {
	return uint(uint64(pc) * 0x9E3779B97F4A7C15 >> (s.shift & 63))
}
