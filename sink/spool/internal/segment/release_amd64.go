// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast && !race

package segment

// release stores w in the first word of a record. Everything stored before is
// visible to a reader that sees w, and in the file if the process dies after
// it. Each store of an amd64 processor has that order, and a call of a function
// in assembly is a barrier to the compiler. The store of sync/atomic is an
// XCHG: it also waits until the whole record has left the store buffer, and
// that takes as long as fetching its cache lines.
//
//go:noescape
func release(state *uint64, w uint64)
