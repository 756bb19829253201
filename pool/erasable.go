// SPDX-License-Identifier: Apache-2.0

package pool

import "sync/atomic"

// Erasable is a value that can be made ready for its next user. Erase takes out
// what the last one put in, and leaves what the constructor has set up if that
// is to be found by the next Get: nothing is set up again. An error says that
// the value cannot be used any more, such as a connection that is broken.
type Erasable interface {
	Erase() error
}

// An ErasablePool is a [Pool] whose values are erased when they are put, not
// when they are taken: so an idle value keeps nothing alive, and holds no
// secrets.
//
// It is made by [NewErasable]. What is said of Pool, on goroutines, copies and
// whom a value belongs to, holds here too.
type ErasablePool[T Erasable] struct {
	pool   Pool[T]
	failed atomic.Uint64
}

// NewErasable makes a pool whose Get calls create when no value is idle. create
// runs outside of all locks and may use the pool itself; its values, also those
// of WithPrealloc, are not erased before their first use. NewErasable panics if
// create is nil or an option is out of range.
func NewErasable[T Erasable](create func() T, opts ...Option) *ErasablePool[T] {
	if create == nil {
		panic("nib/pool: NewErasable needs a function that makes values")
	}
	p := new(ErasablePool[T])
	p.pool.setUp(create, opts)
	return p
}

// Get is [Pool.Get].
func (p *ErasablePool[T]) Get() T { return p.pool.Get() }

// Put erases v and then gives it to the pool. If that fails, v is dropped and
// counted, and Put returns the error; if Erase panics, v is dropped and counted,
// and the panic goes on.
//
// Erase runs on the goroutine of the caller, outside of all locks: it may use
// this pool, and put what is part of v there. 0 allocs of its own, as Pool.Put.
func (p *ErasablePool[T]) Put(v T) error {
	if tracking {
		p.pool.track.check(v) // before Erase can spoil what someone else has
	}
	if err := p.erase(v); err != nil {
		return err
	}
	p.pool.Put(v)
	return nil
}

// erase counts the failures, of which a panic is one, and runtime.Goexit too.
func (p *ErasablePool[T]) erase(v T) (err error) {
	done := false
	defer func() {
		if !done || err != nil {
			p.failed.Add(1)
		}
	}()
	err = v.Erase()
	done = true
	return err
}

// Trim is [Pool.Trim].
func (p *ErasablePool[T]) Trim(n int) { p.pool.Trim(n) }

// Stats counts as [Pool.Stats] does. Values that could not be erased were put,
// and dropped.
func (p *ErasablePool[T]) Stats() Stats {
	s := p.pool.Stats()
	s.Failed = p.failed.Load()
	s.Puts += s.Failed
	s.Dropped += s.Failed
	return s
}
