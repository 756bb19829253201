// SPDX-License-Identifier: Apache-2.0

package a

import "sync"

type object struct {
	next *object
	err  error
	buf  []byte
}

func (o *object) reset() { *o = object{buf: o.buf[:0]} }

var pool sync.Pool

func left(x *object) {
	x.next = nil
	pool.Put(x) // want `x goes to the pool with its pointers: clear err`
}

func field(x *object) {
	x.next, x.err = nil, nil
	pool.Put(x)
}

func whole(x *object) {
	*x = object{buf: x.buf[:0]}
	pool.Put(x)
}

func method(x *object) {
	x.reset()
	pool.Put(x)
}

func slice(b *[]byte) { pool.Put(b) }
