// SPDX-License-Identifier: Apache-2.0

package list

import "iter"

// All returns an iterator over the elements and their values, from the first to
// the last:
//
//	for e, v := range l.All() {
//		if v.expired() {
//			l.Remove(e)
//		}
//	}
//
// The body of the loop may change the list in any way. What follows the current
// element when the body ends comes next: elements that were inserted there are
// visited, those that were removed are not. If the body has removed the current
// element, the loop goes on with the one that followed it when the body began.
// If that was removed, too, it goes on with what now follows the element that
// was before both. It ends if there is none of them, and after a call of Init.
//
// To empty a list to which the body adds elements, loop while Len is positive:
// what is added after the last element was removed is not visited here.
//
// It allocates nothing in a range loop.
func (l *List[T]) All() iter.Seq2[Element[T], T] {
	return func(yield func(Element[T], T) bool) {
		for e := l.Front(); e.Valid(); {
			before, behind := e.n.prev.element(), e.n.next.element()
			if !yield(e, e.n.value) {
				return
			}
			switch {
			case e.Valid():
				e = e.Next()
			case behind.n == &l.root:
				return
			case behind.Valid():
				e = behind
			default: // before is an element, or the sentinel if Init was not called
				e = before.Next()
			}
		}
	}
}

// Backward returns an iterator over the elements and their values, from the
// last to the first. What [List.All] says holds in the other direction.
func (l *List[T]) Backward() iter.Seq2[Element[T], T] {
	return func(yield func(Element[T], T) bool) {
		for e := l.Back(); e.Valid(); {
			before, behind := e.n.prev.element(), e.n.next.element()
			if !yield(e, e.n.value) {
				return
			}
			switch {
			case e.Valid():
				e = e.Prev()
			case before.n == &l.root:
				return
			case before.Valid():
				e = before
			default:
				e = behind.Prev()
			}
		}
	}
}

// Values returns an iterator over the values, from the first to the last. What
// [List.All] says holds here, too.
func (l *List[T]) Values() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range l.All() {
			if !yield(v) {
				return
			}
		}
	}
}
