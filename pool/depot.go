// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"sync"
	"sync/atomic"

	"github.com/nib-log/nib/internal/publish"
)

// A depot is shared by the shards of a pool: magazines with values that no
// shard has room for, empty ones for reuse, and the rest of the limit.
//
// Its mutex is held whenever values move from one place to another. So the
// holder of the mutex that searches the depot and all shards finds each value
// that was put before and not taken since: none can move from a place not yet
// searched to one already searched. Shards are locked with the mutex held,
// never the other way round.
//
// The limit is exact and there is no common counter: free, the room of each
// shard, and the number of values in spares and in the depot always add up to
// it. Room moves along with values.
type depot[T any] struct {
	mu sync.Mutex
	// mags are the magazines, first those with values and then those without. A
	// shard that takes one leaves another in its place, so nothing has to grow
	// while values move back and forth. The len of a magazine is the number of
	// its values and cap the number that fits, which may be 0.
	mags [][]T
	full int   // number of mags with values
	free int64 // values that may be put beyond the room granted so far

	marked  bool   // fullBit is set in all shards
	refused int    // Puts above the limit that have searched, since marked was true
	misses  uint64 // Gets that found nothing
	trimmed uint64 // values dropped by Trim and shrink

	searches uint64 // Gets that found a value in another shard, since there were
	puts     uint64 // so many Puts
	byStack  bool   // places stay numbers of stacks

	shrink shrink
}

// searchesPerMark is the number of searches for each shard that is marked.
const searchesPerMark = 4

// unlimited is a limit that nothing reaches and that can be added to.
const unlimited = 1 << 62

// begin makes the table of a pool that is used for the first time.
func (p *Pool[T]) begin() *table[T] {
	d := &p.depot
	d.mu.Lock()
	defer d.mu.Unlock()
	t := p.table.Load()
	if t != nil {
		return t
	}
	t = newTable[T]()
	t.furnish()
	d.free = unlimited
	if p.config.limited {
		d.free = int64(p.config.limit)
	}
	if p.config.slots {
		t.slots = make([]slot[T], len(t.shards))
	}
	if p.config.shrinks {
		d.shrink.seen = make([]uint64, len(t.shards)+len(t.slots))
		p.shrinkAtGC()
	}
	p.table.Store(t)
	return t
}

// getSlow is Get if the shard has no value in items, or is in use.
func (p *Pool[T]) getSlow() (v T) {
	t := p.table.Load()
	if t == nil {
		t = p.begin()
	}
	home, ok := t.place(), false
	if t.at(home).locked() {
		t.meet()
	}
	for i := uintptr(1); i <= t.mask && !ok && t.at(home+i-1).locked(); i++ {
		v, ok = t.at(home + i).tryGet()
	}
	if !ok {
		v, ok = p.find(t, home)
	}
	if !ok {
		return p.make()
	}
	if tracking {
		p.track.taken(v)
	}
	return v
}

// find searches all shards and the depot for a value.
func (p *Pool[T]) find(t *table[T], home uintptr) (v T, ok bool) {
	d := &p.depot
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unmark(t)
	s := t.at(home)
	st := s.lock()
	searches := uintptr(0)
	if st < one {
		st, searches = d.refill(t, home, st)
	}
	if st < one {
		publish.Uint32(&s.state, st)
		if v, ok = t.takeKept(home); !ok {
			d.misses++
			return v, false
		}
	} else {
		v = s.pop(st)
		publish.Uint32(&s.state, st-one)
	}
	if searches > 0 && hasProcessor() {
		d.rethink(t)
	}
	return v, true
}

// refill gets values for the locked shard at home, which has none in items. It
// also returns how many other shards it had to look at.
func (d *depot[T]) refill(t *table[T], home uintptr, st uint32) (state uint32, searched uintptr) {
	s := t.at(home)
	st = d.reload(s, st)
	for searched < t.mask && st < one {
		searched++
		st = d.steal(s, t.at(home+searched), st)
	}
	return st, searched
}

