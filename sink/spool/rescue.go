// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
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
func (d *deliverer) rescue(g *segment.Segment, why error) {
	g.Seal()
	d.s.mu.Lock()
	g.Abandon()
	d.s.mu.Unlock()
	d.s.fault("read a segment that is in use", why)
	d.rescued, d.again, d.pause = true, rereading{}, 0
}

// fillRescued reads from a segment that is rescued.
func (d *deliverer) fillRescued(g *segment.Segment) (ended, busy bool) {
	_, end, _ := g.Claimed()
	if d.dest == nil {
		return true, false
	}
	if d.scan == nil {
		b, ok := d.readRescued(g)
		if !ok {
			return false, true
		}
		d.scan = segment.NewScanner(b, g.Identity, g.First)
	}
	for len(d.batch) < cap(d.batch) {
		before, settled := *d.scan, d.position()
		rec, _, ok := d.scan.Next()
		seq := d.scan.Want - 1
		if !ok || seq >= end {
			seq = end
		}
		missing := max(before.Want, settled) < seq
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
func (d *deliverer) giveUp(g *segment.Segment, seq uint64) {
	s := d.s
	s.mu.Lock()
	void := g.VoidsIn(d.settled, seq)
	d.dropped.Add(segment.CauseDamaged, segment.LevelUnknown, seq-d.settled-void)
	d.settled = seq
	d.skips -= void
	s.publish()
	s.broadcast()
	s.mu.Unlock()
	d.note()
}

// readRescued returns what can be read of g. If that is not all, and more may
// come, ok is false, and the delivery has waited before it reads again.
func (d *deliverer) readRescued(g *segment.Segment) (b []byte, ok bool) {
	s := d.s
	b, unread := g.Snapshot()
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
		s.fault("give up pages of a segment that could not be read for "+giveUpTime.String(), segment.ErrGone)
		d.quarantine()
	default:
		if d.again.tries > 1 && unread > 0 {
			s.fault("read a segment that is in use", segment.ErrGone)
		}
		d.wait()
		return nil, false
	}
	d.again, d.pause = rereading{}, 0
	return b, true
}

// withCopy returns b with the records that only the copier's file has.
func (d *deliverer) withCopy(g *segment.Segment, b []byte) []byte {
	kept, err := d.s.dir.Bytes(store.CopyName(g.Number), g.Size)
	if err != nil && !store.IsPartial(err) {
		if !errors.Is(err, fs.ErrNotExist) {
			d.s.fault("read the copy of a segment", err)
		}
		return b
	}
	return g.Old().Complete(b, kept)
}

// missing returns how many records that are not settled b does not have, of
// those that are or may come.
func (d *deliverer) missing(g *segment.Segment, b []byte) uint64 {
	_, end, _ := g.Claimed()
	settled, found := d.position(), uint64(0)
	for sc := segment.NewScanner(b, g.Identity, g.First); ; {
		_, _, ok := sc.Next()
		if !ok || sc.Want > end {
			break
		}
		if sc.Want > settled {
			found++
		}
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return end - min(settled, end) - g.VoidsIn(settled, end) - found
}

// isCutOff reports whether the file of g was truncated or removed.
func (s *Sink) isCutOff(g *segment.Segment) bool {
	info, err := s.dir.FS.Lstat(s.dir.Name(store.SegmentName(g.Number)))
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size < g.Size
}
