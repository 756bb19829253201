// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// A twin is the file of a segment where files are not mapped. Records are made
// in memory, by the same code, and written to the same offset of the file
// before the call returns. Then they are in the page cache, like records of a
// mapping.
//
// Between copy and commit a record is ready: its length is negative and its
// checksum is there. One of the goroutines whose records are to be written
// takes the lock, writes all ready records, and commits them. No goroutine
// waits for a record that is not ready: if one is in the way, each writes only
// its own.
type twin struct {
	file vfs.File

	mu      sync.Mutex
	written int     // all records before this offset are in the file
	buf     []byte  // the bytes to write, as committed
	err     error   // error of the first failed write, after which only patches are written
	patches []patch // not written yet
}

// A patch overwrites bytes that a failed write may have left and that a start
// would misinterpret.
type patch struct {
	at int
	b  []byte
}

// keptBuffer is the maximum size of a buffer that is kept for reuse.
const keptBuffer = 256 << 10

// write is Segment.Write for a twin.
func (t *twin) write(g *Segment, at, size int, seq uint64, r *nib.Record, message int) bool {
	b := g.b[at : at+size : at+size]
	w := word(b, 0)
	w.Store(stored(uint64(uint32(-int32(size)))))
	w.Store(stored(negated(PutRecord(b, r, message, seq, g.label, g.crc))))

	t.mu.Lock()
	defer t.mu.Unlock()
	if g.Committed(at) {
		return true
	}
	if t.err != nil {
		return false
	}
	from, to := t.written, t.ready(g)
	whole := to > at
	if !whole {
		from, to = at, at+Align(size)
	}
	if t.err = t.commit(g, from, to); t.err != nil {
		t.markUnwritten(g, from, to)
		return false
	}
	if whole {
		t.written = to
	}
	return true
}

// negated converts the first word of a record between committed and ready.
func negated(w uint64) uint64 { return w>>32<<32 | uint64(-uint32(w)) }

// ready returns the offset of the first claim that is neither ready nor
// committed. mu is held.
func (t *twin) ready(g *Segment) int {
	end, _, _ := g.Claimed()
	at := t.written
	for at < end {
		w := g.State(at)
		n := int(int32(uint32(w)))
		if n <= 0 && w>>32 == 0 { // a checksum may be 0: then its own writer writes it
			break
		}
		at += Align(max(n, -n))
	}
	return at
}

// commit writes the records in [from, to), all ready or committed, and commits
// them. mu is held.
func (t *twin) commit(g *Segment, from, to int) error {
	t.buf = append(t.buf[:0], g.b[from:to]...)
	each := func(do func(at int, w uint64)) {
		for at := from; at < to; {
			w := g.State(at)
			if int32(uint32(w)) < 0 {
				w = negated(w)
			}
			do(at, w)
			at += Align(int(uint32(w)))
		}
	}
	each(func(at int, w uint64) { le.PutUint64(t.buf[at-from:], w) })
	_, err := t.file.WriteAt(t.buf, int64(from))
	if cap(t.buf) > keptBuffer {
		t.buf = nil
	}
	if err != nil {
		return err
	}
	each(func(at int, w uint64) {
		if !g.Committed(at) { // committed records may be read already
			word(g.b, at).Store(stored(w))
		}
	})
	return nil
}

// markUnwritten writes marks where a failed write may have written records or
// parts of them. Their lines get other numbers, so a start would find them
// twice. mu is held.
func (t *twin) markUnwritten(g *Segment, from, to int) {
	for at := from; at < to; {
		w := g.State(at)
		n := int(int32(uint32(w)))
		if n < 0 {
			t.patches = append(t.patches, patch{at, le.AppendUint64(nil, uint64(uint32(n)))})
		}
		at += Align(max(n, -n))
	}
	_ = t.writePatches() // retried until the process ends
}

// writePatches writes the patches that could not be written before. mu is held.
func (t *twin) writePatches() error {
	for len(t.patches) > 0 {
		p := t.patches[0]
		if _, err := t.file.WriteAt(p.b, int64(p.at)); err != nil {
			return err
		}
		t.patches = t.patches[1:]
	}
	return nil
}

// Whole reports whether all records of a sealed segment are in its file, and
// nothing that a start would misinterpret. Then writers no longer use its
// bytes, except to check that.
func (g *Segment) Whole() bool {
	g.twin.mu.Lock()
	defer g.twin.mu.Unlock()
	return len(g.twin.patches) == 0 && g.HasNoWriters()
}

// header writes bytes of the segment's header to its file. A mapping needs no
// write.
func (g *Segment) header(from, to int) error {
	if g.twin == nil || g.twin.file == nil {
		return nil
	}
	_, err := g.twin.file.WriteAt(g.b[from:to], int64(from))
	return err
}

// Patch writes the pending patches, and reports whether any remain.
func (g *Segment) Patch() (left bool) {
	g.twin.mu.Lock()
	defer g.twin.mu.Unlock()
	return g.twin.writePatches() != nil
}

// SetFile sets the file that b is written to, and returns the previous one.
func (g *Segment) SetFile(f vfs.File) (before vfs.File) {
	before, g.twin.file = g.twin.file, f
	return before
}