// rethink is called by each Get that has found a value in a shard of another
// place. If more than one Get in eight does, shards are selected by processors.
// If Gets go on searching, shards are selected by stacks, permanently.
func (d *depot[T]) rethink(t *table[T]) {
	const enough = 256
	if d.searches++; d.searches < enough || d.byStack {
		return
	}
	puts := uint64(0)
	for i := range t.shards {
		s := &t.shards[i]
		st := s.lock()
		puts += s.puts
		publish.Uint32(&s.state, st)
	}
	for i := range t.slots {
		kept, _ := t.slots[i].count()
		puts += kept
	}
	often := puts-d.puts < 8*enough
	d.searches, d.puts = 0, puts
	switch {
	case !often:
	case atomic.LoadUintptr(&t.salt)&byProcessor == 0:
		atomic.OrUintptr(&t.salt, byProcessor)
	default:
		d.byStack = true
		atomic.AndUintptr(&t.salt, ^uintptr(byProcessor))
	}
}

// reload gives a shard that has no values in items its spare, or a magazine of
// the depot.
func (d *depot[T]) reload(s *shard[T], st uint32) uint32 {
	switch {
	case st&spareBit != 0:
		old := s.items
		st = s.load(d, s.spare)
		s.spare = old[:0]
	case d.full > 0:
		d.full--
		d.shrink.low = min(d.shrink.low, d.full)
		old := s.items
		st = s.load(d, d.mags[d.full])
		d.mags[d.full] = old[:0]
	}
	return st
}

// load makes m, with its values, the items of a locked shard that has none, and
// returns the state. The room of the items before goes back to free.
func (s *shard[T]) load(d *depot[T], m []T) uint32 {
	d.free += int64(len(s.items))
	s.items = m
	return uint32(len(m)) * one
}

// steal moves values from another shard to the locked s, which has none: the
// whole spare, or half of the items if there is none.
func (d *depot[T]) steal(s, from *shard[T], st uint32) uint32 {
	if atomic.LoadUint32(&from.state) == 0 {
		return st // the shard was empty, or has been emptied since the mutex was locked
	}
	theirs := from.lock()
	n := theirs / one
	switch {
	case theirs&spareBit != 0:
		old := s.items
		st = s.load(d, from.spare)
		from.spare = old[:0]
		theirs &^= spareBit
	case n > 0:
		d.free += int64(len(s.items))
		if cap(s.items) == 0 {
			s.items = d.magazine(int(n))
		}
		k := min((n+1)/2, uint32(cap(s.items)))
		taken := from.items[n-k : n]
		s.items = append(s.items[:0], taken...)
		clear(taken)
		from.items = from.items[:uint32(len(from.items))-k]
		theirs -= k * one
		st = k * one
	}
	publish.Uint32(&from.state, theirs)
	return st
}

// putSlow is Put if the shard has no room in items, or is in use.
func (p *Pool[T]) putSlow(v T) {
	t := p.table.Load()
	if t == nil {
		t = p.begin()
	}
	home := t.place()
	if t.at(home).locked() {
		t.meet()
	}
	for i := uintptr(1); i <= t.mask && t.at(home+i-1).locked(); i++ {
		if t.at(home + i).tryPut(v) {
			return
		}
	}
	if !p.keep(t, home, v) && tracking {
		p.track.taken(v) // the value is dropped
	}
}

// keep stores v unless that would exceed the limit.
func (p *Pool[T]) keep(t *table[T], home uintptr, v T) bool {
	d := &p.depot
	d.mu.Lock()
	defer d.mu.Unlock()
	s := t.at(home)
	st := s.lock()
	ok := false
	if !d.marked {
		if d.free == 0 && count(st) == len(s.items) {
			d.reclaim(t, home)
		}
		st, ok = d.push(s, st, v)
	}
	if !ok {
		s.refused++
	}
	publish.Uint32(&s.state, st)
	if !ok && !d.marked {
		d.mark(t)
	}
	return ok
}

