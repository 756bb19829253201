// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && !race

package pool

// plainStores reports whether a store is enough where an atomic exchange is not
// needed for correct programs.
const plainStores = true

// release ends the use of a shard by giving it the state st, without lockBit.
// It needs no more than release order: what was done to the shard before must
// not be seen after. On amd64 each store has that, and the compiler keeps the
// order of memory operations around a store. The store of sync/atomic is an
// XCHG, which also orders later loads and takes a fifth of the whole Get.
func release(state *uint32, st uint32) {
	*state = st
}
