// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A call that finds the spool full, and whose level has [ActionDropOld], asks
// for the oldest segment to be dropped, and waits for that as for any other
// segment that is being made: no longer than Config.slow. The goroutine that
// makes segments drops it, and reads, writes and deletes files without mu: a
// slow disk holds up that goroutine only.

// askDrop asks for the oldest segment to be dropped, of this spool or of its
// peers, and reports whether there is one. It does not ask if making
// a segment failed for another reason than a full disk. mu is held.
func (s *Sink) askDrop() bool {
	if s.makeErr != nil && !vfs.IsFull(s.makeErr) {
		return false
	}
	if s.oldest() == nil {
		return s.peers.askDrop()
	}
	s.dropAsked = true
	s.wantMore()
	return true
}

// isDropping reports whether a segment is being dropped, or will be. mu is
// held.
func (s *Sink) isDropping() bool {
	return s.dropAsked || s.dropping || s.peers.isDropping()
}

// makeRoom makes room for another segment if there is none, and returns the
// maximum size of all segments.
func (s *Sink) makeRoom() (limit int64, err error) {
	if limit, err = s.peers.limit(); err == nil {
		err = s.freeSettled(limit)
	}
	if err == nil {
		s.dropAskedFor()
	}
	return limit, err
}

// dropAskedFor drops the oldest segments if a call has asked for it, until
// there is room for another one. It drops only one if the disk is full, or if
// the room is not for this spool.
func (s *Sink) dropAskedFor() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropping, s.dropAsked = s.dropAsked, false
	one := vfs.IsFull(s.makeErr) || s.c.DeliverOnly
	for s.dropping && !s.closed && s.next == nil && (one || !s.hasRoom()) {
		if !s.dropOldest() || one {
			return
		}
	}
}

// endDrop ends the operation that dropAskedFor has begun, and lets the waiting
// calls continue.
func (s *Sink) endDrop() {
	s.mu.Lock()
	was := s.dropping
	s.dropping = false
	s.mu.Unlock()
	if !was {
		return
	}
	s.peers.dropped(0)
	s.retry(0)
}

// retry lets the waiting calls continue, since so many bytes are free.
func (s *Sink) retry(freed int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit += freed
	s.wantMore()
	s.broadcast()
}

// oldest returns the oldest segment that no destination is reading and that
// could be read a moment ago, or nil if there is none. mu is held.
func (s *Sink) oldest() *deliver.Link {
	i := slices.IndexFunc(s.chain, func(l *deliver.Link) bool {
		return !l.Placeholder && time.Since(l.UnreadSince) >= makePause &&
			!slices.ContainsFunc(s.deliveries, func(d *deliver.Delivery) bool { return d.IsAt(l) })
	})
	if i < 0 || i == len(s.chain)-1 {
		return nil
	}
	return s.chain[i]
}

// dropOldest drops the oldest segment that no destination is reading, and
// counts its lines for the destinations that have not settled them. One that
// cannot be read stays, and the next one is dropped. It returns false if there
// is none, or if it cannot be deleted or is still being written to. mu is held,
// but not while files are accessed.
func (s *Sink) dropOldest() bool {
	for range len(s.chain) {
		l := s.oldest()
		if l == nil {
			return false
		}
		c, err := s.readOldest(l)
		switch {
		case s.oldest() != l: // a destination has reached it
		case err != nil:
			l.UnreadSince = time.Now()
			s.reports.Fault("read the oldest segment, to drop it", err)
		case c.unfinished || !s.beginDrop(l, &c):
			return false
		default:
			ok := s.dropLink(l, &c)
			s.endDrops(true)
			return ok
		}
	}
	return false
}

// beginDrop stores in the cursors which lines their destinations are going to
// lose with a segment. It returns false if a destination has reached the
// segment by then. mu is held, but not while files are accessed.
func (s *Sink) beginDrop(l *deliver.Link, c *content) bool {
	for _, d := range s.deliveries {
		if !s.keep {
			_, d.Lost.Drop = c.shareOf(d, l, s.opened)
		}
	}
	s.mu.Unlock()
	for _, d := range s.deliveries {
		if x := d.Lost.Drop; x.Segment != 0 { // only this goroutine writes it
			d.PutDrop(x)
		}
	}
	s.mu.Lock()
	if s.oldest() != l {
		s.endDrops(false)
		return false
	}
	return true
}

// endDrops ends what beginDrop has begun. mu is held, but not while it waits
// for cursors.
func (s *Sink) endDrops(complete bool) {
	s.mu.Unlock()
	defer s.mu.Lock()
	for _, d := range s.deliveries {
		d.EndDrop(complete)
	}
}

// dropLink drops a segment with the content c. mu is held, but not while files
// are accessed.
func (s *Sink) dropLink(l *deliver.Link, c *content) bool {
	s.countOldest(l, c)
	s.publish()
	i := slices.Index(s.chain, l)
	next := s.chain[i+1]
	if next.Placeholder && i+2 < len(s.chain) {
		next = s.chain[i+2]
	}
	write := s.noteDropped(next, next.First-(l.First-l.Skipped))
	old := next.Old
	s.chain = slices.Delete(s.chain, i, i+1)
	s.deleting++ // decremented by remove
	l.KeepFile = false
	s.mu.Unlock()
	defer s.mu.Lock()
	if write {
		s.writeDropped(&old)
	}
	ok := s.remove(l)
	if ok {
		s.peers.dropped(l.Size)
	}
	return ok
}

