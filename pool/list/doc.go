// SPDX-License-Identifier: Apache-2.0

// Package list is a doubly linked list of values of one type. It has the
// methods of [container/list], keeps the nodes of removed elements for the
// elements to come, and so allocates nothing under a steady load.
//
//	var queue list.List[string]
//	first := queue.PushBack("first")
//	queue.PushBack("second")
//	for name := range queue.All() {
//		fmt.Println(name)
//	}
//	queue.Remove(first)
//	if !first.Valid() {
//		fmt.Println(queue.Len(), "left")
//	}
//
// # Why another list
//
// container/list allocates a node for each push, and another object for most
// values, because it keeps them as any. Here a value lies in its node, and
// nodes come in chunks: one at first, then twice as many each time, until a
// chunk has 8 KiB. A million integers take 40 MB in five thousand allocations,
// there 56 MB in two million, and a third of the time to be marked by the
// garbage collector. To push an element and remove it takes about a sixth of
// the time, MoveToFront four fifths. Only stepping through a list that fits in
// a cache is slower, by a tenth: Next looks whether the element is stale.
//
// # Elements
//
// An [Element] is a value of two words that can be compared, copied and used
// as a key of a map. Where container/list returns nil, the zero Element is
// returned; its Valid is false. So is that of an element that was removed: each
// node counts how often it was used, and an Element knows the count for which
// it was made. What is done with such a stale Element has no effect, even if
// its node serves another element by then, whereas container/list would panic,
// or change the list. The count has 64 bits. A node that is used again each
// nanosecond comes back to the same count after 584 years.
//
// # Memory
//
// A list owns its nodes. A removed value is cleared at once, so the list does
// not keep alive what it refers to. The nodes stay: a list is as large as at its
// peak until [List.Trim] gives the chunks in which no element is left to the
// garbage collector.
//
// An Element keeps its chunk alive, and through it the list with all its
// values, as an element of container/list does while it is in the list. Here it
// does so after its removal, too, until Trim gives its chunk away: from then on
// it keeps that chunk only, at most 8 KiB or a single node. Forget Elements
// that are no longer needed, or call Init and Trim on a list that is.
//
// # Concurrency
//
// A list is not safe for concurrent use, as in container/list: whoever shares
// one needs a lock around each call, those of the methods of its elements
// included. Calls that only read may run at the same time.
//
// A List must not be copied after its first use. go vet reports copies, and
// builds with -race or -tags invariants panic when one is used.
package list
