// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math/bits"
	"sync/atomic"
)

// A table finds the plan of a type by the address of its descriptor. Types
// exist as long as the program, so nothing is ever removed, and a reader needs
// only one atomic load: a published table never changes, and adding makes a new
// one. That is slow, but happens once for each type.
type table struct{ now atomic.Pointer[slots] }

// slots is open addressing with linear probing. At most half of it is taken, so
// each probe ends.
type slots struct {
	slot  []slot // a power of two of them
	shift uint   // 64 - log2(len(slot)): the hash is the upper bits of a product
	taken int
}

type slot struct {
	key  uintptr // 0 is empty
	plan *Plan
}

// find returns the plan under key, nil if there is none.
func (t *table) find(key uintptr) *Plan {
	s := t.now.Load()
	if s == nil {
		return nil
	}
	for i := start(key, s.shift); ; i++ {
		e := &s.slot[i&uint(len(s.slot)-1)]
		if e.key == key || e.key == 0 {
			return e.plan
		}
	}
}

// add publishes plans under the keys that keyOf returns. Only one goroutine at
// a time may call it.
func (t *table) add(plans []*Plan, keyOf func(*Plan) uintptr) {
	old := t.now.Load()
	if old == nil {
		old = &slots{}
	}
	size := 64
	for size < 2*(old.taken+len(plans)) {
		size *= 2
	}
	s := &slots{slot: make([]slot, size), shift: 64 - uint(bits.TrailingZeros(uint(size)))}
	for _, e := range old.slot {
		if e.key != 0 {
			s.put(e)
		}
	}
	for _, p := range plans {
		s.put(slot{keyOf(p), p})
	}
	t.now.Store(s)
}

func (s *slots) put(e slot) {
	i := start(e.key, s.shift)
	for s.slot[i&uint(len(s.slot)-1)].key != 0 {
		i++
	}
	s.slot[i&uint(len(s.slot)-1)] = e
	s.taken++
}

// start is where the probe for key begins. The multiplication, by 2^64 over the
// golden ratio, spreads the differences between addresses into the upper bits.
func start(key uintptr, shift uint) uint {
	return uint(uint64(key) * 0x9E3779B97F4A7C15 >> (shift & 63))
}
