// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"slices"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A link is a segment in the chain of those that exist, oldest first. The last
// one is active. Each destination is at one link, has settled those before it
// and nothing of those behind it; a link that all have left is deleted. The
// fields are protected by Sink.mu.
type link struct {
	segment.Old                  // end is not known as long as live is there
	live        *segment.Segment // of this process; nil: it is read from its file
	waiting     int              // destinations that have not left it
	reported    segment.Tally    // what the notice in it reports, once live is nil
	kept        bool             // a cursor could not be synced: the next start deletes the file
	none        bool             // it stands for the active segment where there is none, see beginFull
	unread      time.Time        // when it could not be read to be dropped
	bad         bool             // pages of the file could not be read, and were given up: it is quarantined
}

// link makes a segment of this process the last of the chain. mu is held.
func (s *Sink) link(g *segment.Segment) {
	s.chain = append(s.chain, &link{Old: *g.Old(), live: g, waiting: len(s.deliveries)})
}

// unload frees the memory of twins that are not being read: they are read from
// their files later, like those of other processes. mu is held.
func (s *Sink) unload() {
	for _, l := range s.chain[:len(s.chain)-1] {
		g := l.live
		if g == nil || !g.IsWritten() || l.none || slices.ContainsFunc(s.deliveries, func(d *deliverer) bool { return d.isAt(l) }) {
			continue
		}
		if next, whole := g.Whole(); whole {
			l.live, l.End, l.reported = nil, next, g.Reported
			g.Release()
		}
	}
}

// near is how many segments behind the one that is read keep their pages.
const near = 1

// evict evicts the pages of mapped segments that are not read soon, but keeps
// the mappings: lines that wait for long are in the page cache then, where the
// system can reclaim them, and are not memory of the process. A goroutine that
// reads or writes there nevertheless faults its page in; a reader that begins
// prefetches all. mu is held.
func (s *Sink) evict() {
	soon := 0 // the next segments are read or near
	for i, l := range s.chain {
		if slices.ContainsFunc(s.deliveries, func(d *deliverer) bool { return d.isAt(l) }) {
			soon = near + 1
		}
		soon--
		g := l.live
		if soon >= 0 || i >= len(s.chain)-2 || g == nil || !g.IsMapped() {
			continue // the last one is active, and the one before is being copied
		}
		if s.dir.Sweeper.Count() == store.MostSpent {
			return // the next time
		}
		if g.Evict() {
			s.dir.Sweeper.Add(&store.Spent{Pages: g.Bytes(), Unmap: g.Release})
		}
	}
}

// evictedPages returns the pages of a segment that layDown has evicted, for fetch. mu
// is held.
func (l *link) evictedPages() (pages []byte) {
	if l.live == nil {
		return nil
	}
	return l.live.EvictedPages()
}

// isAt reports whether the delivery reads l, or has read from it records that are not
// settled. mu is held.
func (d *deliverer) isAt(l *link) bool {
	return l.Number >= d.cur.Number && l.Number <= d.reading.Number
}

// leave goes on to the next link when all that was read is settled, and reports
// false if there is none.
func (d *deliverer) leave() bool {
	s := d.s
	s.mu.Lock()
	next := s.behind(d.reading)
	if next == nil {
		s.mu.Unlock()
		return false
	}
	d.reading, d.scan, d.entered, d.rescued = next, nil, false, false
	pages := next.evictedPages()
	s.mu.Unlock()
	segment.Prefetch(pages)
	d.leaveSettled()
	return true
}

// behind returns the link after l, or nil. mu is held.
func (s *Sink) behind(l *link) *link {
	if i := slices.Index(s.chain, l) + 1; i < len(s.chain) {
		return s.chain[i]
	}
	return nil
}

// leaveSettled leaves the links of which all is settled.
func (d *deliverer) leaveSettled() {
	s := d.s
	for {
		s.mu.Lock()
		next := d.reading
		if d.cur != next {
			next = s.behind(d.cur)
		}
		done := d.cur != next && (len(d.batch) == 0 || d.settled >= next.First)
		s.mu.Unlock()
		if !done {
			return
		}
		d.quit(next)
	}
}

// quit leaves cur for the link behind it. A cursor is synced first: else a
// start would take the records of a segment that was deleted for lost ones.
func (d *deliverer) quit(next *link) {
	s := d.s
	var err error
	if d.cursor != nil {
		if err = d.sync(); err != nil {
			s.fault("sync the cursor", err)
		}
	}
	s.mu.Lock()
	l := d.cur
	d.cur = next
	l.waiting--
	l.kept = l.kept || err != nil
	left := l.waiting == 0
	g := l.live
	if left && g != nil && s.keep {
		_, l.End, _ = g.Claimed()
		l.live, l.reported = nil, g.Reported
	}
	if left && !s.keep {
		i := slices.Index(s.chain, l)
		s.chain = slices.Delete(s.chain, i, i+1)
	}
	s.mu.Unlock()
	switch {
	case left && !s.keep:
		s.remove(l)
	case left && g != nil:
		g.Done(nil)
	}
}

