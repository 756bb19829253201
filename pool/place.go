// SPDX-License-Identifier: Apache-2.0

package pool

import "sync/atomic"

// crowding selects the place of a call. At first it is given by the address of
// the goroutine's stack, and changes when many calls find their shard in use:
// two goroutines that run at the same time may have the same place by chance.
//
// Where many goroutines share a few idle values, most of them find the shard
// of their place empty. Then the number of the processor is the place, if it
// can be known: what was put there is still there when the next one runs.
//
// Its fields are atomic, by functions for the reason given at shard.state. All
// calls read salt, so met, which is written when shards are short, is on
// another cache line.
type crowding struct {
	salt uintptr // with the bit byProcessor if places are numbers of processors
	_    [cacheLine]byte
	met  uint32
}

const byProcessor = 1 // the lowest bit of a salt is not needed

// meet records that a shard was found in use. The more often places have been
// changed, the longer it takes until they change again: with more running
// goroutines than shards, no change helps. Processors are replaced by
// stacks: if processors are short of shards, their numbers may be wrong.
func (c *crowding) meet() {
	if n := atomic.AddUint32(&c.met, 1); n >= 64 && n&(n-1) == 0 {
		atomic.StoreUintptr(&c.salt, uintptr(n)*0x9E3779B1)
	}
}

// place returns the place of the caller. Get and Put do the same in two parts,
// which the compiler inlines.
func (c *crowding) place() uintptr {
	salt := atomic.LoadUintptr(&c.salt)
	return spread(caller(salt) ^ salt)
}

// caller returns the number of the caller's processor, or what distinguishes
// its goroutine.
func caller(salt uintptr) uintptr {
	if salt&byProcessor != 0 {
		return processor()
	}
	return stackPage()
}

// spread returns a number of 8 bits from the others of x.
func spread(x uintptr) uintptr { return uintptr(uint64(x) * 0x9E3779B97F4A7C15 >> 56) }

// placesPerCPU is the number of shards for each processor: some more, since
// goroutines that run at the same time may have the same place.
const placesPerCPU = 8
