// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A void is a claim without a record.
type void struct {
	size int
	seq  uint64
}

// voids are the claims whose lines got other numbers.
type voids struct {
	broken atomic.Bool // the memory or its file failed: there are void claims

	mu     sync.Mutex
	claims map[int]void // by offset
}

// VoidClaim records that the claim at offset at, with number seq, has no
// record: its line gets another number. The first void claim breaks the
// segment. The spool's lock is held, as the counts change with the claims.
func (v *voids) VoidClaim(at, size int, seq uint64) (first bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if first = !v.broken.Load(); first {
		v.claims = map[int]void{}
		v.broken.Store(true)
	}
	v.claims[at] = void{Align(size), seq}
	return first
}

// IsBroken reports whether the segment has void claims.
func (v *voids) IsBroken() bool { return v.broken.Load() }

// VoidAt returns the size of the claim at offset at if it is void.
func (v *voids) VoidAt(at int) (size int, ok bool) {
	if !v.IsBroken() {
		return 0, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	claim, ok := v.claims[at]
	return claim.size, ok
}

// VoidsIn returns the number of void claims with numbers in [from, to). The
// spool's lock is held.
func (v *voids) VoidsIn(from, to uint64) (n uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.claims {
		if c.seq >= from && c.seq < to {
			n++
		}
	}
	return n
}

// VoidsAtEnd returns how many numbers before the next one belong to void
// claims: the next segment skips them. The spool's lock is held.
func (g *Segment) VoidsAtEnd() (n uint64) {
	_, next, _ := g.Claimed()
	for next-n > g.First && g.VoidsIn(next-n-1, next-n) > 0 {
		n++
	}
	return n
}

// HasNoWriters reports whether g has no more writers: it is sealed, and all
// claims are committed or void. It is false if its mapping is gone.
func (g *Segment) HasNoWriters() (is bool) {
	is, _ = g.CheckWriters()
	return is
}

// CheckWriters is HasNoWriters. readable is false if a page could not be read.
func (g *Segment) CheckWriters() (none, readable bool) {
	defer g.EndGuard(debug.SetPanicOnFault(true))
	end, _, final := g.Claimed()
	at := HeaderSize
	for at < end {
		if size, void := g.VoidAt(at); void {
			at += size
		} else if g.Committed(at) {
			at = g.Behind(at)
		} else {
			g.Probe()
			return false, true
		}
	}
	return final && at == end, true
}
