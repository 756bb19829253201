// SPDX-License-Identifier: Apache-2.0

package poolvalue

import "sync"

type object struct{ buf []byte }

type wrapped struct{ p *object }

var pool sync.Pool
var global []byte

func values(p *object, v object, b []byte, any interface{}, x wrapped) {
	pool.Put(p)
	pool.Put(any)
	pool.Put(&global)
	pool.Put(x)  // one pointer: an interface holds it as it is
	pool.Put(v)  // want `a poolvalue.object is copied to the heap on each Put`
	pool.Put(b)  // want `a \[\]byte is copied to the heap on each Put`
	pool.Put(&b) // want `Put\(&b\) moves b to the heap each time`
	pool.Put(&object{})
	pool.Put(7) // want `a int is copied to the heap on each Put`
}

// Something has to be made to fill a pool.
func fill(n int) {
	for range n {
		b := make([]byte, 512)
		pool.Put(&b)
	}
}

func generic[T any](v T) { pool.Put(v) }

func later() int {
	b := *pool.Get().(*[]byte)
	pool.Put(&b) // want `moves b to the heap`
	return len(b)
}

func addressed(f func(*[]byte)) {
	b := *pool.Get().(*[]byte)
	f(&b)
	pool.Put(&b) // want `moves b to the heap`
}

func branch(ok bool) {
	b := *pool.Get().(*[]byte)
	if ok {
		pool.Put(&b) // want `moves b to the heap`
	}
}

var other sync.Pool

func another() {
	b := *other.Get().(*[]byte)
	pool.Put(&b) // want `moves b to the heap`
}