// mark is called by each Put that has searched all shards and found no room. It
// sets fullBit in all shards after so many searches that the time to mark and
// unmark the shards, if Gets alternate with such Puts, is a small part of the
// time of the searches.
func (d *depot[T]) mark(t *table[T]) {
	if d.refused++; d.refused < searchesPerMark*len(t.shards) {
		return
	}
	d.marked, d.refused = true, 0
	for i := range t.shards {
		s := &t.shards[i]
		st := s.lock()
		if count(st) < len(s.items) { // a Get has taken a value since
			publish.Uint32(&s.state, st)
			d.unmark(t)
			return
		}
		publish.Uint32(&s.state, st|fullBit)
	}
}

// unmark is called before values are taken or dropped with the mutex held.
func (d *depot[T]) unmark(t *table[T]) {
	if !d.marked {
		return
	}
	d.marked = false
	for i := range t.shards {
		s := &t.shards[i]
		publish.Uint32(&s.state, s.lock()&^fullBit)
	}
}

// push adds v to a shard, with more room if necessary and possible,
// and returns the state.
func (d *depot[T]) push(s *shard[T], st uint32, v T) (uint32, bool) {
	if n := int(st / one); n == len(s.items) {
		if d.free == 0 {
			return st, false
		}
		if n == cap(s.items) {
			st = d.unload(s, st)
		}
		s.items = s.items[:len(s.items)+d.grant(cap(s.items)-len(s.items))]
	}
	s.items[st/one] = v
	s.puts++
	return st + one, true
}

// unload moves the full items of a locked shard to spare or the depot, and puts
// an empty magazine in their place.
func (d *depot[T]) unload(s *shard[T], st uint32) uint32 {
	if cap(s.items) == 0 { // at first, and after Trim
		s.items = d.magazine(firstMagazine)
		return st
	}
	next := s.spare
	if st&spareBit != 0 {
		next = d.store(s.spare)
	}
	if cap(next) == 0 {
		next = d.magazine(2 * len(s.items))
	}
	s.spare = s.items
	s.items = next[:0]
	return spareBit
}

// store keeps a magazine with values, and returns an empty one for it.
func (d *depot[T]) store(m []T) (empty []T) {
	if d.full == len(d.mags) {
		d.mags = append(d.mags, m)
	} else {
		empty, d.mags[d.full] = d.mags[d.full], m
	}
	d.full++
	return empty
}

// grant takes room from free: as much as wanted, but no more than half of the
// rest of a limit, so that some is left for the other shards.
func (d *depot[T]) grant(want int) int {
	g := min(int64(want), d.free-d.free/2)
	d.free -= g
	return int(g)
}

// reclaim takes unused room from another shard: half, so that the two need not
// take it from each other again and again.
func (d *depot[T]) reclaim(t *table[T], home uintptr) {
	for i := uintptr(1); i <= t.mask; i++ {
		s := t.at(home + i)
		// items change only while the depot is locked too, so they can be read.
		if int(atomic.LoadUint32(&s.state)/one) == len(s.items) {
			continue // a full shard has no room to give, even if it is in use
		}
		st := s.lock()
		g := (len(s.items) - int(st/one) + 1) / 2
		s.items = s.items[:len(s.items)-g]
		publish.Uint32(&s.state, st)
		if g > 0 {
			d.free += int64(g)
			return
		}
	}
}

// magazine returns an empty magazine; a new one has about the requested size.
// The magazines of a shard grow: a pool of few values stays small, and a pool
// of many values takes few allocations.
func (d *depot[T]) magazine(size int) []T {
	if n := len(d.mags) - 1; n >= d.full {
		m := d.mags[n]
		d.mags[n] = nil
		d.mags = d.mags[:n]
		if cap(m) > 0 {
			return m
		}
	}
	return make([]T, 0, min(max(size, firstMagazine), largest[T]()))
}

// tidy drops the empty magazines, and reallocates their list if most of it is
// not needed.
func (d *depot[T]) tidy() {
	clear(d.mags[d.full:])
	d.mags = d.mags[:d.full]
	if d.full <= cap(d.mags)/2 {
		d.mags = append([][]T(nil), d.mags...)
	}
}
