// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// A Segment is a piece of memory, on the heap or in a mapped file, to which any
// number of goroutines append records. The code is the same for both.
//
// tail is how far the segment is claimed: the low 32 bits hold offset/8, and
// the bits above them the number of claims. So one compare-and-swap claims
// space and a number together, and records are in the order of their numbers.
// The highest bit seals the segment. tail is not part of the file: after the
// death of the process, the claims are determined from the records.
type Segment struct {
	Identity
	Start
	b         []byte
	crc       uint32 // seed of the checksums
	label     uint32 // of the records
	Continued bool   // another process made the segment

	lifetime
	twin *twin // writes b to the file; nil if b is the file, or there is none

	evicted bool // the pages are discarded until the segment is read; protected by the spool's lock

	voids

	_    [64]byte // tail changes with each record, the fields above rarely
	tail atomic.Uint64
	_    [64]byte
}

const (
	sealed    = uint64(1) << 63
	oneRecord = uint64(1) << 32
)

// New makes a segment of b, which is all zeros, except for the header if it is
// a file. free releases b; it is nil in memory.
func New(b []byte, id Identity, free func()) *Segment {
	g := &Segment{
		Identity: id, b: b, crc: id.Seed(), label: labelOf(id.Stream),
		lifetime: lifetime{free: free},
	}
	if free == nil {
		PutHeader(b, id)
	} else {
		g.Retain()
	}
	g.tail.Store(HeaderSize / 8)
	return g
}

// NewHeader returns a segment without room for records, which is sealed. It
// stands for a segment that could not be made. Counts of dropped lines go to
// the header of f, a segment of an earlier process, unless f is nil. free
// releases the file, or nil.
func NewHeader(id Identity, first Start, f vfs.File, free func(vfs.File)) *Segment {
	g := &Segment{Identity: id, Start: first, b: make([]byte, HeaderSize), crc: id.Seed()}
	g.twin = &twin{file: f}
	g.free = func() { free(g.twin.file) }
	g.Retain()
	g.Size = 0
	g.tail.Store(HeaderSize/8 | sealed)
	return g
}

// NewMapped makes a segment of an allocated file. free releases the mapping,
// and the file if it was deleted.
func NewMapped(
	f vfs.File, id Identity, free func(pages []byte, unmap func(), deleted vfs.File),
) (g *Segment, err error) {
	b, unmap, err := mapFile(f, int(id.Size))
	if err != nil {
		return nil, err
	}
	return mapped(b, unmap, id, free), nil
}

// mapped makes a segment of a mapping that has a header.
func mapped(
	b []byte, unmap func(), id Identity, free func(pages []byte, unmap func(), deleted vfs.File),
) (g *Segment) {
	g = New(b, id, func() {
		if g.reuse != nil {
			g.reuse(b, unmap)
		} else {
			free(b, unmap, g.file)
		}
	})
	return g
}

// NewWritten makes a segment of an allocated file whose records are made in
// memory. free gets the file as written, and also as deleted if it was deleted.
func NewWritten(f vfs.File, id Identity, free func(written, deleted vfs.File)) (g *Segment) {
	g = New(make([]byte, id.Size), id, func() { free(g.twin.file, g.file) })
	g.twin = &twin{file: f, written: HeaderSize}
	return g
}

// ContinueBehind continues an old segment after its last record, with records
// of a stream. No other goroutine can see it yet.
func (g *Segment) ContinueBehind(old *Old, stream uint64) error {
	g.Start = old.Start
	g.tail.Store(uint64(old.Used/8) | (old.End-old.First)*oneRecord)
	if g.twin != nil {
		g.twin.written = old.Used
	}
	return old.continueIn(g, stream)
}

// Evict reports whether to evict the pages of a mapping that is not read soon,
// and retains the mapping until that is done. The spool's lock is held.
func (g *Segment) Evict() bool {
	if !g.IsMapped() || g.evicted {
		return false
	}
	g.evicted = true
	g.Retain()
	return true
}

// EvictedPages returns the evicted pages, for Prefetch, if there are any. The
// spool's lock is held.
func (g *Segment) EvictedPages() (pages []byte) {
	if !g.evicted {
		return nil
	}
	g.evicted = false
	return g.b
}

// IsReusable reports whether another segment can use b once all holders have
// released it.
func (g *Segment) IsReusable() bool { return g.IsMapped() && !g.abandoned && !g.IsBroken() }

// Begin activates the segment. No other goroutine can see it yet. If Begin
// returns false the segment is broken, and accepts no records.
func (g *Segment) Begin(s Start) (ok bool) {
	defer g.EndGuard(debug.SetPanicOnFault(true))
	g.Start = s
	putStart(g.b, g.crc, s)
	err := g.header(64, 88)
	if err == nil {
		return true
	}
	g.twin.err = err
	empty := make([]byte, 24) // the segment counts as not in use
	g.twin.patches = append(g.twin.patches, patch{64, empty})
	_ = g.twin.writePatches() // retried until the process ends
	return false
}

// Fits reports whether a record of size bytes fits into an empty segment.
func Fits(size int, segment int64) bool { return int64(Align(size)) <= segment-HeaderSize }

// Reserve claims the next size bytes, and the next number. ok is false if there
// is not enough space or the segment is sealed; then nothing is claimed.
func (g *Segment) Reserve(size int) (at int, seq uint64, ok bool) {
	for {
		t := g.tail.Load()
		at = int(uint32(t)) * 8
		if t&sealed != 0 || Align(size) > len(g.b)-at {
			return 0, 0, false
		}
		if g.tail.CompareAndSwap(t, t+oneRecord+uint64(Align(size)/8)) {
			return at, g.First + t>>32, true
		}
	}
}

