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
// The loop body may change the list in any way. The iteration continues with
// the element that follows the current one when the body ends: elements
// inserted there are visited, removed ones are not. If the body has removed the
// current element, the loop continues with its successor of when the body
// began. If the successor was removed, too, it continues with the element that
// now follows the predecessor of both. It ends if there is none of them, and
// after a call of Init.
//
// To drain a list to which the body adds elements, loop while Len is positive:
// elements that are added after the last one was removed are not visited.
//
// It does not allocate in a range loop.
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
// last to the first. The rules of [List.All] apply in the other direction.
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
