// SPDX-License-Identifier: Apache-2.0

package sample2

import (
	"iter"
	"maps"
	"slices"
	"sort"
)

//alloc:none
func D01MethodValueLocal() {
	f := item.get
	intOut = call(f)
}

//alloc:none
func D02MethodValueKept() {
	funcOut = item.get // why: method-value-kept
}

//alloc:none
func D03MethodExpression() {
	f := (*node).get
	intOut = f(item)
}

//alloc:none
func D04DeferClosure() {
	x := n5
	defer func() { intOut = x }()
	x++
}

//alloc:none
func D05DeferInLoop() {
	for i := range 3 {
		defer func() { intOut += i }() // why: closure-kept
	}
}

//alloc:none
func D06DeferMethod() {
	mu.Lock()
	defer mu.Unlock()
	intOut++
}

var done = make(chan int, 1)

func signal() { done <- 1 }

//alloc:none
func D07GoClosure() {
	x := n1000
	go func() { done <- x }() // why: go-statement
	intOut = <-done
}

//go:noinline
func send(c chan int, n int) { c <- n }

//alloc:none
func D08GoArguments() {
	go send(done, n1000) // why: go-statement
	intOut = <-done
}

//alloc:none
func D09GoPlain() {
	go signal()
	intOut = <-done
}

//alloc:none
func D10GoMethod() {
	go item.add(1) // why: go-statement
}

//go:noinline
func counter() func() int {
	n := 0                              // why: moved-variable
	return func() int { n++; return n } // why: closure-kept
}

//alloc:none
func D11ReturnedClosure() {
	intOut = counter()()
}

//alloc:none
func D12CapturedByReference() {
	x := n5                           // why: moved-variable
	funcOut = func() int { return x } // why: closure-kept
	x++
}

//alloc:none
func D13RecursiveClosure() {
	var f func(n int) int
	f = func(n int) int {
		if n < 2 {
			return n
		}
		return f(n-1) + f(n-2)
	}
	intOut = f(n5)
}

func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) { // why: closure-kept
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

//alloc:none
func D14RangeOverFunc() {
	n := 0
	for i := range upTo(n5) {
		n += i
	}
	intOut = n
}

//go:noinline
func slowUpTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) { // why: closure-kept
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

//alloc:none
func D15RangeOverOpaqueFunc() {
	n := 0                        // why: moved-variable
	for i := range slowUpTo(n5) { // why: closure-kept
		n += i
	}
	intOut = n
}

//alloc:none
func D16Pull() {
	next, stop := iter.Pull(upTo(n5)) // why: iter-pull
	defer stop()
	intOut, _ = next()
}

//alloc:none
func D17CollectKeys() {
	textsOut = slices.Collect(maps.Keys(names)) // why: slices-copy
}

//alloc:none
func D18SortedKeys() {
	textsOut = slices.Sorted(maps.Keys(names)) // why: slices-copy
}

//alloc:none
func D19SortFunc() {
	slices.SortFunc(ints, func(a, b int) int { return a - b })
}

//alloc:none
func D20SortSlice() {
	sort.Slice(ints, func(i, j int) bool { return ints[i] < ints[j] }) // why: sort-slice
}

type byValue []int

func (b byValue) Len() int           { return len(b) }
func (b byValue) Less(i, j int) bool { return b[i] < b[j] }
func (b byValue) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

//alloc:none
func D21SortInterface() {
	sort.Sort(byValue(ints)) // why: boxed-argument
}

//alloc:none
func D22SearchFunc() {
	want := n5
	i, _ := slices.BinarySearchFunc(ints, want, func(a, b int) int { return a - b + want - want })
	intOut = i
}

//alloc:none
func D23ClosureInStruct() {
	x := n1000
	h := handler{f: func() int { return x }}
	intOut = h.f()
}

type handler struct{ f func() int }

//alloc:none
func D24ClosureInKeptStruct() {
	x := n1000
	handlerOut = &handler{f: func() int { return x }} // why: new-object
}

var handlerOut *handler

//alloc:none
func D25RangeKeys() {
	n := 0
	for k := range maps.Keys(names) {
		n += len(k)
	}
	intOut = n
}
