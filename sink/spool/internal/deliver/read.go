// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"runtime/debug"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// fill reads records into the batch. ended reports that the segment has no more
// records, and busy that the next one is not committed yet.
func (d *Delivery) fill() (ended, busy bool) {
	ended, busy = d.fillOne()
	for ended && d.ahead() {
		ended, busy = d.fillOne()
	}
	return ended, busy
}

// fillOne reads from one segment.
func (d *Delivery) fillOne() (ended, busy bool) {
	l := d.reading
	if l.Live == nil {
		return d.fillOld(&l.Old)
	}
	if !d.entered {
		<-d.Options.Safe
		d.entered, d.at, d.want, d.witness = true, segment.HeaderSize, l.First, false
		d.skipUnused(l.First)
		d.passSettled(l.Live)
	}
	if d.rescued {
		return d.fillRescued(l.Live)
	}
	return d.fillGuarded(l.Live)
}

// passSettled skips the records at the beginning of a segment that the previous
// process has settled. The length of a damaged record may not lead to the next
// one.
func (d *Delivery) passSettled(g *segment.Segment) {
	settled := d.position()
	defer g.EndGuard(debug.SetPanicOnFault(true)) // fillLive will fault on the same page
	for end, _, _ := g.Claimed(); d.want < settled && d.at < end; d.want++ {
		rec, seq, _ := g.Record(d.at, end)
		if seq != d.want {
			d.rescue(g, errChanged)
			return
		}
		d.at += segment.Align(len(rec))
	}
}

// ahead moves on to the next segment while the batch has records of this one.
// Both must be of this process, with no numbers missing between them: otherwise
// the batch has to be settled first. At most half of the spool is held in this
// way, because ActionDropOld cannot drop it.
func (d *Delivery) ahead() bool {
	if !d.Overlaps || len(d.batch) == 0 {
		return false
	}
	var pages []byte
	defer func() { segment.Prefetch(pages) }() // runs without the lock
	d.chain.Lock()
	defer d.chain.Unlock()
	next := d.nextLink(d.reading)
	if next == nil || next.Live == nil || next.First != d.want ||
		int64(next.Number-d.cur.Number+1)*d.Options.SegmentSize > d.Options.Size/2 {
		return false
	}
	d.reading, d.at, d.want, d.witness = next, segment.HeaderSize, next.First, false
	pages = next.evictedPages()
	return true
}

// fillLive reads from a segment of this process. It seldom checks how far the
// segment is claimed, since each check takes the cache line of the tail from
// the writers.
func (d *Delivery) fillLive(g *segment.Segment) (ended, busy bool) {
	for end := 0; ; {
		if d.at >= end {
			var final bool
			if end, _, final = g.Claimed(); d.at == end {
				return final, false
			}
		}
		if !g.Committed(d.at) {
			v, ok := g.VoidAt(d.at)
			if !ok && len(d.batch) == 0 && d.wiped(g) {
				d.rescue(g, errChanged)
				return false, false
			}
			if !ok || len(d.batch) > 0 {
				g.Probe()
				return false, !ok
			}
			d.skipVoid(v)
			continue
		}
		rec, seq, _ := g.Record(d.at, end)
		switch {
		case seq != d.want:
			if len(d.batch) > 0 {
				return false, false // deliver the batch first
			}
			if !d.skipDamaged(g, end) {
				d.rescue(g, errChanged)
				return false, false
			}
		case d.Dest != nil && !segment.IsFor(rec, d.Options.Name):
			if len(d.batch) > 0 {
				return false, false // records are settled in order
			}
			d.passForeign(seq)
			d.at, d.want, d.witness = d.at+segment.Align(len(rec)), d.want+1, false
		case d.Dest != nil && !d.add(rec, seq >= d.opened):
			return false, false
		default:
			d.at += segment.Align(len(rec))
			d.want++
			d.witness = !g.IsFree(d.at - 8)
		}
	}
}

// wiped reports whether the claim at d.at is in a page whose contents were
// erased, so that its writer seems not to have begun. The delivery would wait
// for such a claim forever. The proof is the end of the previous record in the
// same page, which was there when that record was read. Without it, as at the
// beginning of a page, the cases cannot be distinguished, because a writer may
// be suspended for any length of time.
func (r *reader) wiped(g *segment.Segment) bool {
	return r.witness && r.at%segment.PageSize != 0 && g.IsFree(r.at) && g.IsFree(r.at-8)
}

// skipDamaged skips a damaged record, although only this process has the file
// open. It returns false if the length of the record does not lead to the next
// one.
func (d *Delivery) skipDamaged(g *segment.Segment, end int) bool {
	if behind := g.Behind(d.at); d.leads(g, behind, end) {
		if d.passAbsent(d.want, d.want+1) == 0 {
			d.settleMissing(1, 1)
		}
		d.at, d.want, d.witness = behind, d.want+1, false
		return true
	}
	return false
}

// leads reports whether the record after a damaged one is at offset at.
func (r *reader) leads(g *segment.Segment, at, end int) bool {
	_, seq, _ := g.Record(at, end)
	return at == end || seq == r.want+1
}

