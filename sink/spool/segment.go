// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"runtime/debug"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// A segment is a stretch of memory that records are put into, one behind the
// other, by any number of goroutines: the heap, or a mapped file. The code is
// the same for both.
//
// tail is how far it is claimed: offset/8 in the low 32 bits, and above them
// how many records that are; so one compare-and-swap takes a place and a number
// together, and records lie in the order of their numbers. The highest bit ends
// the claiming. It is no part of the file: after the death of the process what
// was claimed is found out from the records.
type segment struct {
	identity
	start
	b    []byte
	crc  uint32 // seed of the checksums
	drop func() // the reader has done with b; nil in memory
	told tally  // what the notice in it reports

	free    func()       // gives b back
	file    vfs.File     // its file, without a name, from when that is deleted on: free gives it back
	holders atomic.Int32 // the reader and the copier; the last one calls free
	twin    *twin        // what writes b to the file; nil if b is the file, or there is none

	resting bool // its pages were given back until it is read; Sink.mu protects it

	broken atomic.Bool  // b or its file failed: see Sink.retire
	voids  map[int]void // by offset, claims whose lines went elsewhere; Sink.mu protects it

	abandoned bool // a reader does not wait for all writers any more: b is never given back; Sink.mu protects it

	_    [64]byte // tail changes with each record, and the fields above never
	tail atomic.Uint64
	_    [64]byte
}

// A void is a claim without a record.
type void struct {
	size int
	seq  uint64
}

const (
	sealed    = uint64(1) << 63
	oneRecord = uint64(1) << 32
)

// newSegment makes a segment of b, which is all zeros, but for the header if it
// is a file. free gives b back, and is nil in memory.
func newSegment(b []byte, id identity, free func()) *segment {
	g := &segment{identity: id, b: b, crc: id.seed(), free: free}
	if free == nil {
		putHeader(b, id)
	} else {
		g.drop = g.letGo
		g.hold()
	}
	g.tail.Store(headerSize / 8)
	return g
}

// hold keeps b until letGo is called as often. The first holder is there from
// the beginning.
func (g *segment) hold() { g.holders.Add(1) }

// letGo frees b when the last holder is gone.
func (g *segment) letGo() {
	if g.holders.Add(-1) == 0 {
		g.free()
	}
}

// done is called when the reader has done with b, with the file if it is
// deleted. A mapping that was rescued stays, see rescue.
func (g *segment) done(file vfs.File) {
	if g.drop != nil && !g.abandoned {
		g.file = file
		g.drop()
	} else if file != nil {
		_ = file.Close() // nothing was written to it
	}
}

// begin takes the segment into use. No other goroutine can see it yet. If it
// reports false the segment is broken, and accepts no records.
func (g *segment) begin(s start) (ok bool) {
	defer g.endGuard(debug.SetPanicOnFault(true))
	g.start = s
	putStart(g.b, g.crc, s)
	err := g.header(64, 88)
	if err == nil {
		return true
	}
	g.twin.err = err
	g.twin.unclear = append(g.twin.unclear, patch{64, make([]byte, 24)}) // it is not in use
	_ = g.twin.clear()                                                   // tried again as long as the process lives
	return false
}

// fits reports whether a record fits into a segment of this size at all.
func fits(size int, segment int64) bool { return int64(align(size)) <= segment-headerSize }

// reserve claims the next size bytes, and the next number. ok is false if there
// is not that much left or the segment is sealed; then nothing has happened.
func (g *segment) reserve(size int) (at int, seq uint64, ok bool) {
	for {
		t := g.tail.Load()
		at = int(uint32(t)) * 8
		if t&sealed != 0 || align(size) > len(g.b)-at {
			return 0, 0, false
		}
		if g.tail.CompareAndSwap(t, t+oneRecord+uint64(align(size)/8)) {
			return at, g.first + t>>32, true
		}
	}
}

// write copies r to the place that reserve returned, and commits it. Until the
// last store no reader takes it for a record; before the copy it is marked with
// its length, so that a reader after a crash can skip it. No user code runs in
// between. Afterwards the writer does not touch the segment again: a reader
// that has seen all records committed may unmap it.
//
// It reports false if b is a mapping that is gone, or the file of a twin
// failed: then there is no such record, and there will be none. The same holds
// if r cannot be read: then foreign is what the caller panics with.
func (g *segment) write(at, size int, seq uint64, r *nib.Record, message int) (ok bool, foreign any) {
	switch {
	case g.free == nil:
		g.put(at, size, seq, r, message)
		return true, nil
	case g.twin != nil:
		return g.twin.write(g, at, size, seq, r, message), nil
	}
	return g.writeMapped(at, size, seq, r, message)
}

func (g *segment) put(at, size int, seq uint64, r *nib.Record, message int) {
	b := g.b[at : at+size : at+size]
	w := word(b, 0)
	w.Store(stored(uint64(uint32(-int32(size)))))
	w.Store(stored(putRecord(b, r, message, seq, g.gen, g.crc)))
}

// seal ends the claiming. It may be called again.
func (g *segment) seal() {
	for {
		t := g.tail.Load()
		if t&sealed != 0 || g.tail.CompareAndSwap(t, t|sealed) {
			return
		}
	}
}

// claimed returns how far the segment is claimed, the number that comes next,
// and whether that will stay so.
func (g *segment) claimed() (end int, next uint64, final bool) {
	t := g.tail.Load()
	return int(uint32(t)) * 8, g.first + t&^sealed>>32, t&sealed != 0
}

// committed reports whether the claim at offset at is a record now, or was
// committed but is damaged.
func (g *segment) committed(at int) bool {
	return int32(uint32(stored(word(g.b, at).Load()))) > 0
}
