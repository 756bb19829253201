// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package callsite

import "runtime"

// HasFast reports whether this processor has [Fast].
const HasFast = true

// Fast returns the result of PC(0), read from the frame of the function that
// calls it: if F calls Fast, the result is the place in F's caller that F
// returns to. F must not be inlined (mark it go:noinline), or the place is in
// the function into which F was inlined.
//
// It is 0 when the check at program start found that the frames of this
// toolchain are laid out differently; fall back to [PC] then.
//
// In contrast to PC, Fast does not skip wrappers that the compiler makes. The
// wrapper of a deferred call or a go statement has the line of the statement,
// which is the better answer. The wrapper of a method called through an
// interface has no line: see [IsWrapper], and use PC for such a call.
//
// Fast may be called concurrently and does not allocate.
//
//go:noescape
func Fast() uintptr

// fastOK is read by the assembly. It is set before any other package that
// imports this one runs, and never changed again.
var fastOK bool

// The check switches Fast on, compares one answer with the runtime's and
// switches it off again unless they are equal.
func init() {
	fastOK = true
	fastOK = frameIsAsExpected()
}

//go:noinline
func frameIsAsExpected() bool {
	var pcs [1]uintptr
	// 2 skips runtime.Callers and this function.
	return runtime.Callers(2, pcs[:]) == 1 && pcs[0] == Fast()
}
