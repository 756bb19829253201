// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"reflect"
	"unsafe"
)

// shardSize is the size of a shard's fields: they need not be padded between.
const shardSize = 2*4 + 2*unsafe.Sizeof([]byte(nil)) + 2*8

// slotSizeOfPointer is the size of the fields of a slot for pointers.
const slotSizeOfPointer = 8 + unsafe.Sizeof(uintptr(0))

// slotSize returns the size of a T, but never 0, because it is a divisor.
func slotSize[T any]() int { return max(1, int(unsafe.Sizeof(*new(T)))) }

// stackPage distinguishes goroutines by the addresses of their stacks. The
// address is only a number here, never dereferenced. The calls of one goroutine
// differ mostly by less than 2 KiB, the least size of a stack.
func stackPage() uintptr {
	var here byte
	return uintptr(unsafe.Pointer(&here)) >> 11
}

// A block is a slice whose len is its cap, in two words: so a Buffer fits a
// cache line.
type block struct {
	first *byte
	size  int
}

func newBlock(n int) block { return block{unsafe.SliceData(make([]byte, n)), n} }

func (m block) bytes() []byte { return unsafe.Slice(m.first, m.size) }

// last returns a pointer to the last byte of m, which is not empty.
func (m block) last() *byte { return (*byte)(unsafe.Add(unsafe.Pointer(m.first), m.size-1)) }

// memory returns the n bytes that v, a pointer or a slice, refers to: n must be
// the size of the pointee, or of the slice up to its capacity, so that all of
// them belong to one object. The invariants build compares them.
func memory(v reflect.Value, n uintptr) []byte {
	return unsafe.Slice((*byte)(v.UnsafePointer()), n)
}
