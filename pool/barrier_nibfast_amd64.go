// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && !race

package pool

import "runtime"

// stopTheWorld is a barrier for systems without a cheaper one: a goroutine that
// is pinned is not stopped before it is unpinned.
func stopTheWorld() { runtime.Stack(nil, true) }
