// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"runtime/debug"

	"github.com/nib-log/nib"
)

// fill reads records into the batch. ended reports that the segment has no more
// of them, and busy that the next one is not committed yet.
func (d *deliverer) fill() (ended, busy bool) {
	ended, busy = d.fillOne()
	for ended && d.ahead() {
		ended, busy = d.fillOne()
	}
	return ended, busy
}

// fillOne reads from one segment.
func (d *deliverer) fillOne() (ended, busy bool) {
	l := d.reading
	if l.live == nil {
		return d.fillOld(&l.oldSegment)
	}
	if !d.entered {
		<-d.s.safe
		d.entered, d.at, d.want, d.witness = true, headerSize, l.first, false
		d.skip(l.first)
		d.passSettled(l.live)
	}
	if d.rescued {
		return d.fillRescued(l.live)
	}
	return d.fillGuarded(l.live)
}

// passSettled steps over the records at the beginning of a segment that the
// process before has settled.
func (d *deliverer) passSettled(g *segment) {
	settled := d.position()
	defer g.endGuard(debug.SetPanicOnFault(true)) // fillLive comes to the same page
	for end, _, _ := g.claimed(); d.want < settled && d.at < end && g.committed(d.at); d.want++ {
		d.at += align(int(uint32(stored(word(g.b, d.at).Load()))))
	}
}

// ahead goes on to the next segment while the batch has records of this one.
// Both are of this process, and no numbers are missing between them: else what
// is in the batch has to be settled first. At most half of the spool is kept in
// this way, for ActionDropOld takes none of it.
func (d *deliverer) ahead() bool {
	s := d.s
	if !d.overlaps || len(d.batch) == 0 {
		return false
	}
	var pages []byte
	defer func() { fetch(pages) }() // without the lock
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.behind(d.reading)
	if next == nil || d.rescued || d.reading.live == nil || next.live == nil || next.first != d.want ||
		int64(next.number-d.cur.number+1)*s.c.SegmentSize > s.c.Size/2 {
		return false
	}
	d.reading, d.at, d.want, d.witness = next, headerSize, next.first, false
	pages = next.rouse()
	return true
}

// fillLive reads from a segment of this process.
func (d *deliverer) fillLive(g *segment) (ended, busy bool) {
	for {
		end, _, final := g.claimed()
		if d.at == end {
			return final, false
		}
		if !g.committed(d.at) {
			v, ok := d.s.voided(g, d.at)
			if !ok && len(d.batch) == 0 && d.wiped(g) {
				d.rescue(g, errChanged)
				return false, false
			}
			if !ok || len(d.batch) > 0 {
				g.probe()
				return false, !ok
			}
			d.stepOver(v)
			continue
		}
		rec, seq, ok := recordAt(g.b[:end], d.at, g.gen, g.crc)
		switch {
		case !ok || seq != d.want:
			if len(d.batch) > 0 {
				return false, false // deliver that first
			}
			if !d.lost(g, end) {
				d.rescue(g, errChanged)
				return false, false
			}
		case d.dest != nil && !d.add(rec, seq >= d.s.opened):
			return false, false
		default:
			d.at += align(len(rec))
			d.want++
			d.witness = word(g.b, d.at-8).Load() != 0
		}
	}
}

// wiped reports whether the claim at d.at is in a page whose contents were
// erased, so that it looks as if its writer had not begun. Such a claim would
// be waited for forever. The proof is the end of the record before, in the same
// page, which was there when that was read. Without it, as at the beginning of
// a page, it cannot be decided, and a writer may be suspended for any time.
func (d *deliverer) wiped(g *segment) bool {
	return d.witness && d.at%pageSize != 0 && word(g.b, d.at).Load() == 0 && word(g.b, d.at-8).Load() == 0
}

// pageSize is what files lose data in multiples of, at least.
const pageSize = 4096

// lost steps over a record that is not what was written, although only this
// process has the file. It reports false if the length of the record does not
// lead to the next one.
func (d *deliverer) lost(g *segment, end int) bool {
	n := align(int(int32(uint32(stored(word(g.b, d.at).Load())))))
	if behind := d.at + n; n >= recordHead && behind <= end && d.leads(g, behind, end) {
		d.at, d.want, d.witness = behind, d.want+1, false
		d.settle(1, 1)
		return true
	}
	return false
}

// leads reports whether the record behind a damaged one is at offset at.
func (d *deliverer) leads(g *segment, at, end int) bool {
	if at == end {
		return true
	}
	_, seq, ok := recordAt(g.b[:end], at, g.gen, g.crc)
	return ok && seq == d.want+1
}

