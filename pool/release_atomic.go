// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package pool

import "sync/atomic"

// plainStores reports whether a store is enough where an atomic exchange is not
// needed for correct programs.
const plainStores = false

// release ends the use of a shard by giving it the state st, without lockBit.
func release(state *uint32, st uint32) { atomic.StoreUint32(state, st) }
