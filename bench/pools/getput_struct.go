// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"sync"

	"github.com/colega/zeropool"

	"github.com/nib-log/nib/pool"
)

// recordPools returns pools of structs of 64 bytes.
func recordPools(steps int) []Contestant {
	return []Contestant{
		{Nib, func(made *Made) Run {
			p := pool.New(made.record)
			return Run{Check: balance(p.Stats, made), Do: func(n int) {
				for range n {
					r := p.Get()
					r.work(steps)
					p.Put(r)
				}
			}}
		}},
		{Zeropool, func(made *Made) Run {
			p := zeropool.New(made.record)
			return Run{Do: func(n int) {
				for range n {
					r := p.Get()
					r.work(steps)
					p.Put(r)
				}
			}}
		}},
		{SyncValue, func(made *Made) Run {
			p := sync.Pool{New: func() any { return made.record() }}
			return Run{Do: func(n int) {
				for range n {
					r := p.Get().(record)
					r.work(steps)
					//lint:ignore SA6002 the allocation is what is measured
					p.Put(r)
				}
			}}
		}},
		{SyncPointer, func(made *Made) Run {
			p := sync.Pool{New: func() any { r := made.record(); return &r }}
			return Run{Do: func(n int) {
				for range n {
					r := p.Get().(*record)
					r.work(steps)
					p.Put(r)
				}
			}}
		}},
		{Mutex, func(made *Made) Run {
			p := newGuarded(made.record)
			return Run{Do: func(n int) {
				for range n {
					r := p.Get()
					r.work(steps)
					p.Put(r)
				}
			}}
		}},
	}
}