// A content has the properties of a segment that countOldest needs.
type content struct {
	lines      []segment.Line
	end        uint64 // number after the last record
	never      uint64 // how many numbers before end were never used
	voids      uint64 // how many numbers before end have void claims
	harmed     bool
	unfinished bool          // a call still writes to it
	own        bool          // this process made it
	notice     segment.Tally // the losses that its notice for all destinations reports
}

// readOldest reads a segment before it is dropped. mu is held, but not while it
// reads.
func (s *Sink) readOldest(l *deliver.Link) (c content, err error) {
	if g := l.Live; g != nil {
		g.Retain()
		defer g.Release()
		s.mu.Unlock()
		lines, whole := g.Lines()
		s.mu.Lock()
		if !whole {
			return c, segment.ErrGone
		}
		_, c.end, _ = g.Claimed()
		c.lines, c.voids = lines, g.VoidsIn(l.First, c.end)
		c.unfinished = uint64(len(lines))+c.voids != c.end-l.First
		c.own, c.notice = true, g.Reported
		return c, nil
	}
	old := l.Old
	c.voids, c.notice = l.Voids, l.Reported
	s.mu.Unlock()
	defer s.mu.Lock()
	b, err := s.dir.Read(&old)
	if err != nil {
		return c, err
	}
	c.end, c.never = old.End, old.End-old.Sure
	c.lines, c.harmed = old.LinesIn(b, c.end)
	c.harmed = c.harmed || old.Whole
	if n := len(c.lines); n > 0 {
		c.never = min(c.never, c.end-1-c.lines[n-1].Seq)
	}
	if c.own = old.Gen == s.dir.Gen; !c.own && old.HasNotice(b) {
		c.notice = old.Counts(b, segment.SectionReported)
	}
	return c, nil
}

// A share is what a destination loses with a segment that is dropped.
type share struct {
	numbers    uint64 // that it has not settled and are not in Skipped
	unfinished uint64
	never      uint64 // that were never used, or are notices for others
	lines      segment.Tally
}

// shareOf returns what a destination loses with a link: its lines, and the
// notice for all destinations, which has to be repeated for this one. opened is
// the number of the first record of this process. mu is held.
func (c *content) shareOf(
	d *deliver.Delivery, l *deliver.Link, opened uint64,
) (lost share, x store.Drop) {
	first := max(l.First, d.Settled)
	if first >= c.end {
		return share{}, store.Drop{} // it has left the link
	}
	numbers := c.end - first
	numbers -= min(c.voids+d.Foreign(first, c.end), numbers) // these are counted in Skipped already
	lost.numbers = numbers
	for _, x := range c.lines {
		switch isForeign := x.To != "" && x.To != d.Options.Name; {
		case x.Seq < d.Settled || isForeign && x.Seq >= opened:
		case isForeign:
			lost.never++
			numbers--
		default:
			lost.lines.Add(segment.CauseOldest, x.Level, 1)
			numbers--
		}
	}
	given := numbers - min(c.never, numbers)
	lost.never += numbers - given
	if c.harmed {
		lost.lines.Add(segment.CauseDamaged, segment.LevelUnknown, given)
	} else {
		lost.unfinished = given
	}
	x = store.Drop{Segment: l.Number, End: c.end, Lines: lost.lines}
	if d.Settled <= l.First {
		x.Lines = x.Lines.Plus(&c.notice)
	}
	return lost, x
}

// countOldest counts the lines of a link that is dropped, for each destination
// that has not left it. mu is held.
func (s *Sink) countOldest(l *deliver.Link, c *content) {
	for _, d := range s.deliveries {
		lost, x := c.shareOf(d, l, s.opened)
		d.Skipped += lost.numbers
		d.Recovered -= lost.never
		d.Unfinished += lost.unfinished
		switch {
		case s.keep && c.own: // lost for whatever destination comes later
			s.dropped = s.dropped.Plus(&lost.lines)
			s.reported = s.reported.Minus(&c.notice)
		case s.keep:
			s.dropped = s.dropped.Plus(&lost.lines)
			s.inherited = s.inherited.Plus(&c.notice)
		default:
			d.Dropped = d.Dropped.Plus(&lost.lines)
			d.Drop(x, l.First)
			if repeated := x.Lines.Minus(&lost.lines); !c.own {
				d.Inherited = d.Inherited.Plus(&repeated)
			}
		}
	}
}

// noteDropped records that the numbers before a link were in dropped segments,
// and stores it in the header of the link. Otherwise the next start would count
// them as damaged. It returns true if that is left to writeDropped. mu is held.
func (s *Sink) noteDropped(l *deliver.Link, numbers uint64) (write bool) {
	if s.dir == nil {
		return false
	}
	l.Skipped, l.Dropped = numbers, true
	switch {
	case l.Placeholder: // the next segment stores the number
	case l.Live != nil:
		s.counted(l.Live.SetDropped(numbers))
	default:
		return true
	}
	return false
}

// writeDropped stores the numbers that noteDropped has recorded in the file of
// the segment.
func (s *Sink) writeDropped(g *segment.Old) {
	f, err := s.dir.FS.Open(s.dir.Name(store.SegmentName(g.Number)), os.O_RDWR, 0)
	if err == nil {
		if err = g.WriteDropped(f, g.Skipped); err != nil {
			_ = f.Close() // the write has failed already
		} else {
			err = f.Close()
		}
	}
	if store.Ignore(err, fs.ErrNotExist) != nil { // the segment may be settled and deleted by now
		s.reports.Fault("note dropped segments", err)
	}
}
