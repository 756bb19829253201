// SPDX-License-Identifier: Apache-2.0

//go:build !nibfast && !race

package pool

// plainStores reports whether a store is enough where an atomic exchange is not
// needed for correct programs.
const plainStores = true

// release ends the use of a shard by giving it the state st, without lockBit.
// It needs no more than release order: what was done to the shard before must
// not be seen after. Each store of an amd64 processor has that, and a call of a
// function in assembly is a barrier to the compiler. The store of sync/atomic
// is an XCHG, which orders later loads, too, and takes 20 cycles of some
// processors; this call takes 4.
//
//go:noescape
func release(state *uint32, st uint32)