// remove deletes a link that is not in the chain any more, and makes room for
// another.
func (s *Sink) remove(l *link) {
	if l.none {
		l.live.Done(nil)
		return
	}
	if l.kept {
		if l.live != nil {
			l.live.Done(nil)
		}
	} else if err := s.delete(l); err != nil {
		s.fault("delete a segment", err) // the next start deletes it
	}
	s.mu.Lock()
	s.segments, s.bytes = s.segments-1, s.bytes-l.Size
	s.wantMore()
	s.broadcast()
	s.mu.Unlock()
}

// delete deletes the file of a link. What one in memory had is used again.
func (s *Sink) delete(l *link) error {
	if l.bad {
		if err := s.dir.Quarantine(store.SegmentName(l.Number)); err != nil {
			return err
		}
		return s.dir.RemoveItsCopy(l.Number)
	}
	if s.dir != nil {
		return s.dir.Remove(l.Number, l.live)
	}
	if l.live.IsAbandoned() {
		return nil
	}
	select {
	case s.spare <- l.live.Bytes(): // no writer has anything left to do there
	default: // there is one already
	}
	return nil
}

// dropOldest takes the oldest segment away that no destination is at, and
// counts its lines for those that have not settled them. It reports false if
// there is none, or it is still being written to, or some of it is damaged. mu
// is held.
func (s *Sink) dropOldest() bool {
	i := slices.IndexFunc(s.chain, func(l *link) bool {
		return !l.none && !slices.ContainsFunc(s.deliveries, func(d *deliverer) bool { return d.isAt(l) })
	})
	if i < 0 || i == len(s.chain)-1 {
		return false
	}
	l := s.chain[i]
	if !s.countOldest(l) {
		return false
	}
	s.publish()
	next := s.chain[i+1]
	if next.none && i+2 < len(s.chain) {
		next = s.chain[i+2]
	}
	s.noteDropped(next, next.First-(l.First-l.Skipped))
	s.chain = slices.Delete(s.chain, i, i+1)
	if err := s.delete(l); err != nil { // all is committed: no writer has anything left to do there
		s.stats.Errors++ // the next start deletes it
	}
	s.segments, s.bytes = s.segments-1, s.bytes-l.Size
	s.wantMore()
	s.broadcast()
	return true
}

// countOldest counts the lines of a link that is dropped, for each destination
// that has not left it. mu is held.
func (s *Sink) countOldest(l *link) bool {
	var lines []segment.Line
	end, never, harmed := l.End, uint64(0), false
	if time.Since(l.unread) < makePause {
		return false // each line would read it
	}
	if g := l.live; g != nil {
		_, end, _ = g.Claimed()
		whole := false
		if lines, whole = g.Lines(); !whole {
			return s.cannotDrop(l, segment.ErrGone)
		}
		if uint64(len(lines)) != end-l.First {
			return false
		}
	} else {
		b, err := s.dir.Read(&l.Old)
		if err != nil {
			return s.cannotDrop(l, err)
		}
		lines, harmed = l.LinesIn(b, end)
		never = end - l.Sure
		if n := len(lines); n > 0 {
			never = min(never, end-1-lines[n-1].Seq)
		}
		if l.Gen != s.dir.Gen && l.HasNotice(b) { // not all destinations have read that
			unread := l.Counts(b, segment.SectionReported)
			s.inherited = s.inherited.Plus(&unread)
		}
	}
	for _, d := range s.deliveries {
		numbers := end - min(max(l.First, d.settled), end) // none, if it has left the link
		d.skips += numbers
		for _, x := range lines {
			if x.Seq >= d.settled {
				d.dropped.Add(segment.CauseOldest, x.Level, 1)
				numbers--
			}
		}
		given := numbers - min(never, numbers)
		d.recovered -= numbers - given
		if harmed {
			d.dropped.Add(segment.CauseDamaged, segment.LevelUnknown, given)
		} else {
			d.unfinished += given
		}
	}
	if l.live != nil {
		l.reported = l.live.Reported
	}
	s.reported = s.reported.Minus(&l.reported) // not all destinations have read that
	return true
}

// cannotDrop notes that a link cannot be read. mu is held.
func (s *Sink) cannotDrop(l *link, err error) (ok bool) {
	l.unread = time.Now()
	s.faultLocked("read the oldest segment, to drop it", err)
	return false
}
