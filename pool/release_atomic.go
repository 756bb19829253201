// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package pool

import "sync/atomic"

// release ends the use of a shard by giving it the state st, without lockBit.
func release(state *uint32, st uint32) { atomic.StoreUint32(state, st) }
