// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"sync/atomic"

	"github.com/nib-log/nib/internal/publish"
)

// A slot keeps one idle value of a Buffers. There is one for each shard, and
// Get and Put use it before the shard.
//
// A Buffer that is taken from a slot keeps the slot reserved: only its Put, by
// the same place, stores a value there. So Put needs no locked instruction. It
// gives the slot back if the place has changed. A Buffer that is never put is
// not kept alive by its slot, but the slot stays reserved, and calls of that
// place use only the shard.
type slot[T any] struct {
	// word is slotFree, slotReserved or slotIdle, and slotPut for each value that
	// was put. The count lets a compare-and-swap fail if the slot was used since
	// the word was loaded. Only the owner of a reserved slot changes its word.
	word uint64
	kept T // a pointer
	_    [cacheLine - slotSizeOfPointer]byte
}

const (
	slotFree     = 0
	slotReserved = 1
	slotIdle     = 2
	slotStates   = 3 // the bits of the states
	slotPut      = 4
)

// take takes the value of the slot, which is reserved then.
func (s *slot[T]) take() (v T, ok bool) {
	w := atomic.LoadUint64(&s.word)
	taken := w - slotIdle + slotReserved
	if w&slotStates != slotIdle || !atomic.CompareAndSwapUint64(&s.word, w, taken) {
		return v, false
	}
	v = s.kept
	var zero T
	s.kept = zero
	return v, true
}

// put stores v in a slot that the caller has reserved.
func (s *slot[T]) put(v T) {
	s.kept = v
	publish.Uint64(&s.word, atomic.LoadUint64(&s.word)-slotReserved+slotIdle+slotPut)
}

// isFree reports whether the slot can be reserved.
func (s *slot[T]) isFree() bool { return atomic.LoadUint64(&s.word)&slotStates == slotFree }

// reserve reserves the slot if it is free.
func (s *slot[T]) reserve() bool {
	w := atomic.LoadUint64(&s.word)
	return w&slotStates == slotFree && atomic.CompareAndSwapUint64(&s.word, w, w+slotReserved)
}

// release gives back a slot that the caller has reserved.
func (s *slot[T]) release() {
	publish.Uint64(&s.word, atomic.LoadUint64(&s.word)-slotReserved)
}

// count returns how many values were put into the slot, and how many are there.
func (s *slot[T]) count() (puts uint64, idle int) {
	w := atomic.LoadUint64(&s.word)
	return w / slotPut, int(w & slotIdle / slotIdle)
}

// takeKept takes a value out of any slot.
func (t *table[T]) takeKept(home uintptr) (v T, ok bool) {
	for i := 0; i < len(t.slots) && !ok; i++ {
		v, ok = t.slots[(home+uintptr(i))&t.mask].take()
	}
	return v, ok
}

// dropKept drops the value of a slot, if there is one, and returns the number.
func (p *Pool[T]) dropKept(s *slot[T]) int {
	v, ok := s.take()
	if !ok {
		return 0
	}
	if tracking {
		p.track.dropped(v)
	}
	s.release()
	p.depot.trimmed++
	return 1
}
