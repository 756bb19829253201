// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"
	"sync"
)

// The seed is a minimal logger: it copies a message into a pooled buffer of 500
// bytes and writes it, without time, level or escaping. Comparison with it
// shows the cost of everything else.
var seedPeer = Peer{Name: "seed", Rows: map[string]Setup{
	"Bare": Row(func(w io.Writer) seed { return seed{w} }, func(s seed, n int) {
		for range n {
			s.log(message)
		}
	}),
}}

type seed struct{ w io.Writer }

var seedPool = sync.Pool{New: func() any { b := make([]byte, 0, 500); return &b }}

func (s seed) log(msg string) {
	b := seedPool.Get().(*[]byte)
	line := append((*b)[:0], `{"message":"`...)
	line = append(line, msg...)
	line = append(line, '"', '}', '\n')
	_, _ = s.w.Write(line)
	*b = line
	seedPool.Put(b)
}
