// SPDX-License-Identifier: Apache-2.0

// Package alloctest checks in a test that code does not allocate, exactly.
//
//	func TestHandleDoesNotAllocate(t *testing.T) {
//		request := newRequest()
//		alloctest.Zero(t, func() { handle(request) })
//	}
//
//	func TestParseAllocatesOnce(t *testing.T) {
//		mallocs, bytes := alloctest.Count(func() { parse(text) }, 1000)
//		if mallocs > 1 || bytes > 64 {
//			t.Errorf("got %v mallocs of %v bytes, want 1 of 64 at most", mallocs, bytes)
//		}
//	}
//
// [testing.AllocsPerRun] rounds down: a function that allocates in every second
// call shows as 0, and so does a function that allocates a buffer in every
// hundredth call. Here the allocations of many calls are counted one by one,
// and a failure names the stacks that they came from.
//
// # Meaning of a count of 0
//
// It holds for the calls that were made, in this build, on this version of Go:
// branches that f did not take were not measured, and the compiler may decide
// differently elsewhere. It holds for the steady state: the allocations of f's
// first calls (pools and caches that fill, buffers that grow) are not counted,
// and the garbage collector, which empties every [sync.Pool], does not run
// during a count.
//
// The runtime counts for the whole process. So a test that counts must not run
// in parallel with others, and allocations of goroutines that f leaves running
// are counted too. Occasional allocations of the runtime itself are excluded by
// measuring several times and taking the lowest count.
//
// # Instrumented builds
//
// With -race, -msan, -asan or -tags invariants, code allocates that otherwise
// does not: sync.Pool drops values at random and instrumented code keeps
// records. [Enabled] is false in such a build, and Zero logs that it has not
// counted.
package alloctest
