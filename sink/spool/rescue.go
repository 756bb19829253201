// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"runtime/debug"
	"time"
)

// A live segment is rescued when its records cannot be followed one by one any
// more: a page cannot be read, or does not have what was written. The segment
// is sealed, so that lines go on in another one, and is read from a copy in
// memory, in which records are looked for as in that of a dead process. What is
// missing is taken from the copier's file. Delivery reads again, with growing
// pauses, as long as numbers are missing that may still come: of pages that may
// be readable later, as for old segments (see pages.go), and of calls that are
// at work. Then they count as damaged.

// rescueTries is how often a segment is read of which nothing more can come,
// but from calls that are at work.
const rescueTries = 4

var errChanged = errors.New("written records are gone")

// rescue begins to rescue g, for a reason. Writers may still be at work there,
// so it is never unmapped.
func (d *deliverer) rescue(g *segment, why error) {
	g.seal()
	d.s.mu.Lock()
	g.abandoned = true
	d.s.mu.Unlock()
	d.s.fault("read a segment that is in use", why)
	d.rescued, d.again, d.pause = true, rereading{}, 0
}

// fillRescued reads from a segment that is rescued.
func (d *deliverer) fillRescued(g *segment) (ended, busy bool) {
	_, end, _ := g.claimed()
	if d.dest == nil {
		return true, false
	}
	if d.scan == nil {
		b, ok := d.readRescued(g)
		if !ok {
			return false, true
		}
		d.scan = newScanner(b, g.identity, g.first)
	}
	for len(d.batch) < cap(d.batch) {
		before, settled := *d.scan, d.position()
		rec, _, ok := d.scan.next()
		seq := d.scan.want - 1
		if !ok || seq >= end {
			seq = end
		}
		missing := max(before.want, settled) < seq
		switch {
		case len(d.batch) > 0 && (missing || seq == end):
			*d.scan = before // settled in order
			return false, false
		case missing:
			d.giveUp(g, seq)
		}
		switch {
		case seq == end:
			return true, false
		case seq >= settled && !d.add(rec, seq >= d.s.opened):
			*d.scan = before
			return false, false
		}
	}
	return false, false
}

// giveUp settles the numbers from the first that is not settled to seq. They
// are damaged, but for those of void claims.
func (d *deliverer) giveUp(g *segment, seq uint64) {
	s := d.s
	s.mu.Lock()
	void := g.voidsIn(d.settled, seq)
	d.dropped.add(damaged, levelUnknown, seq-d.settled-void)
	d.settled = seq
	d.skips -= void
	s.publish()
	s.broadcast()
	s.mu.Unlock()
	d.note()
}

// readRescued returns what can be read of g. If that is not all, and more may
// come, ok is false, and the delivery has waited before it reads again.
func (d *deliverer) readRescued(g *segment) (b []byte, ok bool) {
	s := d.s
	b, unread := g.snapshot()
	complete := d.missing(g, b) == 0
	if !complete && s.copier != nil {
		b = d.withCopy(g, b)
		complete = d.missing(g, b) == 0
	}
	if d.again.tries == 0 {
		d.again.since = time.Now()
	}
	d.again.tries++
	hopeless := unread == 0 || s.isCutOff(g)
	switch {
	case complete, hopeless && d.again.tries >= rescueTries:
	case !hopeless && d.again.tries >= giveUpTries && time.Since(d.again.since) >= giveUpTime:
		s.fault("give up pages of a segment that could not be read for "+giveUpTime.String(), errGone)
		d.quarantine()
	default:
		if d.again.tries > 1 && unread > 0 {
			s.fault("read a segment that is in use", errGone)
		}
		d.wait()
		return nil, false
	}
	d.again, d.pause = rereading{}, 0
	return b, true
}

// withCopy returns b with the records that only the copier's file has.
func (d *deliverer) withCopy(g *segment, b []byte) []byte {
	kept, err := d.s.dir.bytes(copyName(g.number), g.size)
	if err != nil && !isPartial(err) {
		if !errors.Is(err, fs.ErrNotExist) {
			d.s.fault("read the copy of a segment", err)
		}
		return b
	}
	return complete(&oldSegment{identity: g.identity, start: g.start}, b, kept)
}

// missing returns how many records that are not settled b does not have, of
// those that are or may come.
func (d *deliverer) missing(g *segment, b []byte) uint64 {
	_, end, _ := g.claimed()
	settled, found := d.position(), uint64(0)
	for sc := newScanner(b, g.identity, g.first); ; {
		_, _, ok := sc.next()
		if !ok || sc.want > end {
			break
		}
		if sc.want > settled {
			found++
		}
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return end - min(settled, end) - g.voidsIn(settled, end) - found
}

// voidsIn returns how many of the numbers from a first one to an end have void
// claims. Sink.mu is held.
func (g *segment) voidsIn(from, to uint64) (n uint64) {
	for _, v := range g.voids {
		if v.seq >= from && v.seq < to {
			n++
		}
	}
	return n
}

// snapshot returns a copy of what is claimed of g, and how many pages of it
// cannot be read. These are full of poison.
func (g *segment) snapshot() (b []byte, unread int) {
	end, _, _ := g.claimed()
	b = make([]byte, end)
	for at := 0; at < end; at += pageSize {
		to := min(at+pageSize, end)
		if !g.copyPage(b[at:to], g.b[at:to]) {
			unread++
			for i := range b[at:to] {
				b[at+i] = poison
			}
		}
	}
	return b, unread
}

// copyPage reports false if a page cannot be read.
func (g *segment) copyPage(to, from []byte) (ok bool) {
	defer g.endGuard(debug.SetPanicOnFault(true))
	fetch(from) // in a system call, since the disk may take long
	copy(to, from)
	return true
}

// isCutOff reports whether the file of g was truncated or removed.
func (s *Sink) isCutOff(g *segment) bool {
	info, err := s.dir.fs.Lstat(s.dir.name(segmentName(g.number)))
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size < g.size
}
