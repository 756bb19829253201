// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"math"
	"sync"

	"github.com/nib-log/nib/internal/invariants"
)

var eventPool = sync.Pool{New: func() any { return newEvent() }}

func newEvent() *Event {
	return &Event{buf: make([]byte, 0, startCap), depth: idle, reservedBits: math.MaxUint64}
}

// builder is an event that collects fields and is never written.
func (l *Logger) builder() *Event {
	e := acquire(l)
	e.front.of, e.buf = 0, e.buf[:0]
	e.flags = building
	return e
}

// acquire takes an event from the pool for l. It is just small enough to be
// inlined.
func acquire(l *Logger) *Event {
	if invariants.Enabled {
		return newEvent().lend(l)
	}
	return eventPool.Get().(*Event).lend(l)
}

func (e *Event) lend(l *Logger) *Event {
	e.log, e.depth, e.reservedBits = l, 0, l.reservedBits
	return e
}

// release makes e idle and returns it to the pool. In an idle event every key
// may be reserved, so checkKey counts a stale call, which adds nothing.
func (e *Event) release() {
	e.depth, e.reservedBits, e.flags = idle, math.MaxUint64, 0
	if invariants.Enabled || cap(e.buf) > keepSize {
		e.retire()
		return
	}
	e.log = idleLogger
	eventPool.Put(e)
}

// retire is release for an event whose buffer must not be reused.
func (e *Event) retire() {
	if invariants.Enabled {
		e.ended.Record()
		invariants.Poison(e.buf)
		return
	}
	e.buf, e.front.of = make([]byte, 0, startCap), 0
	e.release()
}
