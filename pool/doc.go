// SPDX-License-Identifier: Apache-2.0

// Package pool provides typed pools of reusable values. Values are stored
// without boxing, and are kept until they are needed.
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
// A [sync.Pool] stores values as any, so a value that is not a pointer is
// boxed: putting a slice allocates its header (staticcheck SA6002). A second
// sync.Pool for the boxes avoids that, but doubles the cost of each call. The
// garbage collector empties a sync.Pool, so that all values are created again
// after a collection, and a Get may miss a value that another processor has
// put; the documentation allows that, and under the race detector it happens at
// random.
//
// A slice of idle values under a mutex never loses a value, but all processors
// contend for it, a taken value stays reachable from its slot unless that is
// cleared, its size is unbounded, and a constructor that runs with the lock
// held and uses the pool again deadlocks.
//
// # Choosing a pool
//
//   - [Pool] for values of one type: pointers, slices, structs, interfaces.
//     They are returned as they were put.
//   - [ErasablePool] for values that must be reset before they are reused, or
//     that can turn out to be broken. They are erased when they are put.
//   - [Buffers] for byte slices of different sizes, in size classes.
//
// sync.Pool is the better choice for values that are large, seldom needed, and
// cheap to create: it frees them by itself. Here [WithGCShrink] does that,
// [Pool.Trim] does it on demand, and [WithLimit] bounds the number of idle
// values. Without any of these a pool stays at its peak size.
//
// # Guarantees
//
// A Get finds a value if one was put before (in the sense of the Go memory
// model) and has not been taken since, on any processor. Only a Get that runs
// concurrently with other calls may create a value although one is idle. Values
// are returned in no particular order, mostly last in, first out.
//
// A limit is exact: there are never more idle values, and a Put below the limit
// keeps its value. Only while other calls run may a Put drop a value that would
// just have fitted.
//
// No lock is held while the constructor or Erase runs, so they may use the pool
// themselves, and if they panic only that value is lost. The slot of a taken
// value is cleared, so a pool does not keep alive the values that it has
// returned.
//
// # Ownership
//
// A value belongs to the pool from the call of Put until a Get returns it. The
// caller of Put must not retain any part of the value, and must put it only
// once. Builds with -tags invariants check this for all values with an identity
// (pointers, slices by the end of their array, maps, channels): a second Put,
// and a change of the memory of an idle value, panic with the stack of the
// first Put. Such a build copies the memory of each idle value, and is slow. It
// also reports a fault if the runtime itself changes an idle value, as may
// happen to a time.Timer.
//
// Pools are safe for concurrent use. They must not be copied, which go vet
// reports.
//
// # Cost
//
// Get and Put each cost one atomic exchange, a store on amd64 and a second
// exchange elsewhere, and little else. They do not allocate once the pool has
// reached its peak size. Idle values are stored in shards, several for each
// processor. A goroutine uses the shard selected by the address of its stack,
// so goroutines that run at the same time mostly use different shards, and no
// thread has to be pinned. If many Gets do not find their value there, since
// many goroutines share a few, the number of the processor selects the shard,
// on processors that have RDPID (Linux on amd64). A shard works on a
// stack of a few slots and keeps a second, full one in reserve; with that pair
// a goroutine that alternates between a few Gets and a few Puts needs nothing
// else. Whole stacks, of up to 256 slots, move to and from a depot under a
// lock, whose cost is spread over many calls. This is the magazine layer of
// Jeff Bonwick and Jonathan Adams, "Magazines and Vmem: Extending the Slab
// Allocator to Many CPUs and Arbitrary Resources", USENIX 2001. A Get that
// finds its shard and the depot empty searches all other shards, and takes half
// of the values it finds: that, and a Put near a limit, takes some tens of
// nanoseconds on a few processors.
//
// [Buffers] without a limit keep one buffer of each size beside each shard. Its
// place stays reserved while it is in use, so that Put needs no exchange.
//
// A pool in use takes 1 KiB for each processor, and initially 64 slots for
// each, fewer if the values are large; more idle values take more slots. Each
// size of a Buffers without a limit takes 1 KiB more. The
// shards are created at the first use, for the number of processors at that
// time. A later change of GOMAXPROCS only affects speed.
package pool
