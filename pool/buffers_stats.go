// SPDX-License-Identifier: Apache-2.0

package pool

// BuffersStats counts the operations of a [Buffers]. A buffer that moves to
// larger memory of the pool counts as one Get and one Put. As in [Stats], Puts
// = Hits + Dropped + Trimmed + Len, and the numbers are exact when no other
// call is running.
type BuffersStats struct {
	Stats
	Bytes    int64  `json:"bytes"`    // memory of the idle buffers
	Oversize uint64 `json:"oversize"` // of Gets: buffers larger than the pool keeps
	Grown    uint64 `json:"grown"`    // moves to larger memory by Grow and the Write methods
	Outgrown uint64 `json:"outgrown"` // number of times that append had moved B, or B was replaced
	Misused  uint64 `json:"misused"`  // calls on idle or foreign buffers
}

// Stats returns the current counts. It does not allocate.
func (p *Buffers) Stats() BuffersStats {
	var out BuffersStats
	for class := range p.kept() {
		pool := p.classes[class].Load()
		if pool == nil {
			continue
		}
		s := pool.Stats()
		out.Gets += s.Gets
		out.Hits += s.Hits
		out.Puts += s.Puts
		out.Dropped += s.Dropped
		out.Trimmed += s.Trimmed
		out.Len += s.Len
		out.Bytes += int64(s.Len) * int64(sizeOf(class))
	}
	out.Oversize = p.oversizeGets.Load()
	out.Gets += out.Oversize
	dropped := p.oversizePuts.Load()
	out.Puts += dropped
	out.Dropped += dropped
	out.Grown, out.Outgrown, out.Misused = p.grown.Load(), p.outgrown.Load(), p.misused.Load()
	return out
}

// Trim drops idle buffers, the largest first, until the rest takes no more than
// n bytes. It is as exact as [Pool.Trim], and panics if n is negative.
func (p *Buffers) Trim(n int) {
	if n < 0 {
		panic("nib/pool: Trim to a negative number of bytes")
	}
	excess := p.Stats().Bytes - int64(n)
	for class := p.kept() - 1; class >= 0; class-- {
		pool := p.classes[class].Load()
		if pool == nil {
			continue
		}
		size := int64(sizeOf(class))
		have := pool.Stats().Len
		rest := have - min(have, int((max(0, excess)+size-1)/size))
		pool.Trim(rest)
		excess -= int64(have-rest) * size
	}
}
