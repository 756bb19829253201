// SPDX-License-Identifier: Apache-2.0

package pool

import "sync/atomic"

// Erasable is a value that can be reset for reuse. Erase removes the data of
// the last user, and keeps the parts that the constructor has set up if the
// next Get needs it: the constructor does not run again. An error means that
// the value is no longer usable, such as a broken connection.
type Erasable interface {
	Erase() error
}

// An ErasablePool is a [Pool] whose values are erased when they are put, not
// when they are taken: so an idle value keeps nothing else alive, and holds no
// secrets.
//
// It is created by [NewErasable]. The rules of Pool on concurrency, copying and
// ownership apply.
type ErasablePool[T Erasable] struct {
	pool   Pool[T]
	failed atomic.Uint64
}

// NewErasable returns a pool whose Get calls create when no value is idle.
// create runs without a lock held and may use the pool itself; its values,
// and the values of WithPrealloc, are not erased before their first use.
// NewErasable panics if create is nil or an option is out of range.
func NewErasable[T Erasable](create func() T, opts ...Option) *ErasablePool[T] {
	if create == nil {
		panic("nib/pool: NewErasable needs a function that makes values")
	}
	p := new(ErasablePool[T])
	p.pool.setUp(create, opts)
	return p
}

// Get takes a value out of the pool, as [Pool.Get] does.
func (p *ErasablePool[T]) Get() T { return p.pool.Get() }

// Put erases v and then puts it into the pool. If Erase fails, v is dropped and
// counted, and Put returns the error; if Erase panics, v is dropped and
// counted, and the panic continues.
//
// Erase runs on the goroutine of the caller, without a lock held: it may use
// this pool, and put parts of v there. Put itself allocates only as Pool.Put
// does.
func (p *ErasablePool[T]) Put(v T) error {
	if tracking {
		p.pool.track.check(v) // check before Erase can change a value that is in use
	}
	if err := p.erase(v); err != nil {
		return err
	}
	p.pool.Put(v)
	return nil
}

// erase counts the failures: errors, panics and runtime.Goexit.
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

// Trim drops idle values, as [Pool.Trim] does.
func (p *ErasablePool[T]) Trim(n int) { p.pool.Trim(n) }

// Stats returns the current counts, as [Pool.Stats] does. Values that could not
// be erased count as put and dropped.
func (p *ErasablePool[T]) Stats() Stats {
	s := p.pool.Stats()
	s.Failed = p.failed.Load()
	s.Puts += s.Failed
	s.Dropped += s.Failed
	return s
}
