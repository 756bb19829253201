// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package segment

import "sync/atomic"

// release stores w in the first word of a record. Everything stored before is
// visible to a reader that sees w.
func release(state *uint64, w uint64) { atomic.StoreUint64(state, w) }
