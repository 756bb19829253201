// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"runtime/debug"

	"github.com/nib-log/nib"
)

// If a page of a mapping has no page of the file any more, because the file was
// truncated or the disk cannot be read, the system sends SIGBUS, which ends a
// Go program. debug.SetPanicOnFault turns it into a panic of the goroutine at
// fault, for some nanoseconds per access. Every access to a mapping is guarded
// in this way, and only those.

// writeMapped is write for a mapping. The bytes of the line may be in a mapping
// of user code: the value that an access to them panics with is returned.
func (g *segment) writeMapped(at, size int, seq uint64, r *nib.Record, message int) (ok bool, foreign any) {
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if ok {
			return
		}
		if p := recover(); !g.isFault(p) {
			foreign = p
		}
	}(debug.SetPanicOnFault(true))
	g.put(at, size, seq, r, message)
	return true, nil
}

// endGuard is deferred with what SetPanicOnFault has returned. It ends a panic
// that was caused by an access to the segment, and no other.
func (g *segment) endGuard(before bool) {
	debug.SetPanicOnFault(before)
	if p := recover(); p != nil && !g.isFault(p) {
		panic(p)
	}
}

// isFault reports whether p is the panic of an access to the segment.
func (g *segment) isFault(p any) bool {
	fault, ok := p.(interface{ Addr() uintptr })
	return ok && g.free != nil && g.twin == nil && within(fault.Addr(), g.b)
}

// probe panics if the file of a mapping is shorter than it should be. A record
// that begins in its last page looks as if its writer was at work: the rest of
// that page is zeros.
func (g *segment) probe() {
	if g.free != nil && g.twin == nil {
		_ = word(g.b, len(g.b)-8).Load()
	}
}

// retire ends the use of a segment in which the claim at offset at, of number
// seq, could not become a record, and voids that: its line is going to get
// another number.
func (s *Sink) retire(g *segment, at, size int, seq uint64) {
	s.mu.Lock()
	s.retireLocked(g, at, size, seq)
	s.broadcast()
	s.mu.Unlock()
	s.idle.Store(false)
	s.poke()
	s.report("write to a segment", g.fault())
}

// retireLocked is retire under mu. A reader that has given the number up has
// counted it as damaged, and takes that back.
func (s *Sink) retireLocked(g *segment, at, size int, seq uint64) {
	g.seal()
	if !g.broken.Load() {
		g.voids = map[int]void{}
		g.broken.Store(true)
		s.stats.Retired++
	}
	g.voids[at] = void{align(size), seq}
	s.stats.Logged--
	for _, d := range s.deliveries {
		if d.settled > seq {
			d.dropped[damaged][levelIndex(levelUnknown)]--
		} else {
			d.skips++
		}
	}
}

var errGone = errors.New("a page of the file is missing or cannot be read")

// fault returns why g is broken.
func (g *segment) fault() error {
	if t := g.twin; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.err
	}
	return errGone
}

// voided returns the size of the claim at offset at of g if it is void.
func (s *Sink) voided(g *segment, at int) (size int, ok bool) {
	if !g.broken.Load() {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := g.voids[at]
	return v.size, ok
}

// fillGuarded is fillLive for a mapping that may be gone. What was read before
// a fault is delivered first.
func (d *deliverer) fillGuarded(g *segment) (ended, busy bool) {
	defer d.endGuard(g, debug.SetPanicOnFault(true))
	return d.fillLive(g)
}

func (d *deliverer) endGuard(g *segment, before bool) {
	debug.SetPanicOnFault(before)
	p := recover()
	switch {
	case p == nil:
	case !g.isFault(p):
		panic(p)
	case len(d.batch) == 0:
		d.rescue(g, errGone)
	}
}

// stepOver steps over a void claim of so many bytes.
func (d *deliverer) stepOver(size int) {
	d.at, d.want, d.witness = d.at+size, d.want+1, false
	d.pass(1)
}

// pass moves the position over numbers that have no record, as those whose
// lines went elsewhere: they are among d.skips.
func (d *deliverer) pass(n uint64) {
	s := d.s
	if n == 0 || d.dest == nil {
		return
	}
	s.mu.Lock()
	d.settled += n
	d.skips -= n
	s.broadcast()
	s.mu.Unlock()
	d.note()
}