// fillOld reads from a segment that another process has left. busy reports that
// it cannot be read now.
func (d *Delivery) fillOld(g *segment.Old) (ended, busy bool) {
	if d.Dest == nil || d.position() >= g.End {
		return true, false
	}
	if d.scan == nil {
		b, torn, ok := d.readOld(g)
		if !ok {
			return false, true
		}
		d.again, d.Pause = rereading{}, 0
		d.scan, d.torn = segment.NewScanner(b, g.Identity, g.First), torn || g.Damaged
		d.skipUnused(g.First)
	}
	return d.fillScanned(g.End, func(seq, missing uint64, gap segment.Gap) {
		if missing -= d.passAbsent(seq-missing, seq); missing == 0 {
			return
		}
		never := g.NeverGiven(seq, missing)
		if never == missing && gap.Damaged {
			never-- // the segment has at least one record
		}
		damaged := uint64(0)
		if gap.Damaged || g.Whole || seq == g.End && d.torn {
			damaged = missing - never
		}
		d.settleMissing(missing-never, damaged)
		d.neverGiven(never)
	}), false
}

// fillScanned reads from d.scan the records before number end. miss settles the
// missing numbers before number seq, whose records are gone.
func (d *Delivery) fillScanned(
	end uint64, miss func(seq, missing uint64, gap segment.Gap),
) (ended bool) {
	sc, settled := d.scan, d.position()
	for {
		before := *sc
		rec, gap, ok := sc.Next()
		seq := sc.Want - 1 // number of rec
		if !ok || seq >= end {
			seq = end
		}
		if missing := seq - min(max(before.Want, settled), seq); missing > 0 {
			if len(d.batch) > 0 {
				*sc = before // records are settled in order
				return false
			}
			miss(seq, missing, gap)
		}
		if seq == end {
			return len(d.batch) == 0
		}
		if seq < settled {
			continue // settled by another process, or read again
		}
		foreign := !segment.IsFor(rec, d.Options.Name)
		if foreign && len(d.batch) == 0 {
			d.passForeign(seq)
		} else if foreign || !d.add(rec, d.reading.Live != nil && seq >= d.opened) {
			*sc = before
			return false
		}
	}
}

// neverGiven subtracts n numbers that were counted as recovered but never used.
func (d *account) neverGiven(n uint64) {
	d.chain.Lock()
	d.Settled += n
	d.Recovered -= n
	d.moved()
}

// add appends a copy of rec to the batch, if there is room.
func (d *Delivery) add(rec []byte, own bool) bool {
	if len(d.batch) == cap(d.batch) ||
		len(d.batch) > 0 && len(d.buf)+len(rec) > d.bufSize && !d.swap(len(rec)) {
		return false
	}
	n := len(d.buf)
	d.buf = append(d.buf, rec...)
	d.batch = d.batch[:len(d.batch)+1]
	r := &d.batch[len(d.batch)-1]
	if !segment.DecodeInto(r, d.buf[n:len(d.buf):len(d.buf)], own, d.names) {
		*r = nib.Record{Seq: segment.SeqOf(rec)} // a record without a line, which deliver drops
	}
	r.Spool = d.reading.StreamOf(rec)
	return true
}

// swap switches to the other buffer for size bytes, unless it is still in
// use. A long record gets a batch to itself.
func (b *buffers) swap(size int) bool {
	if !b.Overlaps || b.early > 0 || max(size, len(b.buf)) > b.bufSize {
		return false
	}
	b.buf, b.other, b.early = b.emptied(b.other), b.buf, len(b.batch)
	return true
}

// retain reduces the batch to rest, its last records.
func (b *buffers) retain(rest []nib.Record) {
	b.early -= min(b.early, len(b.batch)-len(rest))
	b.batch = b.batch[:copy(b.batch, rest)]
	if len(rest) == 0 {
		b.buf = b.emptied(b.buf)
	}
}

// emptied returns a buffer for reuse, or a new one if it was grown for a long
// record.
func (b *buffers) emptied(buf []byte) []byte {
	if cap(buf) > b.bufSize {
		return make([]byte, 0, b.bufSize)
	}
	return buf[:0]
}

// fillGuarded is fillLive for a mapping that may be gone. Records read before a
// fault are delivered first.
func (d *Delivery) fillGuarded(g *segment.Segment) (ended, busy bool) {
	defer d.endGuard(g, debug.SetPanicOnFault(true))
	return d.fillLive(g)
}

func (d *Delivery) endGuard(g *segment.Segment, before bool) {
	debug.SetPanicOnFault(before)
	p := recover()
	switch {
	case p == nil:
	case !g.IsFault(p):
		panic(p)
	case len(d.batch) == 0:
		d.rescue(g, segment.ErrGone)
	}
}

// skipVoid skips a void claim of size bytes, whose line got another number. It
// is counted in d.Skipped.
func (d *Delivery) skipVoid(size int) {
	d.at, d.want, d.witness = d.at+size, d.want+1, false
	if d.Dest != nil {
		d.skip(1)
	}
}
