// SPDX-License-Identifier: Apache-2.0

package pool

import "github.com/nib-log/nib/internal/publish"

// Stats counts the operations of a pool. Every value is accounted for: Puts +
// Preallocated = Hits + Dropped + Trimmed + Len. The numbers are exact when no
// other call is running. They can be published with expvar:
//
//	expvar.Publish("buffers", expvar.Func(func() any { return p.Stats() }))
type Stats struct {
	Gets         uint64 `json:"gets"`
	Hits         uint64 `json:"hits"`         // Gets that found a value
	Puts         uint64 `json:"puts"`         // including those whose value was dropped
	Dropped      uint64 `json:"dropped"`      // values that were put and not kept
	Failed       uint64 `json:"failed"`       // of Dropped: values that could not be erased
	Trimmed      uint64 `json:"trimmed"`      // values dropped later, by Trim or WithGCShrink
	Preallocated uint64 `json:"preallocated"` // values made by WithPrealloc
	Len          int    `json:"len"`          // idle values
}

// Stats returns the current counts. It reads all parts of the pool, each in
// some nanoseconds; Get and Put pay for one increment. It does not allocate.
func (p *Pool[T]) Stats() Stats {
	t := p.table.Load()
	if t == nil {
		return Stats{}
	}
	d := &p.depot
	d.mu.Lock()
	defer d.mu.Unlock()
	out := Stats{Trimmed: d.trimmed, Preallocated: uint64(p.config.prealloc)}
	for _, m := range d.mags[:d.full] {
		out.Len += len(m)
	}
	kept := uint64(0)
	for i := range t.shards {
		s := &t.shards[i]
		st := s.lock()
		kept += s.puts
		out.Dropped += s.refused
		out.Len += count(st) + len(s.spare)
		publish.Uint32(&s.state, st)
	}
	for i := range t.slots {
		puts, idle := t.slots[i].count()
		kept += puts
		out.Len += idle
	}
	out.Puts = kept - out.Preallocated + out.Dropped
	out.Hits = kept - d.trimmed - uint64(out.Len)
	out.Gets = out.Hits + d.misses
	return out
}
