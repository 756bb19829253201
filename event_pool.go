// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"sync"

	"github.com/nib-log/nib/internal/invariants"
)

var eventPool = sync.Pool{New: func() any { return newEvent() }}

func newEvent() *Event {
	e := &Event{buf: make([]byte, 0, startCap), depth: idle, reservedBits: allReserved}
	e.line.Event = (*parts)(e)
	return e
}

// builder is an event that collects fields and is never written.
func (l *Logger) builder() *Event {
	e := acquire(l)
	e.front = front{}
	e.buf, e.flags = e.buf[:0], building
	return e
}

// acquire takes an event from the pool. It is just small enough to be inlined.
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

// release ends the use of e. An idle event reserves every key, so that checkKey
// counts a stale call, which adds nothing.
func (e *Event) release() {
	if invariants.Enabled { // the event is not reused, and keeps its logger for reports
		e.depth, e.reservedBits, e.flags = idle, allReserved, 0
		e.ended.Record()
		invariants.Poison(e.buf)
		return
	}
	if cap(e.buf) > keepSize {
		e.front, e.record = front{}, Record{} // both refer to the old buffer
		e.buf = make([]byte, 0, startCap)
	}
	e.message = "" // set if an Entry was not finished with Send
	e.recycle()
}

// keepScratch keeps b as the second buffer, unless it is too large.
func (e *Event) keepScratch(b []byte) {
	if e.scratch = b; cap(b) > keepSize {
		e.scratch = nil
	}
}

// recycle returns e to the pool, with its buffer and front for the next line.
func (e *Event) recycle() {
	e.depth, e.reservedBits, e.flags, e.log = idle, allReserved, 0, idleLogger
	eventPool.Put(e)
}
