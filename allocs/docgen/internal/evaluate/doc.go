// SPDX-License-Identifier: Apache-2.0

// Package evaluate measures how accurate allocs is on code that was written
// without it. It runs the benchmarks of other projects under the profile that
// go test itself writes, counts for each line what every operation allocates,
// and compares that with what allocs reports of the same code.
//
// The counting shares nothing with internal/runs: other processes, another
// profile reader, stacks that are not cut at 32 frames. A fault of one of them
// shows as a difference.
package evaluate