// Write copies r to the offset that Reserve returned, and commits it. It first
// marks the claim with its length, so that a reader after a crash can skip it.
// No reader accepts the record until the last store. No user code runs in
// between. The writer does not access the segment afterwards: a reader that has
// seen all records committed may unmap it.
//
// Write returns false if b is a mapping that is gone, or if the file of a twin
// failed: then the record does not exist and never will. The same holds if r
// cannot be read, as from a mapping of user code whose file is gone: then
// foreign is the panic value of the access.
func (g *Segment) Write(
	at, size int, seq uint64, r *nib.Record, message int,
) (ok bool, foreign any) {
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if ok {
			return
		}
		if p := recover(); !g.IsFault(p) {
			foreign = p
		}
	}(debug.SetPanicOnFault(true))
	if g.twin != nil {
		return g.twin.write(g, at, size, seq, r, message), nil
	}
	g.put(at, size, seq, r, message)
	return true, nil
}

func (g *Segment) put(at, size int, seq uint64, r *nib.Record, message int) {
	prefetchLines(g.b, at+aheadBytes, size)
	b := g.b[at : at+size : at+size]
	setState(b, 0, uint64(uint32(-int32(size))))
	setState(b, 0, PutRecord(b, r, message, seq, g.label, g.crc))
}

// aheadBytes is how far ahead of a record cache lines are prefetched. The
// processor that cleared them, or another writer's, has them in its cache. A
// writer that had to wait for them could not reserve its next record until its
// stores are done.
const (
	aheadBytes = 2048
	aheadMost  = 1024 // maximum for each record
	linePair   = 128  // processors load cache lines in pairs
)

// prefetchLines loads cache lines of b from offset at on, about as many as a
// record of size bytes fills.
func prefetchLines(b []byte, at, size int) {
	for end := min(at+min(size, aheadMost), len(b)); at < end; at += linePair {
		prefetchLine(&b[at])
	}
}

// Seal makes all later reservations fail. It may be called again.
func (g *Segment) Seal() { g.tail.Or(sealed) }

// Claimed returns how far the segment is claimed, the next number, and whether
// both are final.
func (g *Segment) Claimed() (end int, next uint64, final bool) {
	t := g.tail.Load()
	return int(uint32(t)) * 8, g.First + t&^sealed>>32, t&sealed != 0
}

// Committed reports whether the claim at offset at was committed; the record
// may be damaged.
func (g *Segment) Committed(at int) bool {
	return int32(uint32(g.State(at))) > 0
}

// PageSize is the smallest unit in which files lose data.
const PageSize = 4096

// Lines returns the lines in g. whole is false if a page of it cannot be read.
func (g *Segment) Lines() (lines []Line, whole bool) {
	defer g.EndGuard(debug.SetPanicOnFault(true))
	at, end, _ := g.Claimed()
	lines, _ = g.Old().LinesIn(g.b[:at], end)
	return lines, true
}

// Snapshot returns a copy of the claimed part of g, and the number of its pages
// that cannot be read. Those are filled with Poison.
func (g *Segment) Snapshot() (b []byte, unread int) {
	end, _, _ := g.Claimed()
	b = make([]byte, end)
	for at := 0; at < end; at += PageSize {
		to := min(at+PageSize, end)
		if !g.copyPage(b[at:to], g.b[at:to]) {
			unread++
			for i := range b[at:to] {
				b[at+i] = Poison
			}
		}
	}
	return b, unread
}

// copyPage returns false if the page cannot be read.
func (g *Segment) copyPage(to, from []byte) (ok bool) {
	defer g.EndGuard(debug.SetPanicOnFault(true))
	Prefetch(from) // reads in a system call, since the disk may take long
	copy(to, from)
	return true
}

// Old describes the segment as a later process sees it.
func (g *Segment) Old() *Old { return &Old{Identity: g.Identity, Start: g.Start} }

// IsMapped reports whether b is a mapping of a file.
func (g *Segment) IsMapped() bool { return g.free != nil && g.twin == nil }

// IsWritten reports whether b is memory that is written to a file.
func (g *Segment) IsWritten() bool { return g.twin != nil }

// Bytes returns the contents, including the header.
func (g *Segment) Bytes() []byte { return g.b }

// IsFree reports whether the word at offset at is 0: nothing was written there.
func (g *Segment) IsFree(at int) bool { return word(g.b, at).Load() == 0 }

// State returns the first word of the claim at offset at.
func (g *Segment) State(at int) uint64 { return stored(word(g.b, at).Load()) }

// Behind returns the offset after the committed record at offset at. If its
// length is damaged, that may be beyond the segment.
func (g *Segment) Behind(at int) int {
	size := Align(min(int(int32(uint32(g.State(at)))), len(g.b)))
	prefetchLines(g.b, at+aheadBytes, size)
	return at + size
}

// Record returns the record at offset at if there is a complete one of this
// segment that ends at or before end. Otherwise its number is 0.
func (g *Segment) Record(at, end int) (rec []byte, seq uint64, ok bool) {
	b := g.b[:end] // the bytes after end belong to the writers
	rec, seq, ok = recordAt(b, at, g.crc)
	prefetchLines(b, at+aheadBytes, len(rec))
	return rec, seq, ok
}

// setWord stores a word of the header, also in the file. A segment in memory is
// never recovered and has none. If it fails, the file may have the word or not.
func (g *Segment) setWord(at int, w uint64) (err error) {
	if g.free == nil {
		return nil
	}
	err = ErrGone // if the store faults
	defer g.EndGuard(debug.SetPanicOnFault(true))
	word(g.b, at).Store(stored(w))
	return g.header(at, at+8)
}
