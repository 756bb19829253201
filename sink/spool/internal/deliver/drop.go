// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"slices"

	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A Drop is the segment of a link that is dropped to make room, although not
// all destinations have settled it. First Store stores in the cursors what they
// lose; then Count counts that, and the segment is deleted; then End makes the
// loss final, unless the destination has passed the gap before (skipUnused).
// After a death in between, the next start counts the loss if the segment is
// gone (account.Recall). The lock of the chain is held, but not while files are
// accessed.
type Drop struct {
	*Link
	Own        bool          // this process made the segment
	Unfinished bool          // a call may still write to it
	Notice     segment.Tally // the losses that its notice for all destinations reports

	chain  *Chain
	lines  []segment.Line
	end    uint64  // number after the last record
	never  uint64  // how many numbers before end were never used
	harmed bool    // missing records are damaged
	shares []share // by delivery
}

// A share is what a destination loses with a segment that is dropped.
type share struct {
	numbers    uint64 // unsettled numbers that progress.Skipped does not have yet
	unfinished uint64 // of numbers: claimed by calls that did not return
	never      uint64 // of numbers: never used, or notices for others
	lines      segment.Tally
	stored     store.Drop
}

// ReadDrop reads the segment of a link that is going to be dropped.
func (c *Chain) ReadDrop(l *Link, dir *store.Dir) (*Drop, error) {
	x := &Drop{Link: l, Notice: l.Reported, chain: c}
	if g := l.Live; g != nil {
		g.Retain()
		defer g.Release()
		c.Unlock()
		final, readable := g.CheckWriters()
		if final { // otherwise a call may be writing the bytes
			x.lines, readable = g.Lines()
		}
		c.Lock()
		if !readable {
			return nil, segment.ErrGone
		}
		_, x.end, _ = g.Claimed()
		x.harmed = uint64(len(x.lines))+g.VoidsIn(l.First, x.end) != x.end-l.First
		x.Own, x.Unfinished = true, !final
		return x, nil
	}
	old := l.Old
	c.Unlock()
	defer c.Lock()
	b, err := dir.Read(&old)
	if err != nil {
		return nil, err
	}
	x.end, x.never = old.End, old.End-old.Sure
	x.lines, x.harmed = old.LinesIn(b, x.end)
	x.harmed = x.harmed || old.Whole
	if n := len(x.lines); n > 0 {
		x.never = min(x.never, x.end-1-x.lines[n-1].Seq)
	}
	if x.Own = old.Gen == dir.Gen; !x.Own && old.HasNotice(b) {
		x.Notice = old.Counts(b, segment.SectionReported)
	}
	return x, nil
}

// shareOf returns what a destination loses: its lines, and the notice for all
// destinations, which has to be repeated for this one.
func (x *Drop) shareOf(d *Delivery) (s share) {
	first := max(x.First, d.Settled)
	if first >= x.end {
		return s // it has left the link
	}
	numbers := x.end - first
	numbers -= min(d.absentIn(first, x.end), numbers) // in Skipped already
	s.numbers = numbers
	for _, line := range x.lines {
		switch isForeign := line.To != "" && line.To != d.Options.Name; {
		case line.Seq < d.Settled || isForeign && line.Seq >= d.opened:
		case isForeign:
			s.never++
			numbers--
		default:
			s.lines.Add(segment.CauseOldest, line.Level, 1)
			numbers--
		}
	}
	given := numbers - min(x.never, numbers) // numbers is now the count without a record
	s.never += numbers - given
	if x.harmed {
		s.lines.Add(segment.CauseDamaged, segment.LevelUnknown, given)
	} else {
		s.unfinished = given
	}
	s.stored = store.Drop{Segment: x.Number, End: x.end, Lines: s.lines}
	if d.Settled <= x.First {
		s.stored.Lines = s.lines.Plus(&x.Notice)
	}
	return s
}

// Store stores in the cursors what their destinations are going to lose. It
// returns false if a destination has left the link since: it has settled what
// Store says it loses.
func (x *Drop) Store() (ok bool) {
	waiting := x.Waiting
	for _, d := range x.chain.Deliveries {
		s := x.shareOf(d)
		x.shares = append(x.shares, s)
		if d.Dest != nil {
			d.Lost.Drop = s.stored
		}
	}
	x.chain.Unlock()
	for _, d := range x.chain.Deliveries {
		// Until the link is gone, only this goroutine writes Lost.Drop.
		if d.Cursor == nil || d.Lost.Drop.Segment == 0 {
			continue
		}
		d.putting.Lock()
		err := d.Cursor.PutDrop(&d.Lost.Drop)
		d.putting.Unlock()
		if err != nil {
			d.spool.Fault("write the cursor", err)
		}
	}
	x.chain.Lock()
	return x.Waiting == waiting
}

// Count counts the loss for each destination that has not left the link. If
// there is no destination, it returns the lines that the next one loses.
func (x *Drop) Count() (lines segment.Tally) {
	for i, d := range x.chain.Deliveries {
		s := &x.shares[i]
		d.Skipped += s.numbers
		d.Recovered -= s.never
		d.Unfinished += s.unfinished
		isGone := func(seq uint64) bool { return seq >= x.First && seq < x.end }
		d.absent = slices.DeleteFunc(d.absent, isGone)
		if d.Dest == nil {
			return s.lines
		}
		d.Dropped = d.Dropped.Plus(&s.lines)
		d.announced = slices.DeleteFunc(d.announced, func(n notice) bool { return isGone(n.seq) })
		if repeated := s.stored.Lines.Minus(&s.lines); !x.Own {
			d.Inherited = d.Inherited.Plus(&repeated)
		}
	}
	return lines
}

// End ends what Store has begun. If the segment is gone, its lines are lost.
func (x *Drop) End(gone bool) {
	x.chain.Unlock()
	defer x.chain.Lock()
	for _, d := range x.chain.Deliveries {
		d.putting.Lock()
		x.chain.Lock()
		d.Lost.End(gone)
		x.chain.Unlock()
		if d.Cursor != nil {
			d.Cursor.Losses().End(gone)
		}
		d.putting.Unlock()
	}
}
