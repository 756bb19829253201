// SPDX-License-Identifier: Apache-2.0

package poolpointers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
)

type object struct {
	next *object
	err  error
	buf  []byte
	enc  *json.Encoder // made for the object, over its own buffer
	out  *bytes.Buffer
}

func (o *object) set(next *object, err error) {
	o.next, o.err = next, err
	if o.enc == nil {
		o.out = new(bytes.Buffer)
		o.enc = json.NewEncoder(o.out)
	}
}

func (o *object) reset() { *o = object{buf: o.buf[:0]} }

func (o *object) release() { o.unlink(); forget(o) }

func (o *object) unlink() { o.next = nil }

func forget(o *object) { o.err = nil }

var pool sync.Pool

func left(x *object) {
	x.next = nil
	pool.Put(x) // want `x goes to the pool with its pointers: clear err`
}

func half(x *object) {
	x.unlink()
	pool.Put(x) // want `clear err`
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

func below(x *object) {
	x.release()
	pool.Put(x)
}

func deferred(x *object) {
	defer func() {
		x.reset()
		pool.Put(x)
	}()
}

func unknown(x *object, f func(*object)) {
	f(x)
	pool.Put(x)
}

func slice(b *[]byte) { pool.Put(b) }

// owner has only what it made for itself.
type owner struct{ w io.Writer }

func own(x *owner) {
	x.w = new(bytes.Buffer)
	pool.Put(x)
}

func (o *object) init(err error) { o.err = err }

func cleared(x *object) {
	x.next = nil
	x.init(nil)
	pool.Put(x)
}

// copied has a field that only copies of it are given.
type copied struct{ ctx context.Context }

func (c *copied) with(ctx context.Context) *copied {
	dup := &copied{}
	dup.ctx = ctx
	return dup
}

func release(x *copied) { pool.Put(x) }

// consumed is used up before it goes back.
type consumed struct{ to *int }

func (c *consumed) record(to *int) { c.to = to }

func (c *consumed) line(n int) {
	if c.to != nil {
		*c.to = n
		c.to = nil
	}
}

func (c *consumed) free() { pool.Put(c) }

var idle = new(object)

// What all idle objects point to stays without them, too.
func toIdle(x *object) {
	x.next, x.err = idle, nil
	pool.Put(x)
}
