// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"runtime"
	"sync/atomic"
	"weak"

	"github.com/nib-log/nib/internal/publish"
)

// shrink is the state of WithGCShrink.
type shrink struct {
	low  int      // the least number of magazines in the depot since the last collection
	seen []uint64 // the state of each shard and slot then
}

// A canary is garbage from the start: its cleanup signals that a collection has
// run. It holds a pointer because objects without one share memory blocks and
// may live longer.
type canary struct{ _ *canary }

// shrinkAtGC shrinks p after each collection until p is unreachable.
func (p *Pool[T]) shrinkAtGC() {
	runtime.AddCleanup(new(canary), func(w weak.Pointer[Pool[T]]) {
		if p := w.Value(); p != nil {
			p.shrink()
			p.shrinkAtGC()
		}
	}, weak.Make(p))
}

// shrink drops the magazines that were in the depot since the last collection,
// and the values of shards that were not used.
func (p *Pool[T]) shrink() {
	if t := p.table.Load(); t != nil {
		p.dropUnused(t)
	}
	if tracking {
		p.track.report()
	}
}

func (p *Pool[T]) dropUnused(t *table[T]) {
	d := &p.depot
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unmark(t)
	for i := range d.shrink.low {
		p.dropTail(&d.mags[i], math.MaxInt)
	}
	rest := copy(d.mags, d.mags[d.shrink.low:d.full])
	d.full, d.shrink.low = rest, rest
	d.tidy()
	for i := range t.shards {
		s := &t.shards[i]
		st := s.lock()
		now := s.puts<<16 | uint64(st)
		publish.Uint32(&s.state, st)
		if d.shrink.seen[i] == now {
			p.drain(s, math.MaxInt)
		}
		d.shrink.seen[i] = now
	}
	for i := range t.slots {
		s, seen := &t.slots[i], &d.shrink.seen[len(t.shards)+i]
		if *seen == atomic.LoadUint64(&s.word) {
			p.dropKept(s)
		}
		*seen = atomic.LoadUint64(&s.word)
	}
}
