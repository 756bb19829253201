// SPDX-License-Identifier: Apache-2.0

package pool

import "sync/atomic"

// crowding changes the places of goroutines when many calls find their shard in
// use: two that run at the same time may have the same place by chance.
//
// Its fields are atomic, by functions for the reason given at shard.state. All
// calls read salt, so met, which is written when shards are short, is on
// another cache line.
type crowding struct {
	salt uintptr
	_    [cacheLine]byte
	met  uint32
}

// meet records that a shard was found in use. The more often places have been
// changed, the longer it takes until they change again: with more running
// goroutines than shards, no change helps.
func (c *crowding) meet() {
	if n := atomic.AddUint32(&c.met, 1); n >= 64 && n&(n-1) == 0 {
		atomic.StoreUintptr(&c.salt, uintptr(n)*0x9E3779B1)
	}
}

// byStack returns the place of the goroutine.
func (c *crowding) byStack() uintptr { return stackPlace(atomic.LoadUintptr(&c.salt)) }

// placesPerCPU is the number of shards for each processor: some more, since
// goroutines that run at the same time may have the same place.
const placesPerCPU = 8
