// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"os"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A process begins with one of three segments, so that disk use stays within
// Config.Size over any number of starts:
//
//   - the last one of the previous process, after its last record, if the
//     system was not restarted since and no record there is unfinished;
//   - a new one, if there is room;
//   - none, represented by a sealed segment without a file. The first line
//     finds it full, and Config.OnFull applies.

// firstSegment makes the segment that a process begins with the active one, and
// the last of the chain.
func (s *Sink) firstSegment(first segment.Start) error {
	if s.continueLast(first) {
		return nil
	}
	if !s.hasRoom() {
		s.beginFull(first)
		return nil
	}
	g, err := (*segment.Segment)(nil), error(nil)
	if s.dir == nil {
		g, err = s.create(s.number + 1)
	} else {
		g, s.finish, err = s.dir.CreateFirst(s.number+1, s.c.SegmentSize)
	}
	if err == nil && !s.commission(g, first) {
		err = errors.Join(g.Fault(), s.dir.Remove(g.Number, g)) // otherwise a start could not determine whether it was used
	}
	if err != nil {
		return err
	}
	s.number++
	s.segments, s.bytes = s.segments+1, s.bytes+s.c.SegmentSize
	s.activate(g)
	s.enqueue(g)
	return nil
}

// hasRoom reports whether another segment fits into the size of the spool. mu
// is held, or no other goroutine is running yet.
func (s *Sink) hasRoom() bool {
	return !s.c.DeliverOnly && s.bytes+s.c.SegmentSize <= s.limit
}

// fitsIn reports whether all segments fit into limit bytes.
func (s *Sink) fitsIn(limit int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes <= limit
}

// isCrowded reports whether only segments of others prevent another one.
func (s *Sink) isCrowded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.c.DeliverOnly && s.next == nil && !s.hasRoom() && s.bytes+s.c.SegmentSize <= s.c.Size
}

// isFreeing reports whether a segment is about to be deleted, since all
// destinations have settled it: the oldest one, if it is of the previous
// process, or one that has left the chain. So is one whose file was kept. mu is
// held.
func (s *Sink) isFreeing() bool {
	l := s.chain[0]
	return s.deleting > 0 || len(s.settled) > 1 || !s.keep && l.Live == nil && s.settledAll(l.End)
}

// continueLast continues the last segment of the previous process. If that is
// not possible, it changes nothing. It does not continue a segment from before
// a restart of the system, since numbers were skipped after it.
func (s *Sink) continueLast(first segment.Start) bool {
	n := len(s.chain)
	if n == 0 || s.c.DeliverOnly {
		return false
	}
	l := s.chain[n-1]
	if !l.CanContinue(s.stream) || l.End != first.First || l.Size != s.c.SegmentSize {
		return false
	}
	g, finish, err := s.dir.Reopen(&l.Old)
	if err != nil {
		if err != store.ErrNotWhole {
			s.reports.Fault("continue a segment", err)
		}
		return false
	}
	l.Live, s.finish = g, finish
	l.Copied = l.Copied || s.copier != nil
	s.activate(g)
	s.copyLater(g)
	return true
}

// beginFull begins without a segment. Until there is one, the counts of dropped
// lines are stored in the header of the last segment of the previous process,
// if any.
func (s *Sink) beginFull(first segment.Start) {
	var g *segment.Segment
	if n := len(s.chain); n > 0 {
		last := &s.chain[n-1].Old
		if f, err := s.dir.FS.Open(s.dir.Name(store.SegmentName(last.Number)), os.O_RDWR, 0); err == nil {
			g = segment.NewHeader(last.Identity, first, f, func() { s.dir.Close("a segment", f) })
		} else {
			g = segment.NewHeader(last.Identity, first, nil, nil)
			s.reports.Fault("open a segment for counts", err)
		}
	} else {
		g = segment.NewHeader(segment.Identity{}, first, nil, nil)
	}
	if err := s.dir.SyncNames(); err != nil {
		s.reports.Fault("sync the directory", err)
	}
	s.activate(g)
	s.link(g)
	s.chain[len(s.chain)-1].Placeholder = true
}
