// SPDX-License-Identifier: Apache-2.0

package pool

import "github.com/nib-log/nib/internal/publish"

// Trim drops idle values until no more than n are left, and frees all empty
// slots. While other goroutines use the pool, the number is exact for each part
// of the pool only at the time that it was read. It panics if n is negative.
func (p *Pool[T]) Trim(n int) {
	if n < 0 {
		panic("nib/pool: Trim to a negative number of values")
	}
	if t := p.table.Load(); t != nil {
		p.trim(t, n)
	}
	if tracking {
		p.track.report()
	}
}

func (p *Pool[T]) trim(t *table[T], n int) {
	d := &p.depot
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unmark(t)
	excess := max(0, d.len(t)-n)
	for excess > 0 && d.full > 0 {
		last := &d.mags[d.full-1]
		excess -= p.dropTail(last, excess)
		if len(*last) == 0 {
			d.full--
		}
	}
	d.shrink.low = min(d.shrink.low, d.full)
	d.tidy()
	for i := range t.shards {
		excess -= p.drain(&t.shards[i], excess)
	}
	for i := 0; i < len(t.slots) && excess > 0; i++ {
		excess -= p.dropKept(&t.slots[i])
	}
}

// len counts the idle values. The depot is locked.
func (d *depot[T]) len(t *table[T]) int {
	n := 0
	for _, m := range d.mags[:d.full] {
		n += len(m)
	}
	for i := range t.shards {
		s := &t.shards[i]
		st := s.lock()
		n += int(st/one) + len(s.spare)
		publish.Uint32(&s.state, st)
	}
	for i := range t.slots {
		_, idle := t.slots[i].count()
		n += idle
	}
	return n
}

// dropTail drops up to n values from the end of a magazine of the depot or of a
// locked shard's spare, and returns the number.
func (p *Pool[T]) dropTail(m *[]T, n int) int {
	n = min(n, len(*m))
	rest := len(*m) - n
	if tracking {
		for _, v := range (*m)[rest:] {
			p.track.dropped(v)
		}
	}
	clear((*m)[rest:])
	*m = (*m)[:rest]
	p.depot.free += int64(n)
	p.depot.trimmed += uint64(n)
	return n
}

// drain drops up to n values of a shard, and returns the number. A magazine
// that is then empty is dropped as well.
func (p *Pool[T]) drain(s *shard[T], n int) int {
	st := s.lock()
	dropped := p.dropTail(&s.spare, n)
	if len(s.spare) == 0 {
		s.spare = nil
		st &^= spareBit
	}
	items := s.items[:st/one]
	k := p.dropTail(&items, n-dropped)
	s.items = s.items[:len(s.items)-k]
	if len(items) == 0 {
		p.depot.free += int64(len(s.items))
		s.items = nil
	}
	publish.Uint32(&s.state, uint32(len(items))*one|st&spareBit)
	return dropped + k
}
