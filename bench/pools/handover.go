// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"sync"

	"github.com/colega/zeropool"

	"github.com/nib-log/nib/pool"
)

// handovers returns the contests in which one goroutine takes values and
// another one puts them back. The first is zeropool's own.
func handovers() []Scenario {
	return []Scenario{
		{Name: "HandoverDirect", Title: "[]byte, another goroutine puts, unbuffered channel", Versus: Zeropool,
			Contestants: handover(0)},
		{Name: "Handover", Title: "[]byte, another goroutine puts, channel of 128", Versus: Zeropool,
			Contestants: handover(128)},
	}
}

func handover(capacity int) []Contestant {
	return []Contestant{
		{Nib, func(made *Made) Run {
			p := pool.New(made.bytes)
			run := across(capacity, p.Get, p.Put)
			run.Check = balance(p.Stats, made)
			return run
		}},
		{Zeropool, func(made *Made) Run {
			p := zeropool.New(made.bytes)
			return across(capacity, p.Get, p.Put)
		}},
		{SyncValue, func(made *Made) Run {
			p := sync.Pool{New: func() any { return made.bytes() }}
			return across(capacity, func() []byte { return p.Get().([]byte) }, func(b []byte) {
				//lint:ignore SA6002 the allocation is what is measured
				p.Put(b)
			})
		}},
		{SyncNew, func(made *Made) Run {
			p := sync.Pool{New: func() any { b := made.bytes(); return &b }}
			return across(capacity, func() []byte { return *p.Get().(*[]byte) }, func(b []byte) { p.Put(&b) })
		}},
		{SyncPointer, func(made *Made) Run {
			p := sync.Pool{New: func() any { b := made.bytes(); return &b }}
			return across(capacity, func() *[]byte { return p.Get().(*[]byte) }, func(b *[]byte) { p.Put(b) })
		}},
		{Mutex, func(made *Made) Run {
			p := newGuarded(made.bytes)
			return across(capacity, p.Get, p.Put)
		}},
	}
}

// across sends each value that get takes to another goroutine, which puts it.
// The channel takes many times as long as the calls, so all contestants can
// share one loop.
func across[T any](capacity int, get func() T, put func(T)) Run {
	values, done := make(chan T, capacity), make(chan int)
	go func() {
		for n := range done { // the size of the next round
			for range n {
				put(<-values)
			}
			done <- n
		}
	}()
	return Run{
		Do: func(n int) {
			done <- n
			for range n {
				values <- get()
			}
			<-done
		},
		Close: func() { close(done) },
	}
}
