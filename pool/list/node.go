// SPDX-License-Identifier: Apache-2.0

package list

import (
	"reflect"
	"slices"
)

// maxChunk is the size in bytes at which chunks stop growing. Larger ones save
// next to nothing: at 200 nodes the allocation is negligible beside the work of
// filling them. But one element, or one stale Element, keeps a whole chunk.
const maxChunk = 8 << 10

// A node holds one element, or waits for the next one.
//
// Nodes point to each other. Indexes into a slice of nodes would make nodes
// smaller and hide them from the garbage collector, but each step would have to
// find the slice first: measured, MoveToFront takes 1.7 times as long, and with
// one more step to avoid copying all nodes when the slice grows, 2.5 times.
type node[T any] struct {
	// next and prev make the ring of a list: the sentinel, the first element
	// to the last one, the sentinel. In a free node next is the next free one,
	// and prev means nothing.
	next, prev *node[T]
	// list is the owner of the node. It is set when the node is created and
	// cleared when the list drops it.
	list *List[T]
	// use counts the elements that were removed from this node, and in the
	// sentinel the calls of Init.
	use   uint64
	value T
}

// element returns the Element for the current use of the node.
func (n *node[T]) element() Element[T] { return Element[T]{n, n.use} }

// in reports whether the node, which may be nil, holds an element of l with
// this count. Each method of a list begins with this check; as a method of the
// List or the Element it would make MoveToFront a third slower.
func (n *node[T]) in(l *List[T], use uint64) bool {
	return n != nil && n.use == use && n.list == l
}

// move puts the node after another one of its ring. If it is there, or is the
// same, nothing changes.
func (n *node[T]) move(at *node[T]) {
	// All loads come first, so that the stores share their write barriers.
	prev, next, behind := n.prev, n.next, at.next
	if n == at || prev == at {
		return
	}
	prev.next, next.prev = next, prev
	n.prev, n.next = at, behind
	at.next, behind.prev = n, n
}

// fresh returns a node that was not used before. It is called when no free one
// is left, so it is where a zero List is initialized. It allocates a chunk when
// the last one is used up.
func (l *List[T]) fresh() *node[T] {
	if l.root.list != l {
		l.reset()
	}
	if l.unused == 0 {
		l.grow()
	}
	last := l.chunks[len(l.chunks)-1]
	n := &last[len(last)-l.unused]
	l.unused--
	n.list = l
	return n
}

// grow adds a chunk, twice as large as the last one.
func (l *List[T]) grow() {
	size := 1
	if last := len(l.chunks) - 1; last >= 0 {
		size = 2 * len(l.chunks[last])
	}
	limit := maxChunk / int(reflect.TypeFor[node[T]]().Size())
	// Grow rounds up to the size class of the allocator.
	chunk := slices.Grow([]node[T](nil), max(1, min(size, limit)))
	chunk = chunk[:cap(chunk)]
	l.chunks = append(l.chunks, chunk)
	l.unused = len(chunk)
}

// Trim frees memory that the current elements do not need: the chunks of nodes
// without an element. Elements are not moved, so a single element keeps its
// chunk.
//
// It takes time proportional to the largest number of elements since the last
// Trim, and allocates at most once.
func (l *List[T]) Trim() {
	l.check()
	// A node in the ring has a prev, and an unused node has none, so after this
	// loop prev shows which nodes hold an element.
	for n := l.free; n != nil; n = n.next {
		n.prev = nil
	}
	l.free, l.unused = nil, 0
	l.chunks = slices.DeleteFunc(l.chunks, giveUp)
	if len(l.chunks) <= cap(l.chunks)/2 {
		l.chunks = append([][]node[T](nil), l.chunks...)
	}
	// From the back, so that pushes take nodes in the order of their addresses.
	for _, chunk := range slices.Backward(l.chunks) {
		l.reclaim(chunk)
	}
}

// giveUp removes a chunk from the list if no element is in it, and reports
// whether it did. The counts remain: stale Elements may still point here.
func giveUp[T any](chunk []node[T]) bool {
	for i := range chunk {
		if chunk[i].prev != nil {
			return false
		}
	}
	for i := range chunk {
		chunk[i].next, chunk[i].list = nil, nil
	}
	return true
}

// reclaim adds the nodes of a chunk that hold no element to the free ones.
func (l *List[T]) reclaim(chunk []node[T]) {
	for i := range chunk {
		n := &chunk[len(chunk)-1-i]
		if n.prev == nil {
			n.list, n.next, l.free = l, l.free, n
		}
	}
}
