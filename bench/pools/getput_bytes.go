// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"sync"

	"github.com/colega/zeropool"

	"github.com/nib-log/nib/pool"
)

// bytesPools returns pools of buffers.
func bytesPools(steps int) []Contestant {
	return append(typedBytes(steps), boxedBytes(steps)...)
}

func typedBytes(steps int) []Contestant {
	return []Contestant{
		{Nib, func(made *Made) Run {
			p := pool.New(made.bytes)
			return Run{Check: balance(p.Stats, made), Do: func(n int) {
				for range n {
					b := p.Get()
					work(b, steps)
					p.Put(b)
				}
			}}
		}},
		{Zeropool, func(made *Made) Run {
			p := zeropool.New(made.bytes)
			return Run{Do: func(n int) {
				for range n {
					b := p.Get()
					work(b, steps)
					p.Put(b)
				}
			}}
		}},
		{Mutex, func(made *Made) Run {
			p := newGuarded(made.bytes)
			return Run{Do: func(n int) {
				for range n {
					b := p.Get()
					work(b, steps)
					p.Put(b)
				}
			}}
		}},
	}
}

func boxedBytes(steps int) []Contestant {
	return []Contestant{
		{SyncValue, func(made *Made) Run {
			p := sync.Pool{New: func() any { return made.bytes() }}
			return Run{Do: func(n int) {
				for range n {
					b := p.Get().([]byte)
					work(b, steps)
					//lint:ignore SA6002 the allocation is what is measured
					p.Put(b)
				}
			}}
		}},
		{SyncNew, func(made *Made) Run {
			p := sync.Pool{New: func() any { b := made.bytes(); return &b }}
			return Run{Do: func(n int) {
				for range n {
					b := *p.Get().(*[]byte)
					work(b, steps)
					p.Put(&b)
				}
			}}
		}},
		{SyncPointer, func(made *Made) Run {
			p := sync.Pool{New: func() any { b := made.bytes(); return &b }}
			return Run{Do: func(n int) {
				for range n {
					b := p.Get().(*[]byte)
					work(*b, steps)
					p.Put(b)
				}
			}}
		}},
	}
}
