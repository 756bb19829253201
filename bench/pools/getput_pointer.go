// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"sync"

	"github.com/colega/zeropool"

	"github.com/nib-log/nib/pool"
)

// pagePools returns pools of pointers, for which sync.Pool needs no box.
func pagePools(steps int) []Contestant {
	return []Contestant{
		{Nib, func(made *Made) Run {
			p := pool.New(made.page)
			return Run{Check: balance(p.Stats, made), Do: func(n int) {
				for range n {
					v := p.Get()
					v.work(steps)
					p.Put(v)
				}
			}}
		}},
		{Zeropool, func(made *Made) Run {
			p := zeropool.New(made.page)
			return Run{Do: func(n int) {
				for range n {
					v := p.Get()
					v.work(steps)
					p.Put(v)
				}
			}}
		}},
		{SyncPointer, func(made *Made) Run {
			p := sync.Pool{New: func() any { return made.page() }}
			return Run{Do: func(n int) {
				for range n {
					v := p.Get().(*page)
					v.work(steps)
					p.Put(v)
				}
			}}
		}},
		{Mutex, func(made *Made) Run {
			p := newGuarded(made.page)
			return Run{Do: func(n int) {
				for range n {
					v := p.Get()
					v.work(steps)
					p.Put(v)
				}
			}}
		}},
	}
}
