// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package callsite

import "runtime"

// Fast returns the result of PC(0), read from the frame of the function that
// calls it: if F calls Fast, the result is the place in F's caller that F
// returns to. F must not be inlined (mark it go:noinline), or the place is in
// the function into which F was inlined. Call it only if [HasFast].
//
// In contrast to PC, Fast does not skip wrappers that the compiler makes. The
// wrapper of a deferred call or a go statement has the line of the statement,
// which is the better answer. The wrapper of a method called through an
// interface has no line: see [IsShared], and use PC for such a call.
//
// Fast may be called concurrently and does not allocate.
//
//go:noescape
func Fast() uintptr

// HasFast reports whether the frames of this program are laid out as Fast
// expects, which was checked against the runtime before any package that
// imports this one was initialized.
func HasFast() bool { return hasFast }

var hasFast = frameIsAsExpected()

//go:noinline
func frameIsAsExpected() bool {
	var pcs [1]uintptr
	// 2 skips runtime.Callers and this function.
	return runtime.Callers(2, pcs[:]) == 1 && pcs[0] == Fast()
}
