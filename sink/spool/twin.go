// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// A twin is the file of a segment where files are not mapped. Records are made
// in memory, by the same code, and written to the same place of the file before
// the call returns: then they are in the page cache, as those of a mapping.
//
// Between copy and commit a record is ready: its length is negative and its
// checksum is there. One of the goroutines that want theirs written takes the
// lock, writes all ready records, for itself and the others, and commits them.
// No goroutine waits for a record that is not ready: if one is in the way, each
// writes only its own.
type twin struct {
	file vfs.File

	mu      sync.Mutex
	written int    // all records before are in the file
	buf     []byte // what is written, as it will be
	err     error  // of the first write that failed: there will be no other but of patches
	unclear []patch
}

// A patch is written where a write that failed may have left bytes that a start
// would misunderstand.
type patch struct {
	at int
	b  []byte
}

// keptBuffer is how large a buffer may be that stays.
const keptBuffer = 256 << 10

// write is segment.write.
func (t *twin) write(g *segment, at, size int, seq uint64, r *nib.Record, message int) bool {
	b := g.b[at : at+size : at+size]
	w := word(b, 0)
	w.Store(stored(uint64(uint32(-int32(size)))))
	w.Store(stored(negated(putRecord(b, r, message, seq, g.gen, g.crc))))

	t.mu.Lock()
	defer t.mu.Unlock()
	if g.committed(at) {
		return true
	}
	if t.err != nil {
		return false
	}
	from, to := t.written, t.ready(g)
	whole := to > at
	if !whole {
		from, to = at, at+align(size)
	}
	if t.err = t.commit(g, from, to); t.err != nil {
		t.takeBack(g, from, to)
		return false
	}
	if whole {
		t.written = to
	}
	return true
}

// negated turns the first word of a record into that of one that is ready, and
// back.
func negated(w uint64) uint64 { return w>>32<<32 | uint64(-uint32(w)) }

// ready returns the offset of the first claim that is neither ready nor
// committed. mu is held.
func (t *twin) ready(g *segment) int {
	end, _, _ := g.claimed()
	at := t.written
	for at < end {
		w := stored(word(g.b, at).Load())
		n := int(int32(uint32(w)))
		if n == 0 || n < 0 && w>>32 == 0 { // a checksum may be 0: then its own writer writes it
			break
		}
		at += align(max(n, -n))
	}
	return at
}

// commit writes the records in [from, to), all ready or committed, and commits
// them. mu is held.
func (t *twin) commit(g *segment, from, to int) error {
	t.buf = append(t.buf[:0], g.b[from:to]...)
	each := func(do func(at int, w uint64)) {
		for at := from; at < to; {
			w := stored(word(g.b, at).Load())
			if int32(uint32(w)) < 0 {
				w = negated(w)
			}
			do(at, w)
			at += align(int(uint32(w)))
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
		if !g.committed(at) { // the others are read by now
			word(g.b, at).Store(stored(w))
		}
	})
	return nil
}

// takeBack puts marks where a write that failed may have brought a whole
// record, or a part of one, into the file. Their lines get other numbers: a
// start would find them twice. mu is held.
func (t *twin) takeBack(g *segment, from, to int) {
	for at := from; at < to; {
		w := stored(word(g.b, at).Load())
		n := int(int32(uint32(w)))
		if n < 0 {
			t.unclear = append(t.unclear, patch{at, le.AppendUint64(nil, uint64(uint32(n)))})
		}
		at += align(max(n, -n))
	}
	_ = t.clear() // tried again as long as the process lives
}

// clear writes the patches that could not be written before. mu is held.
func (t *twin) clear() error {
	for len(t.unclear) > 0 {
		p := t.unclear[0]
		if _, err := t.file.WriteAt(p.b, int64(p.at)); err != nil {
			return err
		}
		t.unclear = t.unclear[1:]
	}
	return nil
}

// patch writes the patches that segments whose files failed still need, and
// reports whether any are left.
func (s *Sink) patch() (left bool) {
	s.mu.Lock()
	var list []*segment
	for _, l := range s.chain {
		if g := l.live; g != nil && g.twin != nil && !l.none {
			g.hold()
			list = append(list, g)
		}
	}
	s.mu.Unlock()
	for _, g := range list {
		g.twin.mu.Lock()
		left = g.twin.clear() != nil || left
		g.twin.mu.Unlock()
		g.letGo()
	}
	return left
}

// whole reports whether all claims of a sealed segment are in its file, and
// which number follows them. Then no writer uses its bytes any more, except to
// see that.
func (t *twin) whole(g *segment) (next uint64, whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	end, next, final := g.claimed()
	if t.err != nil || !final {
		return 0, false
	}
	for at := headerSize; at < end; {
		if !g.committed(at) {
			return 0, false
		}
		at += align(int(uint32(stored(word(g.b, at).Load()))))
	}
	return next, true
}

// header writes bytes of the segment's header, which is a mapping's own matter.
func (g *segment) header(from, to int) error {
	if g.twin == nil {
		return nil
	}
	_, err := g.twin.file.WriteAt(g.b[from:to], int64(from))
	return err
}
