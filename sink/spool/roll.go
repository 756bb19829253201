// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const (
	// Maximum time that a call waits for a segment that is being made.
	slowDisk   = 100 * time.Millisecond
	makePause  = 250 * time.Millisecond // pause before making a segment is retried
	touchPause = 10 * time.Minute       // interval between two changes of the lock file
	firstPause = 10 * time.Millisecond  // first pause between attempts to deliver
)

// writeTries is the number of segments that are tried for a line before it is
// dropped.
const writeTries = 4

var errSlow = errors.New("nib/spool: creating a segment takes too long")

// roll is called when r does not fit into g. It returns nil when there is
// another active segment; otherwise it has dropped r and returns why. A call
// that must wait does so without the lock.
func (s *Sink) roll(g *segment.Segment, size int, r *nib.Record) error {
	s.chain.Lock()
	defer s.chain.Unlock()
	var timer *time.Timer
	making := false // a segment will be ready soon
	asked := false  // for the oldest segment to be dropped
	late := false   // the call has waited long enough
	for {
		switch {
		case s.chain.Closed:
			return s.drop(r, segment.CauseClosed, errClosed)
		case !segment.Fits(size, s.c.SegmentSize):
			return s.drop(r, segment.CauseTooLarge, errTooLarge)
		case s.c.DeliverOnly: // no segment will be made, whatever is deleted
			return s.dropFor(r, nil)
		case s.chain.active.Load() != g:
			return nil
		case s.chain.next != nil:
			s.chain.install()
			return nil
		case late:
			if making {
				s.chain.makeErr = errSlow // other calls need not wait as long again
			}
			return s.dropFor(r, s.chain.makeErr)
		}
		making = s.chain.isMaking()
		rule := s.c.rule(r.Level)
		if rule.Do == ActionDropOld && !making && !asked {
			making, asked = s.chain.requestDrop(), true
		}
		if timer == nil {
			wait := rule.Wait // 0 unless the call must block
			if making {
				wait = max(wait, s.c.slow)
			}
			if wait == 0 {
				return s.dropFor(r, s.chain.makeErr)
			}
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else if !making && rule.Do != ActionBlock {
			return s.dropFor(r, s.chain.makeErr)
		}
		changed := s.chain.Change()
		s.chain.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			late = true
		}
		s.chain.Lock()
	}
}

// isMaking reports whether a segment will be ready soon, unless making one
// takes too long. The lock is held.
func (ch *chain) isMaking() bool {
	return ch.makeErr == nil && (ch.making || ch.hasRoom() || ch.isFreeing()) ||
		ch.makeErr != errSlow && ch.isDropping()
}

// install takes the next segment into use. Sealing the old one fixes its count
// of records, and with it the first number of the new one. The lock is held.
func (ch *chain) install() {
	old, g := ch.active.Load(), ch.next
	old.Seal()
	_, first, _ := old.Claimed()
	last := ch.Links[len(ch.Links)-1]
	st := segment.Start{First: first, Skipped: old.VoidsAtEnd()}
	if first == old.First { // old has no record, and perhaps no Start
		st.Skipped, st.Unsure = old.Skipped, old.Unsure
	}
	if ch.unbegun = !ch.commission(g, st); ch.unbegun {
		g.Seal() // the caller will find it full and call roll again
		ch.stats.Retired++
		ch.reports.Report("take a segment into use", g.Fault())
	}
	ch.enqueue(g)
	if last.Placeholder && last.Dropped {
		ch.recordDropped(ch.Links[len(ch.Links)-1], last.Skipped)
	}
	ch.Unload()
	ch.evict()
	ch.next = nil
	ch.activate(g)
	ch.wantMore()
	ch.poke() // readers may be asleep at the end of the old one, where they do not set idle
}

// enqueue gives a segment to its readers. The lock is held, or no other
// goroutine is running yet.
func (ch *chain) enqueue(g *segment.Segment) {
	ch.Append(g, ch.copier != nil)
	ch.copyLater(g)
}

// copyLater gives a segment to the copier. The lock is held, or no other
// goroutine is running yet.
func (ch *chain) copyLater(g *segment.Segment) {
	if ch.copier != nil {
		g.Retain()
		ch.uncopied = append(ch.uncopied, g)
		ch.dir.Copies.Own(g.Number) // otherwise a copy could be made of a segment that is deleted
	}
}

// wantMore wakes the goroutine that makes segments. The lock is held.
func (ch *chain) wantMore() {
	if !ch.Closed { // otherwise more is closed
		store.Signal(ch.more)
	}
}

// drop counts r as lost and returns err. The lock is held.
func (s *Sink) drop(r *nib.Record, c segment.Cause, err error) error {
	s.chain.stats.Logged++
	s.chain.dropped.Add(c, r.Level, 1)
	if s.chain.publish() != nil && c == segment.CauseTooLarge {
		s.chain.wantMore() // otherwise no segment is made, after which patch stores the counts
	}
	return err
}

// dropFor drops r because there is no segment for it. err is the reason; nil if
// the spool is full. The lock is held.
func (s *Sink) dropFor(r *nib.Record, err error) error {
	if err != nil && !vfs.IsFull(err) {
		return s.drop(r, segment.CauseFailed, err)
	}
	return s.drop(r, segment.CauseFull, errFull)
}

// refuse drops r, which could not be written to g nor to those before.
func (s *Sink) refuse(r *nib.Record, g *segment.Segment) error {
	err := g.Fault()
	s.chain.Lock()
	defer s.chain.Unlock()
	return s.dropFor(r, err)
}

// retire takes a segment out of use because the claim at offset at, with number
// seq, could not become a record, and voids the claim: its line gets another
// number, unless it cannot be read. why is the reason; if it is nil, the fault
// of the segment is.
func (s *Sink) retire(g *segment.Segment, at, size int, seq uint64, why error) {
	s.chain.Lock()
	s.chain.retireLocked(g, at, size, seq)
	s.chain.Unlock()
	if why == nil {
		why = g.Fault()
	}
	s.chain.reports.Report("write to a segment", why)
}

// retireLocked is retire under the lock. If a reader has given up on the number
// and counted it as damaged, that is undone.
func (ch *chain) retireLocked(g *segment.Segment, at, size int, seq uint64) {
	g.Seal()
	if g.VoidClaim(at, size, seq) {
		ch.stats.Retired++
	}
	ch.stats.Logged--
	for _, d := range ch.Deliveries {
		d.Void(seq)
	}
}