// fillOld reads from a segment that another process has left. busy reports that
// it cannot be read now.
func (d *deliverer) fillOld(g *oldSegment) (ended, busy bool) {
	if d.dest == nil || !d.entered && d.position() >= g.end {
		return true, false
	}
	if d.scan == nil {
		b, torn, ok := d.readOld(g)
		if !ok {
			return false, true
		}
		d.entered, d.scan, d.torn = true, newScanner(b, g.identity, g.first), torn || g.damaged
		d.skip(g.first)
	}
	sc, settled := d.scan, d.position()
	for len(d.batch) < cap(d.batch) {
		before := *sc
		rec, gap, ok := sc.next()
		seq := sc.want - 1 // of rec
		if !ok || seq >= g.end {
			seq = g.end
		}
		missing := seq - min(max(before.want, settled), seq)
		if missing > 0 && len(d.batch) > 0 {
			*sc = before // settled in order
			return false, false
		}
		if missing > 0 {
			never := g.neverGiven(seq, missing)
			if never == missing && gap.damaged {
				never-- // there was one record at least
			}
			d.gap(missing-never, gap.damaged || seq == g.end && d.torn)
			d.neverGiven(never)
			settled = d.position()
		}
		if seq == g.end {
			ended = len(d.batch) == 0
			if !ended {
				*sc = before
			}
			return ended, false
		}
		if seq < settled {
			continue // settled by the other process
		}
		if !d.add(rec, false) {
			*sc = before
			return false, false
		}
	}
	return false, false
}

// neverGiven returns how many of the missing numbers before seq were probably
// never given: those behind the last record, if a start could not read that and
// took the highest number that it could have.
func (g *oldSegment) neverGiven(seq, missing uint64) uint64 {
	if seq < g.end {
		return 0
	}
	return min(missing, g.end-g.sure)
}

// neverGiven takes n numbers back that were counted as recovered, and were
// never given.
func (d *deliverer) neverGiven(n uint64) {
	if n == 0 {
		return
	}
	s := d.s
	s.mu.Lock()
	d.settled += n
	d.recovered -= n
	s.broadcast()
	s.mu.Unlock()
	d.note()
}

// gap settles numbers without records.
func (d *deliverer) gap(n uint64, isDamaged bool) {
	if isDamaged {
		d.settle(n, n)
	} else {
		d.settle(n, 0)
	}
}

// add puts a copy of rec into the batch, if there is room.
func (d *deliverer) add(rec []byte, own bool) bool {
	if len(d.batch) == cap(d.batch) || len(d.batch) > 0 && len(d.buf)+len(rec) > d.bufSize && !d.swap(len(rec)) {
		return false
	}
	n := len(d.buf)
	d.buf = append(d.buf, rec...)
	r, ok := decode(d.buf[n:len(d.buf):len(d.buf)], own, d.names)
	if !ok {
		r = nib.Record{Seq: le.Uint64(rec[8:])} // without a line; deliver drops it
	}
	r.Spool = d.s.id
	d.batch = append(d.batch, r)
	return true
}

// swap goes on in the other buffer, if nothing in it is needed any more, for
// size bytes. A long record stays alone.
func (d *deliverer) swap(size int) bool {
	if !d.overlaps || d.early > 0 || max(size, len(d.buf)) > d.bufSize {
		return false
	}
	d.buf, d.other, d.early = d.emptied(d.other), d.buf, len(d.batch)
	return true
}

// retain makes rest, the last records of the batch, all of it.
func (d *deliverer) retain(rest []nib.Record) {
	d.early -= min(d.early, len(d.batch)-len(rest))
	d.batch = d.batch[:copy(d.batch, rest)]
	if len(rest) == 0 {
		d.buf = d.emptied(d.buf)
	}
}

// emptied returns a buffer to use again: that of a long record is not kept.
func (d *deliverer) emptied(b []byte) []byte {
	if cap(b) > d.bufSize {
		return make([]byte, 0, d.bufSize)
	}
	return b[:0]
}

// quiet reports whether g has no writers any more: it is sealed, and all that
// was claimed is committed. It is false if its mapping is gone.
func (g *segment) quiet() (is bool) {
	defer g.endGuard(debug.SetPanicOnFault(true))
	end, _, final := g.claimed()
	at := headerSize
	for at < end && g.committed(at) {
		at += align(int(uint32(stored(word(g.b, at).Load()))))
	}
	return final && at == end
}
