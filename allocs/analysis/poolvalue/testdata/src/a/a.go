// SPDX-License-Identifier: Apache-2.0

package a

import "sync"

type object struct{ buf []byte }

var pool sync.Pool
var global []byte

func f(p *object, v object, b []byte, any interface{}) {
	pool.Put(p)
	pool.Put(any)
	pool.Put(&global)
	pool.Put(v)  // want `a a.object is copied to the heap on each Put`
	pool.Put(b)  // want `a \[\]byte is copied to the heap on each Put`
	pool.Put(&b) // want `Put\(&b\) moves b to the heap each time`
	pool.Put(&object{})
	pool.Put(7) // want `a int is copied to the heap on each Put`
}
