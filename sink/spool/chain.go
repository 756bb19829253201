// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"slices"

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

// near is the number of segments after the one being read that keep their
// pages.
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

// remove deletes a link that is no longer in the chain, and makes room for
// another. It returns false if the file could not be deleted.
func (s *Sink) remove(l *deliver.Link) (ok bool) {
	var err error
	switch {
	case !l.Placeholder && !l.KeepFile:
		err = s.delete(l)
	case l.Live != nil:
		l.Live.Done(nil)
	}
	if err != nil {
		s.reports.Fault("delete a segment", err)
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
	return err == nil
}

// freeSettled deletes settled segments whose files were kept, while there is no
// room for another segment: those that could not be deleted before, and those
// behind which a cursor could not be synced. It keeps the newest one, unless
// the spool is small: after a power failure, a start sees there which numbers
// were used. The next start deletes all of them.
func (s *Sink) freeSettled(limit int64) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	kept := 0
	if s.c.Size >= 4*s.c.SegmentSize {
		kept = 1
	}
	for i := 0; i < len(s.settled)-kept && !s.c.DeliverOnly && s.next == nil && !s.hasRoom(); {
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
	default: // there is a spare already
	}
	return nil
}
