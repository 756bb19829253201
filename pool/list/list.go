// SPDX-License-Identifier: Apache-2.0

package list

import "github.com/nib-log/nib/internal/invariants"

// A List is a doubly linked list of values of type T. The zero value is an
// empty list that is ready to use. It must not be copied after its first use,
// and is not safe for concurrent use.
//
// All methods take constant time except Init, Trim and those that insert a
// list. Insertions allocate, a chunk of nodes, only when the list is larger
// than ever since the last Trim. Other methods do not allocate, but see Trim.
type List[T any] struct {
	_ noCopy
	// root is the sentinel of the ring of nodes: before the first element and
	// after the last one. Its value is not used. Its list is the List itself,
	// which distinguishes a List in use from a zero one and from a copy.
	root node[T]
	len  int
	free *node[T] // nodes that were used before, the last one first
	// chunks are all nodes but the sentinel. The last nodes of the last one,
	// unused of them, are neither in the ring nor free yet.
	chunks [][]node[T]
	unused int
}

// noCopy makes go vet report copies of a struct that contains it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Init removes all elements and returns l. The list keeps its nodes; see
// [List.Trim]. It takes time proportional to the number of elements, because
// each of them becomes stale and its value is cleared.
func (l *List[T]) Init() *List[T] {
	if l.root.list != l {
		*l = List[T]{} // a copy has nodes of another list
		return l
	}
	var zero T
	for n := l.root.next; n != &l.root; n = n.next {
		n.use++
		n.value = zero
	}
	l.root.prev.next = l.free // changes nothing in an empty list
	l.free = l.root.next
	l.root.use++
	l.reset()
	return l
}

// reset makes the ring empty.
func (l *List[T]) reset() {
	l.root.next, l.root.prev, l.root.list = &l.root, &l.root, l
	l.len = 0
}

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.len }

// Front returns the first element, or the zero Element if the list is empty.
func (l *List[T]) Front() Element[T] {
	if l.len == 0 {
		return Element[T]{}
	}
	return l.root.next.element()
}

// Back returns the last element, or the zero Element if the list is empty.
func (l *List[T]) Back() Element[T] {
	if l.len == 0 {
		return Element[T]{}
	}
	return l.root.prev.element()
}

// PushFront inserts v before all elements and returns its element.
func (l *List[T]) PushFront(v T) Element[T] { return l.insert(v, &l.root) }

// PushBack inserts v after all elements and returns its element.
func (l *List[T]) PushBack(v T) Element[T] { return l.insert(v, l.root.prev) }

// InsertBefore inserts v before mark and returns its element. If mark is not in
// this list, it does nothing and returns the zero Element.
func (l *List[T]) InsertBefore(v T, mark Element[T]) Element[T] {
	if !mark.n.in(l, mark.use) {
		return Element[T]{}
	}
	return l.insert(v, mark.n.prev)
}

// InsertAfter inserts v after mark and returns its element. If mark is not in
// this list, it does nothing and returns the zero Element.
func (l *List[T]) InsertAfter(v T, mark Element[T]) Element[T] {
	if !mark.n.in(l, mark.use) {
		return Element[T]{}
	}
	return l.insert(v, mark.n)
}

// Remove removes e and returns its value. If e is in another list, it returns
// the value but does not change that list. If e is not valid, it does nothing
// and returns the zero value.
func (l *List[T]) Remove(e Element[T]) T {
	if !e.n.in(l, e.use) {
		return e.Value()
	}
	n := e.n
	prev, next, free := n.prev, n.next, l.free
	prev.next, next.prev = next, prev
	n.next, l.free = free, n
	n.use++
	l.len--
	var zero T
	v := n.value
	n.value = zero
	return v
}

// MoveToFront moves e before all other elements. If e is not in this list, it
// does nothing.
func (l *List[T]) MoveToFront(e Element[T]) {
	if e.n.in(l, e.use) {
		e.n.move(&l.root)
	}
}

// MoveToBack moves e after all other elements. If e is not in this list, it
// does nothing.
func (l *List[T]) MoveToBack(e Element[T]) {
	if e.n.in(l, e.use) {
		e.n.move(l.root.prev)
	}
}

// MoveBefore moves e before mark. If one of them is not in this list, or they
// are the same, it does nothing.
func (l *List[T]) MoveBefore(e, mark Element[T]) {
	if e.n.in(l, e.use) && mark.n.in(l, mark.use) {
		e.n.move(mark.n.prev)
	}
}

// MoveAfter moves e after mark. If one of them is not in this list, or they are
// the same, it does nothing.
func (l *List[T]) MoveAfter(e, mark Element[T]) {
	if e.n.in(l, e.use) && mark.n.in(l, mark.use) {
		e.n.move(mark.n)
	}
}

// PushBackList inserts the values of other after all elements, in their order.
// The lists may be the same. other must not be nil, and is not changed
// otherwise.
func (l *List[T]) PushBackList(other *List[T]) {
	// The number is read first: other may be l, and grow.
	for i, n := other.len, other.root.next; i > 0; i, n = i-1, n.next {
		l.insert(n.value, l.root.prev)
	}
}

// PushFrontList inserts the values of other before all elements, in their
// order. The lists may be the same. other must not be nil, and is not changed
// otherwise.
func (l *List[T]) PushFrontList(other *List[T]) {
	for i, n := other.len, other.root.prev; i > 0; i, n = i-1, n.prev {
		l.insert(n.value, &l.root)
	}
}

// insert puts v after the node at and returns its element.
func (l *List[T]) insert(v T, at *node[T]) Element[T] {
	l.check()
	n := l.free
	if n == nil {
		n = l.fresh()
		if at == nil {
			at = &l.root // a zero List does not point to its root yet
		}
	}
	free, next := n.next, at.next // a fresh node has no next: none is free
	l.free = free
	n.prev, n.next = at, next
	at.next, next.prev = n, n
	n.value = v
	l.len++
	return n.element()
}

// check panics, in builds that check for misuse, if l is a copy of a list in
// use: continuing would break the rings of both.
func (l *List[T]) check() {
	if invariants.Enabled && l.root.list != nil && l.root.list != l {
		panic("list: a List was copied after its first use")
	}
}
