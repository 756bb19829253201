// SPDX-License-Identifier: Apache-2.0

// Package pool keeps values for reuse: typed, without boxes, and until they are
// asked for.
//
//	var frames = pool.New(
//		func() []byte { return make([]byte, 0, 1500) },
//		pool.WithLimit(1024),
//	)
//
//	func forward(dst io.Writer, payload []byte) error {
//		b := append(frames.Get(), payload...)
//		_, err := dst.Write(b)
//		frames.Put(b[:0])
//		return err
//	}
//
// # Why not sync.Pool
//
// A [sync.Pool] holds values as any, so whatever is not a pointer is boxed: to
// put a slice allocates its header (staticcheck reports it as SA6002). A second
// sync.Pool for the boxes mends that, and each call pays twice. The garbage
// collector empties a sync.Pool, so that after a collection all is made anew,
// and a Get may miss what another processor has put; the documentation allows
// it to, and under the race detector it does so at random.
//
// A slice of idle values under a mutex does not forget anything, but all
// processors wait for each other, what is taken stays reachable from its slot
// unless that is cleared, nothing bounds it, and if the constructor runs with the
// lock held, one that uses the pool again waits forever.
//
// # Which one to use
//
//   - [Pool] for values of one type: pointers, slices, structs, interfaces. They
//     come back as they were put.
//   - [ErasablePool] for values that have to be made ready before someone else
//     may have them, or that can turn out to be broken. They are erased when they
//     are put.
//   - [Buffers] for bytes of different sizes, in classes of size.
//
// sync.Pool remains the better choice for values that are large, seldom needed,
// and cheap to make: it gives them up by itself. [WithGCShrink] does that here,
// [Pool.Trim] at a time of your choice, and [WithLimit] keeps too many from
// piling up. Without any of these a pool stays as large as it was at its peak.
//
// # What is certain
//
// A Get finds a value if one was put before (in the sense of the Go memory
// model) and has not been taken since, on whichever processor it lies. Only a
// Get that runs at the same time as other calls may make a new one where it
// could have found one. Values are given out in no particular order, mostly
// the last first.
//
// A limit is exact: never are more values idle, and a Put below it is kept. Only
// while other calls run may one be dropped that would just have fitted.
//
// No lock is held while the constructor or Erase runs, so they may use the pool
// themselves, and if they panic nothing is lost but that value. The slot of a
// value that was taken is cleared: a pool does not keep alive what it has given
// out.
//
// # Who owns what
//
// A value belongs to the pool from the call of Put until a Get has given it out
// again. Whoever puts a value keeps no part of it, and puts it once. Builds with
// -tags invariants check this for all that has an identity (pointers, slices by
// the end of their array, maps, channels): a second Put, and a change of what an
// idle value refers to, panic with the stack of the first Put. Such a build
// copies the memory of each idle value, and is slow. It also takes it for a
// fault if the runtime itself changes an idle value, as may happen to a
// time.Timer.
//
// Pools are safe for any number of goroutines, and must not be copied: go vet
// reports it.
//
// # Cost
//
// Get and Put take two atomic exchanges each and nothing else that counts, for
// pointers less than a sync.Pool, and allocate nothing once the pool has been as
// full as it gets. This is how: idle values lie in shards, some for each
// processor. A goroutine uses the shard that the place of its stack in memory
// points to, so those that run at the same time mostly use different ones, and
// no thread has to be pinned. A shard works on a stack of some slots and keeps a
// second one, full, in reserve; with that pair a goroutine that alternates
// between a few Gets and a few Puts never needs anything else. Whole stacks, of
// up to 256 slots, move to and from a depot, which is locked: a small part of a
// lock for each call. This is the magazine layer of Jeff Bonwick and Jonathan
// Adams, "Magazines and Vmem: Extending the Slab Allocator to Many CPUs and
// Arbitrary Resources", USENIX 2001. A Get that finds its shard and the depot
// empty looks into all other shards, and takes half of what it finds: that, and
// a Put near a limit, takes some tens of nanoseconds on a few processors.
//
// A pool that is used takes 1 KiB for each processor, and at first 64 slots for
// each, fewer if the values are large; slots grow with the number of idle values.
// The shards are made at the first use, for as many processors as there are
// then. A change of GOMAXPROCS later costs speed at most.
//
// # The nibfast build
//
// With -tags nibfast on amd64 (but not with -race, which is to see the order of
// things) shards belong to processors, to which a goroutine is pinned while it
// uses one, by functions of the runtime that are asked for by go:linkname. Get
// and Put have no locked instruction then. A call that needs values of other
// processors stops all of them for a microsecond, on Linux with membarrier(2);
// elsewhere it stops the world. A pool in which that happens so often that it
// takes longer than it saves goes over to the locks of the default build.
package pool
