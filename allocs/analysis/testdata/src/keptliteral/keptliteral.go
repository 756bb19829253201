// SPDX-License-Identifier: Apache-2.0

package keptliteral

type t struct{ f func() int }

var kept func() int

func call(f func() int) int { return f() }

//alloc:none
func (x *t) hot(n int) {
	x.f = func() int { return n }  // want `the function literal is kept in x.f: it is an object with n on each call`
	kept = func() int { return n } // want `the function literal is kept in kept`
	kept = func() int { return 1 }
	call(func() int { return n })
	go func() { call(func() int { return n }) }() // want `is started as a goroutine`
}

//alloc:max=1
func returned(n int) func() int {
	return func() int { return n } // want `the function literal is returned`
}

func cold(n int) func() int {
	return func() int { return n }
}

//alloc:none
func local(n int) int {
	var x t
	x.f = func() int { return n } // x stays on the stack, and so does it
	var list [2]func() int
	list[0] = x.f
	list[1] = func() int { return n + 1 }
	return list[0]() + list[1]()
}
