// SPDX-License-Identifier: Apache-2.0

package poolremake

import "sync"

type line struct {
	buf  []byte
	seen map[string]bool
}

var lines = sync.Pool{New: func() any { return &line{seen: map[string]bool{}} }}

func write(key string) {
	l := lines.Get().(*line)
	l.buf = make([]byte, 0, 512) // want `l.buf loses the capacity that the pool kept; cut it with \[:0\]`
	l.seen = map[string]bool{}   // want `l.seen loses the room that the pool kept; clear it`
	l.add(key)
	lines.Put(l)
}

func writeKept(key string) {
	l := lines.Get().(*line)
	l.buf = l.buf[:0]
	clear(l.seen)
	l.add(key)
	lines.Put(l)
}

func (l *line) add(key string) {
	l.buf = append(l.buf, key...)
	l.seen[key] = true
}
