// SPDX-License-Identifier: Apache-2.0

package a

import "sync"

type object struct {
	buf  []byte
	seen map[string]bool
	n    int
}

var pool sync.Pool

func f(n int, s string) {
	x := pool.Get().(*object)
	x.n = n
	x.buf = append(x.buf[:0], s...)
	clear(x.seen)
	x.buf = make([]byte, 0, n)        // want `x.buf loses the capacity that the pool kept`
	x.buf = nil                       // want `x.buf loses the capacity that the pool kept`
	x.buf = append([]byte(nil), s...) // want `x.buf loses the capacity that the pool kept`
	x.seen = map[string]bool{}        // want `x.seen loses the room that the pool kept`
	y := &object{}
	y.buf = make([]byte, 0, n)
	pool.Put(x)
}
