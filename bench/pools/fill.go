// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"runtime"
	"sync"

	"github.com/colega/zeropool"

	"github.com/nib-log/nib/pool"
)

const (
	million = 1_000_000
	drained = 10_000
)

// fills returns the contests of pools that hold many values.
func fills() []Scenario {
	all := []Scenario{
		{Name: "FirstFill", Title: "Put of a million values into a new pool", Versus: Zeropool, Ops: million, Stretch: 8},
		{Name: "DrainRefill", Title: "Get of 10,000 values, then Put of all", Versus: Zeropool, Ops: drained},
		{Name: "GetPut10000", Title: "Get and Put while 10,000 values are idle", Versus: Zeropool},
		{Name: "Preallocated", Title: "first Get of each of 10,000 preallocated values", Versus: Zeropool, Ops: drained},
	}
	for i, run := range []func(m mass) Run{mass.fill, mass.drain, mass.steady, mass.first} {
		for _, c := range masses {
			all[i].Contestants = append(all[i].Contestants, Contestant{c.name, func(made *Made) Run { return run(c.new(made)) }})
		}
	}
	return all
}

// A mass is a pool of buffers with loops over many values.
type mass struct {
	renew  func(n int) // replaces the pool with one that holds n values
	getAll func(into [][]byte)
	putAll func(values [][]byte)
	getPut func(n int)
	made   *Made
}

// fill puts n values into a new pool.
func (m mass) fill() Run {
	var values [][]byte
	return Run{
		Prepare: func(n int) {
			if len(values) != n {
				values = small(n)
			}
			m.renew(0)
			runtime.GC() // collects the values that the last round left
		},
		Do: func(int) { m.putAll(values) },
		Lost: func(n int) int {
			before := m.made.Count()
			m.getAll(make([][]byte, n))
			return m.made.Count() - before
		},
	}
}

func (m mass) drain() Run {
	var into [][]byte
	return Run{
		Prepare: func(n int) {
			if len(into) != n {
				into = make([][]byte, n)
				m.renew(n)
			}
		},
		Do: func(int) {
			m.getAll(into)
			m.putAll(into)
		},
	}
}

func (m mass) steady() Run {
	m.renew(drained)
	return Run{Do: m.getPut}
}

func (m mass) first() Run {
	var into [][]byte
	return Run{
		Prepare: func(n int) {
			into = make([][]byte, n)
			m.renew(n)
		},
		Do: func(int) { m.getAll(into) },
	}
}

// small returns n buffers that share one allocation: separate allocations would
// take most of the time.
func small(n int) [][]byte {
	const size = 8
	values, memory := make([][]byte, n), make([]byte, n*size)
	for i := range values {
		values[i] = memory[i*size : (i+1)*size : (i+1)*size]
	}
	return values
}

var masses = []struct {
	name string
	new  func(made *Made) mass
}{
	{Nib, func(made *Made) mass {
		var p *pool.Pool[[]byte]
		return mass{
			made:  made,
			renew: func(n int) { p = pool.New(made.bytes, pool.WithPrealloc(n)) },
			getAll: func(into [][]byte) {
				for i := range into {
					into[i] = p.Get()
				}
			},
			putAll: func(values [][]byte) {
				for _, v := range values {
					p.Put(v)
				}
			},
			getPut: func(n int) {
				for range n {
					p.Put(p.Get())
				}
			},
		}
	}},
	{Zeropool, func(made *Made) mass {
		var p *zeropool.Pool[[]byte]
		return mass{
			made: made,
			renew: func(n int) {
				next := zeropool.New(made.bytes)
				p = &next
				for range n {
					p.Put(made.bytes())
				}
			},
			getAll: func(into [][]byte) {
				for i := range into {
					into[i] = p.Get()
				}
			},
			putAll: func(values [][]byte) {
				for _, v := range values {
					p.Put(v)
				}
			},
			getPut: func(n int) {
				for range n {
					p.Put(p.Get())
				}
			},
		}
	}},
	{SyncNew, func(made *Made) mass {
		var p *sync.Pool
		return mass{
			made: made,
			renew: func(n int) {
				p = &sync.Pool{New: func() any { b := made.bytes(); return &b }}
				for range n {
					b := made.bytes()
					p.Put(&b)
				}
			},
			getAll: func(into [][]byte) {
				for i := range into {
					into[i] = *p.Get().(*[]byte)
				}
			},
			putAll: func(values [][]byte) {
				for _, v := range values {
					p.Put(&v)
				}
			},
			getPut: func(n int) {
				for range n {
					b := *p.Get().(*[]byte)
					p.Put(&b)
				}
			},
		}
	}},
	{Mutex, func(made *Made) mass {
		var p *guarded[[]byte]
		return mass{
			made: made,
			renew: func(n int) {
				p = newGuarded(made.bytes)
				for range n {
					p.Put(made.bytes())
				}
			},
			getAll: func(into [][]byte) {
				for i := range into {
					into[i] = p.Get()
				}
			},
			putAll: func(values [][]byte) {
				for _, v := range values {
					p.Put(v)
				}
			},
			getPut: func(n int) {
				for range n {
					p.Put(p.Get())
				}
			},
		}
	}},
}
