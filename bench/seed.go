// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"sync"
)

// The seed is a minimal logger: it copies a message into a pooled buffer of 500
// bytes and writes it, without time, level or escaping. Comparison with it
// shows the cost of everything else.
var seedPeer = Peer{Name: "seed", File: "seed.go", Bare: seedBare}

type seedEvent struct {
	w   io.Writer
	buf []byte
}

var seedPool = sync.Pool{New: func() any { return &seedEvent{buf: make([]byte, 0, 500)} }}

func newSeedEvent(w io.Writer) *seedEvent {
	e := seedPool.Get().(*seedEvent)
	e.w, e.buf = w, e.buf[:0]
	return e
}

func (e *seedEvent) msg(msg string) {
	e.buf = append(e.buf, `{"message":"`...)
	e.buf = append(e.buf, msg...)
	e.buf = append(e.buf, '"', '}', '\n')
	_, _ = e.w.Write(e.buf)
	e.w = nil
	seedPool.Put(e)
}

func seedBare(w io.Writer) Run {
	return run(func(n int) {
		for range n {
			newSeedEvent(w).msg(message)
		}
	})
}
