// SPDX-License-Identifier: Apache-2.0

//go:build nibfast && amd64 && !race && !linux

package pool

// barrier returns after each thread of this process that runs Go code has
// executed a memory barrier.
func barrier() { stopTheWorld() }
