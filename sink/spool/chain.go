// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"slices"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// link makes a segment of this process the last of the chain. mu is held.
func (s *Sink) link(g *segment.Segment) {
	old := *g.Old()
	old.Copied = s.copier != nil
	s.chain = append(s.chain, &deliver.Link{Old: old, Live: g, Waiting: len(s.deliveries)})
}

// unload frees the memory of twins that are not being read: they are read from
// their files later, like those of other processes. mu is held.
func (s *Sink) unload() {
	for _, l := range s.chain[:len(s.chain)-1] {
		g := l.Live
		if g == nil || !g.IsWritten() || slices.ContainsFunc(s.deliveries, func(d *deliver.Delivery) bool { return d.IsAt(l) }) {
			continue
		}
		if next, whole := g.Whole(); whole {
			l.Live, l.End, l.Sure, l.Whole, l.Reported = nil, next, next, true, g.Reported
			g.Release()
		}
	}
}

// near is how many segments behind the one that is read keep their pages.
const near = 1

// evict evicts the pages of mapped segments that will not be read soon, but
// keeps the mappings. The lines are then in the page cache, where the system
// can reclaim them, and do not count as memory of the process. A goroutine that
// accesses such a page faults it in; a reader prefetches the whole segment when
// it begins. mu is held.
func (s *Sink) evict() {
	soon := 0 // the next segments are read or near
	for i, l := range s.chain {
		if slices.ContainsFunc(s.deliveries, func(d *deliver.Delivery) bool { return d.IsAt(l) }) {
			soon = near + 1
		}
		soon--
		g := l.Live
		if soon >= 0 || i >= len(s.chain)-2 || g == nil || !g.IsMapped() {
			continue // the last one is active, and the one before is being copied
		}
		if s.dir.Sweeper.Count() == store.MostSpent {
			return // the next call evicts the rest
		}
		if g.Evict() {
			s.dir.Sweeper.Add(&store.Spent{Pages: g.Bytes(), Unmap: g.Release})
		}
	}
}

// remove deletes a link that is not in the chain any more, and makes room for
// another.
func (s *Sink) remove(l *deliver.Link) {
	var err error
	switch {
	case !l.Placeholder && !l.KeepFile:
		err = s.delete(l)
	case l.Live != nil:
		l.Live.Done(nil)
	}
	if err != nil {
		s.fault("delete a segment", err)
	}
	s.mu.Lock()
	s.deleting--
	switch {
	case l.Placeholder:
	case l.KeepFile || err != nil:
		l.Live = nil
		s.settled = append(s.settled, l)
	default:
		s.segments, s.bytes = s.segments-1, s.bytes-l.Size
	}
	s.wantMore()
	s.mu.Unlock()
}

// freeSettled deletes settled segments whose files were kept, while there is no
// room for another segment: those that could not be deleted before, and those
// behind which a cursor could not be synced. It keeps the newest one, unless
// the spool is small: after a loss of power, a start sees there which numbers
// were used. The next start deletes all of them.
func (s *Sink) freeSettled(others int64) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others = others
	kept := 0
	if s.c.Size >= 4*s.c.SegmentSize {
		kept = 1
	}
	for i := 0; i < len(s.settled)-kept && !s.c.DeliverOnly && !s.closed && s.next == nil && !s.hasRoom(); {
		l := s.settled[i]
		s.mu.Unlock()
		e := s.delete(l)
		s.mu.Lock()
		if e != nil {
			i, err = i+1, fmt.Errorf("delete a segment: %w", e)
			continue
		}
		s.settled = slices.Delete(s.settled, i, i+1) // no other goroutine deletes from it
		s.segments, s.bytes = s.segments-1, s.bytes-l.Size
	}
	if s.hasRoom() {
		return nil
	}
	return err
}

// delete deletes the file of a link, or reuses the memory of one in memory.
func (s *Sink) delete(l *deliver.Link) error {
	if l.Quarantine {
		if err := s.dir.Quarantine(store.SegmentName(l.Number)); err != nil {
			return err
		}
		return s.dir.RemoveItsCopy(l.Number)
	}
	if s.dir != nil {
		return s.dir.RemoveSettled(l.Number, l.Live)
	}
	if l.Live.IsAbandoned() {
		return nil
	}
	select {
	case s.spare <- l.Live.Bytes(): // no writer has anything left to do there
	default: // there is one already
	}
	return nil
}

// dropOldest drops the oldest segment that no destination is reading, and
// counts its lines for the destinations that have not settled them. It returns
// false if there is no such segment, if it is still being written to, or if a
// part of it is damaged. mu is held.
func (s *Sink) dropOldest() bool {
	i := slices.IndexFunc(s.chain, func(l *deliver.Link) bool {
		return !l.Placeholder && !slices.ContainsFunc(s.deliveries, func(d *deliver.Delivery) bool { return d.IsAt(l) })
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
	if next.Placeholder && i+2 < len(s.chain) {
		next = s.chain[i+2]
	}
	s.noteDropped(next, next.First-(l.First-l.Skipped))
	s.chain = slices.Delete(s.chain, i, i+1)
	if err := s.delete(l); err != nil { // all is committed: no writer has anything left to do there
		s.faultLocked("delete a segment", err) // the next start deletes it
	}
	s.segments, s.bytes = s.segments-1, s.bytes-l.Size
	s.wantMore()
	return true
}

// countOldest counts the lines of a link that is dropped, for each destination
// that has not left it. mu is held.
func (s *Sink) countOldest(l *deliver.Link) bool {
	var lines []segment.Line
	end, never, harmed := l.End, uint64(0), false
	if time.Since(l.UnreadSince) < makePause {
		return false // otherwise each call would read it again
	}
	if g := l.Live; g != nil {
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
		harmed = harmed || l.Whole
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
		numbers := end - min(max(l.First, d.Settled), end) // none, if it has left the link
		numbers -= min(l.Voids, numbers)                   // they are counted in Skipped already
		d.Skipped += numbers
		for _, x := range lines {
			if x.Seq >= d.Settled {
				d.Dropped.Add(segment.CauseOldest, x.Level, 1)
				numbers--
			}
		}
		given := numbers - min(never, numbers)
		d.Recovered -= numbers - given
		if harmed {
			d.Dropped.Add(segment.CauseDamaged, segment.LevelUnknown, given)
		} else {
			d.Unfinished += given
		}
	}
	if l.Live != nil {
		l.Reported = l.Live.Reported
	}
	s.reported = s.reported.Minus(&l.Reported) // not all destinations have read that
	return true
}

// cannotDrop notes that a link cannot be read. mu is held.
func (s *Sink) cannotDrop(l *deliver.Link, err error) (ok bool) {
	l.UnreadSince = time.Now()
	s.faultLocked("read the oldest segment, to drop it", err)
	return false
}
