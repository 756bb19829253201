// SPDX-License-Identifier: Apache-2.0

package list

// An Element refers to one element of a [List], from its insertion to its
// removal. After that it is stale: Valid returns false, other methods return
// zero values, and the list ignores it. The zero Element belongs to no list;
// methods return it where container/list returns nil.
//
// Two Elements are equal if they refer to the same element. All methods take
// constant time and do not allocate.
type Element[T any] struct {
	n *node[T]
	// use is the count of the node for which this Element was made.
	use uint64
}

// Valid reports whether the element is in a list. In loops it replaces the
// comparison with nil:
//
//	for e := l.Front(); e.Valid(); e = e.Next() {
//		// do something with e.Value()
//	}
func (e Element[T]) Valid() bool { return e.n != nil && e.n.use == e.use }

// Value returns the value of the element, or the zero value if the element is
// not valid.
func (e Element[T]) Value() (v T) {
	if e.Valid() {
		v = e.n.value
	}
	return v
}

// SetValue replaces the value of the element. It does nothing if the element is
// not valid.
func (e Element[T]) SetValue(v T) {
	if e.Valid() {
		e.n.value = v
	}
}

// Next returns the element after this one, and the zero Element if this one is
// the last or not valid.
func (e Element[T]) Next() Element[T] {
	if e.Valid() && e.n.next != &e.n.list.root {
		return e.n.next.element()
	}
	return Element[T]{}
}

// Prev returns the element before this one, and the zero Element if this one is
// the first or not valid.
func (e Element[T]) Prev() Element[T] {
	if e.Valid() && e.n.prev != &e.n.list.root {
		return e.n.prev.element()
	}
	return Element[T]{}
}
