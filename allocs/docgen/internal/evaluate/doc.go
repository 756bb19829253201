// SPDX-License-Identifier: Apache-2.0

// Package evaluate measures how accurate allocs is on code that was not written
// with it. It runs the benchmarks of other projects under the profile that go
// test itself writes, counts for each line the allocations of every operation,
// and compares them with the report of allocs on the same code.
//
// The counting shares nothing with internal/runs: other processes, another
// profile reader, stacks that are not cut at 32 frames. A fault in either of
// them shows as a difference.
package evaluate
