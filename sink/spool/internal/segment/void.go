// SPDX-License-Identifier: Apache-2.0

package segment

import "runtime/debug"

// A void is a claim without a record.
type void struct {
	size int
	seq  uint64
}

// VoidClaim records that the claim at offset at, with number seq, has no
// record: its line gets another number. The first void claim breaks the
// segment.
func (g *Segment) VoidClaim(at, size int, seq uint64) (first bool) {
	if first = !g.broken.Load(); first {
		g.voids = map[int]void{}
		g.broken.Store(true)
	}
	g.voids[at] = void{Align(size), seq}
	return first
}

// IsBroken reports whether the segment has void claims.
func (g *Segment) IsBroken() bool { return g.broken.Load() }

// VoidAt returns the size of the claim at offset at if it is void.
func (g *Segment) VoidAt(at int) (size int, ok bool) {
	v, ok := g.voids[at]
	return v.size, ok
}

// VoidsIn returns the number of void claims with numbers in [from, to). The
// spool's lock is held.
func (g *Segment) VoidsIn(from, to uint64) (n uint64) {
	for _, v := range g.voids {
		if v.seq >= from && v.seq < to {
			n++
		}
	}
	return n
}

// HasNoWriters reports whether g has no more writers: it is sealed, and all
// claims are committed or void. It is false if its mapping is gone. The spool's
// lock is held if g is broken.
func (g *Segment) HasNoWriters() (is bool) {
	defer g.EndGuard(debug.SetPanicOnFault(true))
	end, _, final := g.Claimed()
	at := HeaderSize
	for at < end {
		if size, void := g.VoidAt(at); void {
			at += size
		} else if g.Committed(at) {
			at = g.Behind(at)
		} else {
			return false
		}
	}
	return final && at == end
}
