// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/internal/publish"
)

// A Buffer is a byte slice from a [Buffers], and the handle to return it. B may
// be used like any slice: appended to, resliced, or replaced. The Buffer keeps
// track of its own memory, so foreign memory never enters the pool, and no
// memory enters it twice.
//
// Appending beyond the capacity moves B to new memory, which costs an
// allocation each time and is counted. Grow and the Write methods move it to a
// larger buffer of the pool instead. A *Buffer is an io.Writer, io.StringWriter
// and io.ByteWriter.
//
// A Buffer is not safe for concurrent use, and must not be copied. The zero
// Buffer is usable, but belongs to no pool.
type Buffer struct {
	B []byte

	_    noCopy // not at the end, where it would take memory
	mem  block  // the memory of the Buffer itself
	from *Buffers
	pool *Pool[*Buffer]   // the pool for its size; nil if the size is not kept
	put  invariants.Stack // stack of the Put, in builds with tracking
	// idle is 1 in the pool. The caller of Get owns the Buffer and clears it
	// without atomics.
	idle uint32
	slot uint32 // number of the slot of pool that is reserved for it, plus one; or 0
}

// A noCopy field makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// classOf returns the smallest class whose buffers hold n bytes: the length in
// bits of n-1 gives the power of two, and its second highest bit selects one of
// the two classes per power.
func classOf(n int) int {
	m := uint(max(n, minSize) - 1)
	k := bits.Len(m)
	return 2*k - 13 + int(m>>(k-2)&1)
}

// markIdle marks b as idle, and reports whether it was not. An exchange would
// detect each second Put, even one at the same time, which is a data race of
// the program; but it takes as long as a whole Get, so it is left to builds
// that look for errors.
func (b *Buffer) markIdle() bool {
	if publish.Plain && !tracking {
		was := b.idle
		b.idle = 1
		return was == 0
	}
	return atomic.SwapUint32(&b.idle, 1) == 0
}

// atHome reports whether B is still in the buffer's own memory. However it was
// sliced, its capacity then ends where that memory ends; only a slice with a
// smaller capacity (b[i:j:k]) counts as foreign.
func (b *Buffer) atHome() bool {
	n := cap(b.B)
	return n == 0 || &b.B[:n][n-1] == b.mem.last()
}

// Grow makes room for n more bytes after B, without an allocation in the steady
// state: if its own memory is too small, the Buffer takes larger memory from
// the pool, copies B there, and returns its own memory. So earlier slices of B
// must not be used afterwards. Above the largest size that is kept, Grow
// allocates half as much again, or more if n requires it. It panics if n is
// negative.
func (b *Buffer) Grow(n int) {
	if n < 0 {
		panic(fmt.Sprintf("nib/pool: Grow by %d bytes", n))
	}
	if cap(b.B)-len(b.B) < n {
		b.grow(n)
	}
}

func (b *Buffer) grow(n int) {
	p := b.from
	if p == nil {
		b.B = slices.Grow(b.B, n)
		return
	}
	if atomic.LoadUint32(&b.idle) != 0 {
		// The memory may have another owner by now; the written bytes are
		// discarded.
		p.misuse("nib/pool: buffer used after Put; it was put here:\n", b.put.String())
		b.B = slices.Grow(b.B, n)
		return
	}
	if !b.atHome() {
		p.outgrown.Add(1)
	}
	need := len(b.B) + n
	if need < 0 {
		panic(fmt.Sprintf("nib/pool: buffer of %d bytes cannot grow by %d", len(b.B), n))
	}
	if need > b.mem.size {
		p.enlarge(b, need)
		return
	}
	mem := b.mem.bytes()
	b.B = mem[:copy(mem, b.B)]
}

// enlarge replaces the memory of b with memory for need bytes.
func (p *Buffers) enlarge(b *Buffer, need int) {
	if classOf(need) >= p.kept() {
		need = max(need, b.mem.size+b.mem.size/2)
	}
	p.grown.Add(1)
	other := p.take(need)
	used := copy(other.mem.bytes(), b.B)
	b.mem, other.mem = other.mem, b.mem
	b.pool, other.pool = other.pool, b.pool
	b.slot, other.slot = other.slot, b.slot
	b.B = b.mem.bytes()[:used]
	p.Put(other)
}

// Write appends p to B, growing it as Grow does, so p must not overlap the
// memory of b itself. The error is always nil.
func (b *Buffer) Write(p []byte) (int, error) {
	b.Grow(len(p))
	b.B = append(b.B, p...)
	return len(p), nil
}

// WriteString appends s to B, growing it as Grow does. The error is always nil.
func (b *Buffer) WriteString(s string) (int, error) {
	b.Grow(len(s))
	b.B = append(b.B, s...)
	return len(s), nil
}

// WriteByte appends c to B, growing it as Grow does. The error is always nil.
func (b *Buffer) WriteByte(c byte) error {
	b.Grow(1)
	b.B = append(b.B, c)
	return nil
}

// checkIdle panics if the memory of a buffer that was idle has been written to.
func (b *Buffer) checkIdle() {
	var want [1]byte
	invariants.Poison(want[:])
	for i, c := range b.mem.bytes() {
		if c != want[0] {
			panic(fmt.Sprintf(
				"nib/pool: buffer used after Put: byte %d of its memory is %#02x; it was put "+
					"here:\n%s", i, c, b.put.String()))
		}
	}
}
