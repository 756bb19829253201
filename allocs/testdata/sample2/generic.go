// SPDX-License-Identifier: Apache-2.0

package sample2

import "cmp"

func mapped[T, U any](s []T, f func(T) U) []U {
	r := make([]U, 0, len(s)) // why: make-per-call (go1.24: make-variable)
	for _, v := range s {
		r = append(r, f(v))
	}
	return r
}

//alloc:none
func H01Mapped() {
	intsOut = mapped(parts, func(s string) int { return len(s) })
}

func largest[T cmp.Ordered](s []T) T {
	m := s[0]
	for _, v := range s {
		m = max(m, v)
	}
	return m
}

//alloc:none
func H02Largest() {
	intOut = largest(ints)
	textOut = largest(parts)
}

type encoder interface{ encode(b []byte) int }

type short struct{ n int }

func (s *short) encode(b []byte) int { return len(b) + s.n }

//go:noinline
func encodeAll[T encoder](v T) int {
	var b [32]byte // why: stack-array-to-interface
	return v.encode(b[:])
}

var shortItem = &short{1}

//alloc:none
func H03MethodThroughDictionary() { intOut = encodeAll(shortItem) }

//go:noinline
func boxed[T any](v T) { anyOut = v } // why: boxed-argument

//alloc:none
func H04GenericBox() {
	boxed(n1000)
	boxed(small)
}

type list[T any] struct{ head *cell[T] }

type cell[T any] struct {
	v    T
	next *cell[T]
}

//go:noinline
func (l *list[T]) push(v T) {
	l.head = &cell[T]{v, l.head} // why: new-object
}

var intList list[int]

//alloc:none
func H05GenericNode() {
	intList.head = nil
	intList.push(n5)
}

//go:noinline
func makeAdder[T int | float64](x T) func(T) T {
	return func(y T) T { return x + y } // why: closure-kept
}

//alloc:none
func H06GenericClosure() { intOut = makeAdder(n5)(1) }

//go:noinline
func pointerTo[T any](v T) *T { return &v } // why: moved-variable

//alloc:none
func H07PointerTo() { ptrOut = pointerTo(n5) }

func filter[S ~[]E, E any](s S, keep func(E) bool) S {
	r := s[:0]
	for _, v := range s {
		if keep(v) {
			r = append(r, v)
		}
	}
	return r
}

//alloc:none
func H08FilterInPlace() {
	room = append(room[:0], ints...)
	limit := n5
	room = filter(room, func(x int) bool { return x < limit })
}

type set[K comparable] map[K]struct{}

func (s set[K]) add(k K) { s[k] = struct{}{} } // why: map-from-empty

//alloc:none
func H09GenericSetFresh() {
	s := set[string]{}
	for _, n := range parts {
		s.add(n)
	}
	intOut = len(s)
}

//alloc:none
func H10GenericSetKept() {
	for range 20 {
		keptSet = set[int]{} // why: map-per-call
	}
	for i := range 20 {
		keptSet.add(i)
	}
}

var keptSet set[int]

type stringer interface{ String() string }

//go:noinline
func join[T stringer](vs ...T) string {
	s := ""
	for _, v := range vs {
		s += v.String() // why: concat
	}
	return s
}

//alloc:none
func H11GenericVariadic() { textOut = join(pair{small, 1}, pair{upper, 2}) }

type number interface{ ~int | ~int64 }

//go:noinline
func sum[T number](vs []T) (t T) {
	for _, v := range vs {
		t += v
	}
	return t
}

//alloc:none
func H12GenericSum() { intOut = sum(ints) }
