// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"sync"

	"github.com/nib-log/nib/pool"
)

// mempool returns the rows of the benchmark of github.com/zergon321/mempool:
// many values are put into a new pool, taken out, and put again. Each part is
// timed separately. The values are erased when they are put. The module cannot
// be fetched from the module proxy. Slice does the same, and Mutex with its
// option for concurrent use.
func mempool() []Scenario {
	rows := []struct {
		name, title string
		run         func(b batch) Run
	}{
		{"MempoolGet", "get", batch.get},
		{"MempoolFill", "fill", batch.fill},
		{"MempoolRefill", "refill", batch.refill},
	}
	var all []Scenario
	for _, r := range rows {
		s := Scenario{Name: r.name, Context: "mempool's rows", Title: r.title, Versus: SyncValue, Ops: 10_000}
		for _, c := range batches {
			s.Contestants = append(s.Contestants, Contestant{c.name, func(made *Made) Run { return r.run(c.new(made)) }})
		}
		all = append(all, s)
	}
	return all
}

// An erased is a buffer that erases itself for reuse.
type erased []byte

func (e erased) Erase() error {
	clear(e)
	return nil
}

const erasedSize = 64 // the size in mempool's benchmark

func (m *Made) erased() erased {
	m.Add(1)
	return make(erased, erasedSize)
}

// A batch is a pool with loops over many values.
type batch struct {
	renew  func() // replaces the pool
	getAll func(into []erased)
	putAll func(values []erased)
	putNew func(n int) // puts n values that it makes
}

func (b batch) get() Run {
	var into []erased
	return Run{
		Prepare: func(n int) {
			into = make([]erased, n)
			b.renew()
			b.putNew(n)
		},
		Do: func(int) { b.getAll(into) },
	}
}

func (b batch) fill() Run {
	return Run{Prepare: func(int) { b.renew() }, Do: b.putNew}
}

func (b batch) refill() Run {
	get := b.get()
	var values []erased
	return Run{
		Prepare: func(n int) {
			get.Prepare(n)
			values = make([]erased, n)
			b.getAll(values)
		},
		Do: func(int) { b.putAll(values) },
	}
}

var batches = []struct {
	name string
	new  func(made *Made) batch
}{
	{Nib, func(made *Made) batch {
		var p *pool.Pool[erased]
		return batch{
			renew: func() { p = pool.New(made.erased) },
			getAll: func(into []erased) {
				for i := range into {
					into[i] = p.Get()
				}
			},
			putAll: func(values []erased) {
				for _, v := range values {
					p.Put(v)
				}
			},
			putNew: func(n int) {
				for range n {
					p.Put(make(erased, erasedSize))
				}
			},
		}
	}},
	{NibErasable, func(made *Made) batch {
		var p *pool.ErasablePool[erased]
		return batch{
			renew: func() { p = pool.NewErasable(made.erased) },
			getAll: func(into []erased) {
				for i := range into {
					into[i] = p.Get()
				}
			},
			putAll: func(values []erased) {
				for _, v := range values {
					_ = p.Put(v)
				}
			},
			putNew: func(n int) {
				for range n {
					_ = p.Put(make(erased, erasedSize))
				}
			},
		}
	}},
	{SyncValue, func(made *Made) batch {
		var p *sync.Pool
		return batch{
			renew: func() { p = &sync.Pool{New: func() any { return made.erased() }} },
			getAll: func(into []erased) {
				for i := range into {
					into[i] = p.Get().(erased)
				}
			},
			putAll: func(values []erased) {
				for _, v := range values {
					//lint:ignore SA6002 as in mempool's benchmark
					p.Put(v)
				}
			},
			putNew: func(n int) {
				for range n {
					//lint:ignore SA6002 as in mempool's benchmark
					p.Put(make(erased, erasedSize))
				}
			},
		}
	}},
	{Slice, func(made *Made) batch {
		var p *stack[erased]
		return batch{
			renew: func() { p = &stack[erased]{create: made.erased} },
			getAll: func(into []erased) {
				for i := range into {
					into[i] = p.Get()
				}
			},
			putAll: func(values []erased) {
				for _, v := range values {
					_ = v.Erase()
					p.Put(v)
				}
			},
			putNew: func(n int) {
				for range n {
					v := make(erased, erasedSize)
					_ = v.Erase()
					p.Put(v)
				}
			},
		}
	}},
	{Mutex, func(made *Made) batch {
		var p *guarded[erased]
		return batch{
			renew: func() { p = newGuarded(made.erased) },
			getAll: func(into []erased) {
				for i := range into {
					into[i] = p.Get()
				}
			},
			putAll: func(values []erased) {
				for _, v := range values {
					_ = v.Erase()
					p.Put(v)
				}
			},
			putNew: func(n int) {
				for range n {
					v := make(erased, erasedSize)
					_ = v.Erase()
					p.Put(v)
				}
			},
		}
	}},
}
