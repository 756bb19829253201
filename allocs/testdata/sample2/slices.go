// SPDX-License-Identifier: Apache-2.0

package sample2

import "slices"

//go:noinline
func grown(n int) []int {
	var s []int
	for i := range n {
		s = append(s, i) // why: append-from-empty
	}
	return s
}

//alloc:none
func F01AppendGrows() { intsOut = grown(n300) }

//go:noinline
func sized(n int) []int {
	s := make([]int, 0, n) // why: make-per-call (go1.24: make-variable)
	for i := range n {
		s = append(s, i)
	}
	return s
}

//alloc:none
func F02MakeThenAppend() { intsOut = sized(n300) }

//alloc:none
func F03BeyondStackArray() {
	s := make([]int, 0, 4)
	for i := range n20 {
		s = append(s, i) // why: append-from-empty
	}
	intOut = s[len(s)-1]
}

//alloc:none
func F04FullSlice() {
	intsOut = append(ints[:2:2], n5) // why: append-past-capacity
}

//alloc:none
func F05Clone() {
	intsOut = slices.Clone(ints) // why: slices-copy
}

//alloc:none
func F06Insert() {
	room = slices.Insert(room[:0], 0, ints...)
}

var room = make([]int, 0, 64)

//alloc:none
func F07Concat() {
	intsOut = slices.Concat(ints, ints) // why: slices-copy
}

//alloc:none
func F08ConstantTooLarge() {
	b := make([]byte, 64<<10+1) // why: too-large
	b[n5] = 1
	intOut = int(b[n20])
}

//alloc:none
func F09ConstantAtLimit() {
	b := make([]byte, 64<<10)
	b[n5] = 1
	intOut = int(b[n20])
}

//alloc:none
func F10LargeArray() {
	var b [256 << 10]byte // why: too-large
	b[n5] = 1
	intOut = int(b[n20])
}

//alloc:none
func F11LargeNew() {
	p := new([128 << 10]byte) // why: too-large
	p[n5] = 1
	intOut = int(p[n20])
}

//alloc:none
func F12LargeCopy() {
	w := huge
	w.data[n5] = n5
	intOut = w.second() + w.first()
}

//alloc:none
func F13Grid() {
	g := make([][]int, n5) // why: make-per-call (go1.24: make-variable)
	for i := range g {
		g[i] = make([]int, n5) // why: make-per-call
	}
	gridOut = g
}

//alloc:none
func F14LiteralLocal() {
	s := []string{small, upper}
	intOut = len(s[n5%2])
}

//alloc:none
func F15LiteralKept() {
	textsOut = []string{small, upper} // why: new-object
}

//alloc:none
func F16Variadic() { intOut = total(n5, n20, n300) }

//alloc:none
func F17ArrayOfPointers() {
	x, y := n5, n20
	a := [...]*int{&x, &y}
	intOut = *a[n5%2]
}

//alloc:none
func F18MakeToInterface() {
	b := make([]byte, 16) // why: make-per-call
	out.Write(b)
}

//alloc:none
func F19ReslicedKept() {
	intsOut = append(intsOut[:0], ints...)
}

//alloc:none
func F20DeleteCompact() {
	room = append(room[:0], ints...)
	room = slices.Delete(room, 0, 1)
	room = slices.Compact(room)
}

//alloc:none
func F21CopyIntoMake() {
	b := make([]byte, len(bytes9)) // why: make-per-call (go1.24: make-variable)
	copy(b, bytes9)
	bytesOut = b
}

//alloc:none
func F22AppendNilSpread() {
	bytesOut = append([]byte(nil), bytes9...) // why: append-from-empty
}

//alloc:none
func F23SortedCopy() {
	s := append([]int{}, ints...) // why: append-from-empty
	slices.Sort(s)
	intsOut = s
}

//alloc:none
func F24Chunk() {
	n := 0
	for c := range slices.Chunk(ints, 2) {
		n += len(c)
	}
	intOut = n
}

//alloc:none
func F25SmallMakeVariable() {
	s := make([]int32, n5) // why: make-variable
	s[0] = 1
	intOut = int(s[len(s)-1])
}

//alloc:none
func F26GrowKept() {
	intsOut = slices.Grow(intsOut[:0], n20)
}
