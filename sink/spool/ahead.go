// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// create makes a segment: on the heap, or in a file.
func (s *Sink) create(number uint64) (*segment.Segment, error) {
	if s.dir == nil {
		id := segment.Identity{
			Spool: s.stream, Number: number, Gen: 1, Stream: s.stream, Size: s.c.SegmentSize,
		}
		return segment.New(s.zeros(), id, nil), nil
	}
	return s.dir.Create(number, s.c.SegmentSize, s.rest)
}

// zeros returns memory for a segment. It reuses that of a delivered segment if
// there is one, because new memory costs a page fault every 4096 bytes and
// additional garbage collections.
func (s *Sink) zeros() []byte {
	select {
	case b := <-s.spare:
		for part := range slices.Chunk(b, segment.Window) {
			clear(part)
			s.rest()
		}
		return b
	default:
		return make([]byte, s.c.SegmentSize)
	}
}

// rest pauses while a segment is created or freed, unless another one is needed
// soon, or a call waits for one with a long line.
func (s *Sink) rest() {
	g := s.active.Load()
	if end, _, _ := g.Claimed(); end < len(g.Bytes())/2 && !s.isAwaited() {
		time.Sleep(100 * time.Microsecond)
	}
}

// isAwaited reports whether any call waits.
func (s *Sink) isAwaited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awaited
}

// completeFirst does the work on the first segment that Open does not wait for.
// Then lines may be delivered.
func (s *Sink) completeFirst() {
	if s.finish == nil {
		close(s.safe)
		return
	}
	g := s.active.Load()
	used, _, _ := g.Claimed()
	g.Retain() // delivered segments may be unmapped
	defer g.Release()
	if err := s.finish(); err != nil {
		s.reports.Fault("sync the first segment", err)
	}
	close(s.safe)
	if !g.IsWritten() {
		segment.Prefault(g.Bytes()[used&^(segment.PageSize-1):], s.rest) // the used part is read when it is delivered
	}
}

// makeSegments keeps one segment ready and frees deleted segments, until Close.
// One goroutine does both, so that only one of these tasks runs at a time.
func (s *Sink) makeSegments() {
	defer close(s.made)
	s.completeFirst()
	var spent <-chan struct{} // never, in memory
	var touch <-chan time.Time
	if s.dir != nil {
		ticker := time.NewTicker(touchPause)
		defer ticker.Stop()
		touch = ticker.C
		s.dir.Sweeper.Start()
		defer s.dir.Sweeper.Stop()
		spent = s.dir.Sweeper.Due
		s.dir.AllowReuse(true)
	}
	retry := time.NewTimer(makePause)
	defer retry.Stop()
	for {
		s.reportNoted()
		switch wanted, open := s.work(retry.C, spent, touch); {
		case !open:
			s.patch()
			s.discardNext()
			if s.dir != nil {
				s.dir.AllowReuse(false)
			}
			return
		case !wanted:
			s.freeDeleted()
		default:
			err := s.makeNext()
			s.endDrop()
			if err == nil && s.isCrowded() {
				retry.Reset(makePause/2 + rand.N(makePause)) // other processes do not signal when they have made room
			}
			if left := s.patch(); left || err != nil {
				retry.Reset(makePause)
			}
			if s.dir != nil {
				s.dir.ClearSpare(s.c.SegmentSize, s.rest)
			}
		}
	}
}

// work waits until there is something to do, and reports whether a segment may
// be wanted; making one precedes freeing. open is false after Close.
func (s *Sink) work(
	retry <-chan time.Time, spent <-chan struct{}, touch <-chan time.Time,
) (wanted, open bool) {
	select {
	case _, open = <-s.more:
		return true, open
	default:
	}
	select {
	case _, open = <-s.more:
		return true, open
	case <-retry:
		return true, true
	case <-touch:
		if err := s.dir.Touch(); err != nil {
			s.reports.Report("touch the lock file", err)
		}
	case <-spent:
	}
	return false, true
}

