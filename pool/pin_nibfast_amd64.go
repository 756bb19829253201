// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && !race

package pool

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe" // also required by linkname
)

// pinnable reports whether shards can belong to processors (the scheduler's
// Ps).
//
// Get and Put need no locked instruction then: the goroutine is pinned to its
// processor, sets the flag busy of the processor's shard, and checks how many
// slots are open. A call that needs the shards of other processors stops the
// pool: it closes all shards, makes all processors execute a memory barrier,
// and waits until no shard is busy. A call that set its flag before the barrier
// is waited for; one that sets it later sees no open slot, and waits for the
// depot's mutex. This is Dekker's protocol, with its costs on the rare side.
const pinnable = true

// pinning is the state of a table about the owners of its shards.
type pinning struct {
	locks atomic.Bool // shards belong to the goroutine that locks them, from now on
	debt  time.Duration
	calls uint64 // Puts that have paid for debts
}

// owned has the shards of a pool's table, so that Get and Put need not read the
// table to find the one of their processor.
type owned[T any] struct {
	count uint32    // number of shards; 0 until there is a table
	first *shard[T] // set before count
}

func (o *owned[T]) begin(t *table[T]) {
	o.first = &t.shards[0]
	atomic.StoreUint32(&o.count, uint32(len(t.shards)))
}

// at returns shard i, which is less than count.
func (o *owned[T]) at(i int) *shard[T] {
	return (*shard[T])(unsafe.Add(unsafe.Pointer(o.first), uintptr(i)*unsafe.Sizeof(*o.first)))
}

// leave ends the work on a shard by its processor: one store sets state and,
// after it, clears busy.
func (s *shard[T]) leave(st uint32) {
	*(*uint64)(unsafe.Pointer(&s.state)) = uint64(st)
}

// pin is the data of a shard for its processor; it follows state.
type pin struct {
	busy uint32 // the processor works on the shard; stored by the processor only
	open uint32 // slots that the processor may use: all that there is room for, or none; stored with the depot's mutex held
}

// A pool switches to locks when stops have taken longer than the other calls
// saved: if values are put on other processors than those that get them next,
// and few are idle.
const (
	saved   = 10 * time.Nanosecond  // time saved by a Get and a Put that need no lock
	maxStop = 10 * time.Microsecond // counted part of a stop: during the rest the processor did something else
	maxDebt = time.Millisecond
)

func (p *pinning) isLocked() bool { return p.locks.Load() }

// place returns which shard is the caller's, or was a moment ago.
func (t *table[T]) place() uintptr {
	if t.isLocked() {
		return t.crowding.place()
	}
	id := procPin()
	procUnpin()
	return uintptr(id)
}

// findPinned takes a value from the processor's shard, which may get a magazine
// of the depot first. The depot's mutex is held, so the pool is not stopped in
// between.
func (d *depot[T]) findPinned(t *table[T]) (v T, ok bool) {
	if t.isLocked() {
		return v, false
	}
	if id := procPin(); id < len(t.shards) {
		s := &t.shards[id]
		st := s.state
		if st < one {
			st = d.reload(s, st)
		}
		if ok = st >= one; ok {
			v = s.pop(st)
			st -= one
		}
		s.state, s.open = st, uint32(len(s.items))
	}
	procUnpin()
	return v, ok
}

// keepPinned puts v into the processor's shard, which may get more room first.
// The depot's mutex is held.
func (d *depot[T]) keepPinned(t *table[T], v T) (ok bool) {
	if t.isLocked() {
		return false
	}
	if id := procPin(); id < len(t.shards) {
		s := &t.shards[id]
		s.state, ok = d.push(s, s.state, v)
		s.open = uint32(len(s.items))
	}
	procUnpin()
	return ok
}

// stop gives all shards to the caller, who has the depot's mutex, until resume.
func (t *table[T]) stop() (began time.Time) { return t.stopWith(barrier) }

func (t *table[T]) stopWith(barrier func()) (began time.Time) {
	if t.isLocked() {
		return began
	}
	began = time.Now()
	for i := range t.shards {
		t.shards[i].open = 0
	}
	barrier()
	for i := range t.shards {
		for atomic.LoadUint32(&t.shards[i].busy) != 0 {
			runtime.Gosched()
		}
	}
	return began
}

// resume returns the shards to the processors, or switches to locks.
func (t *table[T]) resume(began time.Time) {
	if t.isLocked() {
		return
	}
	calls := uint64(0)
	for i := range t.shards {
		calls += t.shards[i].puts
	}
	t.debt = max(0, t.debt-time.Duration(calls-t.calls)*saved) + min(time.Since(began), maxStop)
	t.calls = calls
	if t.debt > maxDebt {
		t.locks.Store(true)
		return
	}
	for i := range t.shards {
		s := &t.shards[i]
		atomic.StoreUint32(&s.open, uint32(len(s.items)))
	}
}

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
