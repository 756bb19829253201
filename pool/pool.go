// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"sync/atomic"

	"github.com/nib-log/nib/internal/publish"
)

// A Pool keeps values of type T for reuse. They are stored by value, so slices
// and structs are not boxed. The zero Pool is ready to use and keeps any number
// of values; if it is empty, Get returns the zero T.
//
// A Pool is safe for concurrent use, and must not be copied. A value belongs to
// the pool from the call of Put until a Get returns it: the caller of Put must
// not retain any part of it.
type Pool[T any] struct {
	// table is all that Get and Put read of the Pool while their shard suffices,
	// so nothing that is written is on its cache line.
	table atomic.Pointer[table[T]]
	_     [cacheLine]byte

	create func() T
	config config
	track  tracker
	depot  depot[T]
}

// New returns a pool whose Get calls create when no value is idle. If create is
// nil, Get returns the zero T instead. create runs without a lock held and may
// use the pool itself. New panics if an option is out of range.
func New[T any](create func() T, opts ...Option) *Pool[T] {
	p := new(Pool[T])
	p.setUp(create, opts)
	return p
}

// setUp is New for a Pool that is part of another struct.
func (p *Pool[T]) setUp(create func() T, opts []Option) {
	p.create, p.config = create, newConfig(opts)
	for range p.config.prealloc {
		p.Put(p.make())
	}
}

// Get takes a value out of the pool, or creates one if there is none. It finds
// any value whose Put happened before, on whichever processor and however many
// garbage collections ago; only a Get that runs concurrently with a Put may
// miss its value. The slot of the value is cleared. Get allocates only if a
// value is created.
func (p *Pool[T]) Get() (v T) {
	if t := p.table.Load(); t != nil {
		salt := atomic.LoadUintptr(&t.salt)
		s := t.at(spread(caller(salt) ^ salt))
		if st := atomic.SwapUint32(&s.state, lockBit); int32(st) >= one {
			slot := &s.items[st/one-1]
			v = *slot
			var zero T
			*slot = zero
			publish.Uint32(&s.state, st-one)
			if tracking {
				p.track.taken(v)
			}
			return v
		} else if st != lockBit {
			publish.Uint32(&s.state, st)
		}
	}
	return p.getSlow()
}

// Put puts v into the pool. If the pool already has as many idle values as its
// limit, v is dropped and counted. Put allocates only the pool's own slots,
// when more values are idle than ever before.
func (p *Pool[T]) Put(v T) {
	if tracking {
		p.track.given(v)
	}
	if t := p.table.Load(); t != nil {
		salt := atomic.LoadUintptr(&t.salt)
		s := t.at(spread(caller(salt) ^ salt))
		if st := atomic.SwapUint32(&s.state, lockBit); st != lockBit {
			if i := uint(st / one); i < uint(len(s.items)) {
				s.items[i] = v
				s.puts++
				publish.Uint32(&s.state, st+one)
				return
			}
			if st&fullBit != 0 {
				s.refused++
				publish.Uint32(&s.state, st)
				if tracking {
					p.track.taken(v) // the value is dropped
				}
				return
			}
			publish.Uint32(&s.state, st)
		}
	}
	p.putSlow(v)
}

// make calls the constructor.
func (p *Pool[T]) make() (v T) {
	if p.create != nil {
		v = p.create()
	}
	return v
}
