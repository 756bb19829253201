// SPDX-License-Identifier: Apache-2.0

package poolremake

import "sync"

type object struct {
	buf  []byte
	seen map[string]bool
	args []string // what the caller has made
	n    int
}

var pool sync.Pool

func f(n int, s string, args []string) {
	x := pool.Get().(*object)
	x.n = n
	x.args = args
	x.buf = append(x.buf[:0], s...)
	clear(x.seen)
	x.buf = make([]byte, 0, n)        // want `x.buf loses the capacity that the pool kept`
	x.buf = nil                       // want `x.buf loses the capacity that the pool kept`
	x.buf = append([]byte(nil), s...) // want `x.buf loses the capacity that the pool kept`
	x.buf = append(x.buf[:0:0], s...) // want `x.buf loses the capacity that the pool kept`
	x.seen = map[string]bool{}        // want `x.seen loses the room that the pool kept`
	y := &object{}
	y.buf = make([]byte, 0, n)
	x.args = nil
	pool.Put(x)
}

// A limit on what is kept.
func limited(x *object) {
	if cap(x.buf) > 1<<16 {
		x.buf = nil
	}
	switch {
	case len(x.seen) > 1000:
		x.seen = map[string]bool{}
	}
	pool.Put(x)
}

// Only when there is not enough room.
func room(n int) {
	x := pool.Get().(*object)
	if cap(x.buf) < n {
		x.buf = make([]byte, n)
	}
	if x.seen == nil {
		x.seen = map[string]bool{}
	}
	pool.Put(x)
}

// The caller owns the bytes from here on.
func taken(x *object) []byte {
	b := x.buf
	x.buf = nil
	pool.Put(x)
	return b
}

type message struct{ text []byte }

func (m *message) append(s string) { m.text = append(m.text[:0], s...) }

// The text is that of the caller, who keeps it.
func borrowed(text []byte) int {
	m := pool.Get().(*message)
	m.text = text
	n := len(m.text)
	m.text = nil
	pool.Put(m)
	return n
}
