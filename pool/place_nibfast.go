// SPDX-License-Identifier: Apache-2.0

//go:build nibfast

package pool

import (
	"sync/atomic"
	_ "unsafe" // for linkname
)

const (
	placesPerCPU = 8
	adaptive     = true
	sampleEvery  = 64 // Puts of a shard
)

// placing tells a caller which shard to use. To begin with it depends on the
// goroutine, which costs next to nothing. Where many goroutines take turns that
// makes shards, and the values in them, wander from one processor's cache to
// another's; once that is seen, the place is the processor's own number.
type placing struct {
	wanders uint32 // atomic
	crowding
}

// A sample is what is known of a shard's wandering. Its fields are atomic.
type sample struct{ cpu, score int32 }

func (c *placing) byCPU() bool { return atomic.LoadUint32(&c.wanders) != 0 }

// look sees where a Put runs.
func (c *placing) look(s *sample) { c.seen(s, int32(cpu())) }

// seen notes that a shard was used on a processor. One that is on another than
// the last time in more than a third of the looks wanders.
func (c *placing) seen(s *sample, id int32) {
	switch {
	case atomic.SwapInt32(&s.cpu, id) != id:
		if atomic.AddInt32(&s.score, 2) > wandering {
			atomic.StoreUint32(&c.wanders, 1)
		}
	case atomic.LoadInt32(&s.score) > 0:
		atomic.AddInt32(&s.score, -1)
	}
}

const wandering = 16

// cpu is the number of the processor (the scheduler's P) that the caller runs
// on. The goroutine may be moved right after: then two share a shard for one
// call, which its lock allows for.
//
//go:noinline
func cpu() uintptr {
	id := procPin()
	procUnpin()
	return uintptr(id)
}

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