// makeNext makes the next segment if one is wanted. Deleted segments that are
// not freed yet count towards the size of the spool.
func (s *Sink) makeNext() error {
	limit, err := s.makeRoom()
	s.mu.Lock()
	if err != nil {
		s.makeErr = s.unmade(err)
		s.reports.Fault("make a segment", err)
		s.broadcast()
		s.mu.Unlock()
		return err
	}
	s.making = !s.closed && s.next == nil && s.hasRoom()
	if !s.making {
		if s.makeErr == errSlow {
			s.makeErr = nil // the slow creation has ended
		}
		s.mu.Unlock()
		return nil
	}
	s.number++
	number := s.number
	s.segments, s.bytes = s.segments+1, s.bytes+s.c.SegmentSize
	tight := s.dir != nil && s.bytes+int64(s.dir.Unfreed())*s.c.SegmentSize > s.c.Size
	s.mu.Unlock()

	if tight {
		s.dir.FreeAll(true)
	}
	g, err := s.create(number)
	if vfs.IsFull(err) && s.dir.FreeAll(false) {
		g, err = s.create(number) // now there is more room
	}

	if err == nil {
		limit, err = s.peers.limit()
		if err != nil || !s.fitsIn(limit) { // another process has made a segment at the same time
			if e := s.dir.Remove(number, g); e != nil {
				s.reports.Fault("delete a segment", e) // the next start removes it
			}
			g = nil
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.making, s.makeErr, s.next, s.limit = false, s.unmade(err), g, limit
	if g == nil && err == nil {
		s.segments, s.bytes = s.segments-1, s.bytes-s.c.SegmentSize
		s.number--
	}
	if err != nil {
		s.segments, s.bytes = s.segments-1, s.bytes-s.c.SegmentSize
		s.number--
		s.reports.Fault("make a segment", err)
	}
	s.broadcast()
	return err
}

// unmade is the error of calls for which no segment could be made. It is made
// once, not for each call.
func (s *Sink) unmade(err error) error {
	if err == nil {
		return nil
	}
	op := "make a segment"
	if s.dir != nil {
		op += " in " + s.dir.Path
	}
	return opError{op, err, deliver.TextOf(err)}
}

// freeDeleted frees a part of the deleted segments.
func (s *Sink) freeDeleted() {
	s.dir.DropExpired()
	left := s.dir.Sweeper.Part()
	if left == 0 {
		return
	}
	if left < store.ManySpent {
		s.rest()
	}
	s.dir.Sweeper.Signal()
}

// discardNext removes the segment that was created in advance and is no longer
// needed.
func (s *Sink) discardNext() {
	s.mu.Lock()
	g := s.next
	s.next = nil
	if g != nil {
		s.segments, s.bytes = s.segments-1, s.bytes-s.c.SegmentSize
	}
	s.mu.Unlock()
	if g != nil && s.dir != nil {
		if err := s.dir.Remove(g.Number, g); err != nil {
			s.reports.Fault("delete a segment", err) // the next start deletes it
		}
	}
}

// leave releases a segment that stays and is no longer read. It first
// overwrites the bytes that a failed write may have left in the file.
func (s *Sink) leave(g *segment.Segment) {
	if g.IsWritten() && g.Patch() {
		g.Retain()
		s.mu.Lock()
		s.unpatched = append(s.unpatched, g)
		s.wantMore()
		s.mu.Unlock()
	}
	g.Done(nil)
}

// patch writes the patches that segments whose files failed still need, and
// reports whether any are left.
func (s *Sink) patch() (left bool) {
	s.mu.Lock()
	list, still := s.unpatched, []*segment.Segment(nil)
	unread := len(list)
	for _, l := range s.chain {
		if g := l.Live; g != nil && g.IsWritten() {
			g.Retain()
			list = append(list, g)
		}
	}
	s.unpatched = nil
	s.mu.Unlock()
	for i, g := range list {
		pending := g.Patch()
		left = left || pending
		if pending && i < unread {
			still = append(still, g)
		} else {
			g.Release()
		}
	}
	s.mu.Lock()
	s.unpatched = append(s.unpatched, still...)
	s.mu.Unlock()
	return left
}
