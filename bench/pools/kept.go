// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/colega/zeropool"

	"github.com/nib-log/nib/pool"
)

// A Keeper is a pool of numbers, used to find which of them it keeps. Zero
// stands for no value.
type Keeper struct {
	Name string
	New  func() (put func(int), get func() int)
}

// Keepers lists the pools that are tested.
var Keepers = []Keeper{
	{Nib, func() (func(int), func() int) {
		p := pool.New[int](nil)
		return p.Put, p.Get
	}},
	{Zeropool, func() (func(int), func() int) {
		p := new(zeropool.Pool[int])
		return p.Put, p.Get
	}},
	{SyncPointer, func() (func(int), func() int) {
		p := new(sync.Pool)
		return func(v int) { p.Put(&v) }, func() int {
			if v, ok := p.Get().(*int); ok {
				return *v
			}
			return 0
		}
	}},
	{Mutex, func() (func(int), func() int) {
		p := newGuarded(func() int { return 0 })
		return p.Put, p.Get
	}},
}

// Kept counts the values that a pool returns of those that were put before.
type Kept struct {
	Same      int // values returned to the same goroutine
	Elsewhere int // values returned to a goroutine on another processor
	Collected int // values returned after two garbage collections
}

// Keeps puts the numbers from 1 to n and counts how many of them come back,
// each counted once.
func (k *Keeper) Keeps(n int) Kept {
	var kept Kept
	put, get := k.New()
	putAll(put, n)
	kept.Same = found(get, n)

	put, get = k.New()
	onAnother(func() { putAll(put, n) }, func() { kept.Elsewhere = found(get, n) })

	put, get = k.New()
	putAll(put, n)
	runtime.GC()
	runtime.GC()
	kept.Collected = found(get, n)
	return kept
}

func putAll(put func(int), n int) {
	for i := range n {
		put(i + 1)
	}
}

// found counts the different numbers from 1 to n that n calls of get return.
func found(get func() int, n int) (count int) {
	seen := make([]bool, n+1)
	for range n {
		if v := get(); v > 0 && !seen[v] {
			seen[v] = true
			count++
		}
	}
	return count
}

// onAnother calls first and then second, on another goroutine that runs at the
// same time as this one and so, if there is more than one, on another
// processor: each waits for the other without yielding.
func onAnother(first, second func()) {
	var step atomic.Int32
	await := func(want int32) {
		for step.Load() < want {
			if runtime.GOMAXPROCS(0) == 1 {
				runtime.Gosched()
			}
		}
	}
	go func() {
		step.Store(1)
		await(2)
		second()
		step.Store(3)
	}()
	await(1)
	first()
	step.Store(2)
	await(3)
}
