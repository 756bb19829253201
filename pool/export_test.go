// SPDX-License-Identifier: Apache-2.0

package pool

// Tracking reports whether this build checks each Put and Get.
const Tracking = tracking

// Shrink shrinks the pool as each garbage collection does with WithGCShrink.
func (p *Pool[T]) Shrink() {
	if t := p.table.Load(); t != nil && p.depot.shrink.seen == nil {
		p.depot.shrink.seen = make([]uint64, len(t.shards)+len(t.slots))
	}
	p.shrink()
}

// Slots visits all slots that the pool has, used or not.
func (p *Pool[T]) Slots(visit func(v T)) {
	t := p.table.Load()
	if t == nil {
		return
	}
	p.depot.mu.Lock()
	defer p.depot.mu.Unlock()
	mags := append([][]T(nil), p.depot.mags...)
	for i := range t.shards {
		mags = append(mags, t.shards[i].items, t.shards[i].spare)
	}
	for i := range t.slots {
		visit(t.slots[i].kept)
	}
	for _, m := range mags {
		for _, v := range m[:cap(m)] {
			visit(v)
		}
	}
}

// Fault returns a fault in the accounts of a pool that no other goroutine uses,
// except to shrink it at a garbage collection, or "": each place for a value
// within the limit must be accounted for once, and no magazine may be in two
// places.
func (p *Pool[T]) Fault() string {
	t := p.table.Load()
	if t == nil {
		return ""
	}
	d := &p.depot
	d.mu.Lock()
	defer d.mu.Unlock()
	sum, seen := d.free, map[*T]bool{}
	fault := ""
	own := func(m []T) {
		if cap(m) > 0 {
			if first := &m[:1][0]; seen[first] {
				fault = "a magazine is in two places"
			} else {
				seen[first] = true
			}
		}
	}
	for i := range t.slots {
		if t.slots[i].word&slotStates == slotStates {
			fault = "a slot is both reserved and idle"
		}
	}
	for i, m := range d.mags {
		own(m)
		sum += int64(len(m))
		if (i < d.full) != (len(m) > 0) {
			fault = "a magazine is on the wrong side"
		}
	}
	for i := range t.shards {
		s := &t.shards[i]
		marked := s.state&fullBit != 0
		if marked != d.marked || marked && count(s.state) < len(s.items) {
			fault = "fullBit is wrong"
		}
		own(s.items)
		own(s.spare)
		sum += int64(len(s.items)) + int64(len(s.spare))
		switch n := count(s.state); {
		case s.state&lockBit != 0:
			fault = "a shard is locked"
		case n > len(s.items):
			fault = "a shard has more values than room"
		case (s.state&spareBit != 0) != (len(s.spare) > 0):
			fault = "spareBit is wrong"
		}
	}
	limit := int64(unlimited)
	if p.config.limited {
		limit = int64(p.config.limit)
	}
	if sum != limit {
		fault = "room was lost or won"
	}
	return fault
}

// Refuses reports whether the next Put is refused without a search, if no Get
// comes before it.
func (p *Pool[T]) Refuses() bool {
	p.depot.mu.Lock()
	defer p.depot.mu.Unlock()
	return p.depot.marked
}

// pools visits the pools of the classes that have been used.
func (p *Buffers) pools(visit func(*Pool[*Buffer])) {
	for i := range p.classes {
		if pool := p.classes[i].Load(); pool != nil {
			visit(pool)
		}
	}
}

// Fault returns a fault in the accounts of any class, or "".
func (p *Buffers) Fault() (fault string) {
	p.pools(func(pool *Pool[*Buffer]) {
		if f := pool.Fault(); f != "" {
			fault = f
		}
	})
	return fault
}

// Shrink shrinks all classes as each garbage collection does with GCShrink.
func (p *Buffers) Shrink() { p.pools((*Pool[*Buffer]).Shrink) }

// Reserved returns the number of slots that are reserved for a Buffer in use.
func (p *Buffers) Reserved() (n int) {
	p.pools(func(pool *Pool[*Buffer]) {
		for i := range pool.table.Load().slots {
			n += int(pool.table.Load().slots[i].word & slotReserved)
		}
	})
	return n
}
