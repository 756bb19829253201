// SPDX-License-Identifier: Apache-2.0

// Package publish stores words with release order: a goroutine that loads the
// word atomically and sees the new value sees all earlier stores. The stores of
// sync/atomic order later loads, too, and are locked instructions on amd64:
// they take 20 cycles of some processors and wait until all earlier stores have
// reached the cache.
//
// On amd64 each store has release order, so a plain one is enough, as long as
// the compiler keeps its place: a function in assembly, which takes 4 cycles.
// Builds with the race detector and builds for other processors use
// sync/atomic.
package publish
