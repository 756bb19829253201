// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"sync/atomic"

	"github.com/nib-log/nib/internal/invariants"
)

// Buffers is a pool of byte buffers of any size. The zero Buffers is ready to
// use, with the defaults of [BuffersConfig].
//
// Idle buffers are kept by size classes: 64, 96, 128, 192, 256, 384 bytes and
// so on, each power of two and halfway to the next. So from 64 bytes on a
// buffer is less than half as large again as requested, and a fifth on average
// over all sizes. Go's allocator has these size classes, too, and adds no
// overhead.
//
// A Buffers is safe for concurrent use, and must not be copied.
type Buffers struct {
	last   int // number of the largest class that is kept, plus one
	config BuffersConfig
	// classes are created when they are first used.
	classes [numClasses]atomic.Pointer[Pool[*Buffer]]

	_            [cacheLine]byte // separates the counters, which are written, from the fields above
	oversizeGets atomic.Uint64
	oversizePuts atomic.Uint64
	grown        atomic.Uint64
	outgrown     atomic.Uint64
	misused      atomic.Uint64
}

// BuffersConfig configures a [Buffers].
type BuffersConfig struct {
	// MaxSize is the largest size in bytes that is kept, rounded up to a size
	// class. Larger buffers are allocated by each Get and dropped by Put.
	// Defaults to 1 MiB, and may be at most 1 GiB.
	MaxSize int
	// Limit is the maximum number of idle buffers of each class. Defaults to 0:
	// no limit.
	Limit int
	// GCShrink frees idle buffers that were not used between two garbage
	// collections, as WithGCShrink does.
	GCShrink bool
}

const (
	minSize        = 64 // bytes, of class 0
	maxSize        = 1 << 30
	numClasses     = 49 // up to maxSize
	defaultClasses = 29 // up to 1 MiB
)

// NewBuffers returns a Buffers. It panics if the configuration is out of range.
func NewBuffers(c BuffersConfig) *Buffers {
	switch {
	case c.MaxSize < 0 || c.MaxSize > maxSize:
		panic(fmt.Sprintf("nib/pool: largest buffer of %d bytes is not in 0 to %d", c.MaxSize,
			maxSize))
	case c.Limit < 0:
		panic(fmt.Sprintf("nib/pool: limit %d is negative", c.Limit))
	}
	p := &Buffers{config: c}
	if c.MaxSize > 0 {
		p.last = classOf(c.MaxSize) + 1
	}
	return p
}

// sizeOf returns the capacity of the buffers of a class: 2 or 3 times a power
// of two.
func sizeOf(class int) int { return (2 + class&1) << (5 + class>>1) }

// kept returns the number of classes that are kept.
func (p *Buffers) kept() int {
	if p.last == 0 {
		return defaultClasses
	}
	return p.last
}

// Get returns a buffer whose B is empty and has a capacity of at least n bytes.
// Its memory is not zeroed. It panics if n is negative. It does not allocate,
// unless no such buffer is idle or n is above the largest size that is kept.
func (p *Buffers) Get(n int) *Buffer {
	b := p.take(n)
	b.B = b.mem.bytes()[:0]
	return b
}

// take returns a buffer with memory for n bytes, whose B is not set.
func (p *Buffers) take(n int) *Buffer {
	class := classOf(n)
	if n < 0 || class >= p.kept() {
		return p.takeOversize(n)
	}
	pool := p.classes[class].Load()
	if pool == nil {
		pool = p.open(class)
	}
	var b *Buffer
	if t := pool.table.Load(); t != nil {
		salt := atomic.LoadUintptr(&t.salt)
		if i := spread(caller(salt)^salt) & t.mask; i < uintptr(len(t.slots)) {
			b, _ = t.slots[i].take()
		}
	}
	switch {
	case b == nil:
		b = pool.Get()
	case tracking:
		pool.track.taken(b)
	}
	if tracking {
		b.checkIdle()
	}
	b.idle = 0
	return b
}

// takeOversize is take for a size that is not kept.
func (p *Buffers) takeOversize(n int) *Buffer {
	if n < 0 {
		panic(fmt.Sprintf("nib/pool: buffer of %d bytes", n))
	}
	p.oversizeGets.Add(1)
	return &Buffer{mem: newBlock(n), from: p}
}

// open makes the pool of a class that is used for the first time.
func (p *Buffers) open(class int) *Pool[*Buffer] {
	var opts []Option
	if p.config.Limit > 0 {
		opts = append(opts, WithLimit(p.config.Limit))
	} else {
		opts = append(opts, withSlots()) // values in slots are not limited
	}
	if p.config.GCShrink {
		opts = append(opts, WithGCShrink())
	}
	create := func() *Buffer {
		b := &Buffer{mem: newBlock(sizeOf(class)), from: p, pool: p.classes[class].Load()}
		if tracking {
			invariants.Poison(b.mem.bytes())
		}
		return b
	}
	p.classes[class].CompareAndSwap(nil, New(create, opts...))
	return p.classes[class].Load()
}

// Put returns a buffer to the pool, whatever its B is: the memory that enters
// the pool is the buffer's own, and B becomes nil. Neither b nor any slice of
// its memory may be used afterwards. Put does not allocate, except for the
// pool's own slots.
//
// Put(nil) does nothing. A buffer that is already idle, or that did not come
// from this Buffers, is ignored and counted; builds with the invariants tag
// panic. Of two Puts of one buffer at the same time, only these builds, those
// with the race detector, and those for other processors than amd64 are sure to
// detect one.
func (p *Buffers) Put(b *Buffer) {
	if b == nil {
		return
	}
	if b.from != p || !b.markIdle() {
		p.refuse(b)
		return
	}
	if !b.atHome() {
		p.countOutgrown()
	}
	b.B = nil
	if tracking {
		b.put.Record()
		invariants.Poison(b.mem.bytes())
	}
	if b.pool == nil {
		p.dropOversize()
		return
	}
	if t := b.pool.table.Load(); t != nil {
		salt := atomic.LoadUintptr(&t.salt)
		i := spread(caller(salt)^salt) & t.mask
		if i < uintptr(len(t.slots)) && (uint32(i)+1 == b.slot ||
			(b.slot != 0 || t.slots[i].isFree()) && b.move(t, i)) {
			if tracking {
				b.pool.track.given(b)
			}
			t.slots[i].put(b)
			return
		}
	}
	b.pool.Put(b)
}

// move gives back the slot of b, and reserves slot i if it is free.
//
//go:noinline
func (b *Buffer) move(t *table[*Buffer], i uintptr) bool {
	if b.slot != 0 {
		t.slots[b.slot-1].release()
		b.slot = 0
	}
	if !t.slots[i].reserve() {
		return false
	}
	b.slot = uint32(i) + 1
	return true
}

// The rest of Put is executed rarely, and is not inlined: the fast path is
// short, and its locked instructions can be counted.

//go:noinline
func (p *Buffers) countOutgrown() { p.outgrown.Add(1) }

//go:noinline
func (p *Buffers) dropOversize() { p.oversizePuts.Add(1) }

// refuse counts a buffer that cannot be put, or panics.
//
//go:noinline
func (p *Buffers) refuse(b *Buffer) {
	if b.from != p {
		p.misuse("nib/pool: buffer put that did not come from these Buffers", "")
		return
	}
	p.misuse("nib/pool: buffer put twice; it was first put here:\n", b.put.String())
}

// misuse counts, or panics.
func (p *Buffers) misuse(what, where string) {
	if tracking {
		panic(what + where)
	}
	p.misused.Add(1)
}
