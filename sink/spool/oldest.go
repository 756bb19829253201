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
// makes segments drops it, and reads, writes and deletes files without the
// lock: a slow disk holds up that goroutine only. The steps:
//
//	roll              requestDrop      a call asks, and waits
//	serveDropRequest  dropOldest       until there is room
//	                  readOldest       counts the lines of the segment
//	                  storeDrop        stores in the cursors what they lose
//	                  dropLink         counts the loss, and deletes the segment
//	                  clearStoredDrop  the loss is final
//	endDropRequest                     waiting calls continue
//
// After a death between storeDrop and clearStoredDrop, the next start counts
// the loss if the segment is gone (deliver.Delivery.Recall).

// requestDrop asks for the oldest segment to be dropped, of this spool or of
// its peers, and reports whether there is one. It does not ask if making a
// segment failed for another reason than a full disk. The lock is held.
func (ch *chain) requestDrop() bool {
	if ch.makeErr != nil && !vfs.IsFull(ch.makeErr) {
		return false
	}
	if ch.oldest() == nil {
		return ch.peers.requestDrop()
	}
	ch.dropRequested = true
	ch.wantMore()
	return true
}

// isDropping reports whether a segment is being dropped, or will be. The
// lock is held.
func (ch *chain) isDropping() bool {
	return ch.dropRequested || ch.dropping || ch.peers.isDropping()
}

// makeRoom makes room for another segment if there is none, and returns the
// maximum size of all segments.
func (m *maker) makeRoom() (limit int64, err error) {
	if limit, err = m.peers.limit(); err == nil {
		err = m.freeUndeleted(limit)
	}
	if err == nil {
		m.serveDropRequest()
	}
	return limit, err
}

// serveDropRequest drops the oldest segments if a call has asked for it, until
// there is room for another one. It drops only one if the disk is full, or if
// the room is not for this spool.
func (m *maker) serveDropRequest() {
	m.Lock()
	defer m.Unlock()
	m.dropping, m.dropRequested = m.dropRequested, false
	one := vfs.IsFull(m.makeErr) || m.c.DeliverOnly
	for m.dropping && !m.Closed && m.next == nil && (one || !m.hasRoom()) {
		if !m.dropOldest() || one {
			return
		}
	}
}

// endDropRequest ends the operation that serveDropRequest has begun, and lets
// the waiting calls continue.
func (m *maker) endDropRequest() {
	m.Lock()
	was := m.dropping
	m.dropping = false
	m.Unlock()
	if !was {
		return
	}
	m.peers.dropped(0)
	m.retry(0)
}

// retry lets the waiting calls continue, since so many bytes are free.
func (ch *chain) retry(freed int64) {
	ch.Lock()
	defer ch.Unlock()
	ch.limit += freed
	ch.wantMore()
	ch.Broadcast()
}

// oldest returns the oldest segment that no destination is reading and that
// could be read a moment ago, or nil if there is none. The lock is held.
func (ch *chain) oldest() *deliver.Link {
	i := slices.IndexFunc(ch.Links, func(l *deliver.Link) bool {
		return !l.Placeholder && time.Since(l.UnreadSince) >= makePause && !ch.IsRead(l)
	})
	if i < 0 || i == len(ch.Links)-1 {
		return nil
	}
	return ch.Links[i]
}

// dropOldest drops the oldest segment that no destination is reading, and
// counts its lines for the destinations that have not settled them. A segment
// that cannot be read stays, and the next one is dropped. It returns false if
// there is none, or if it cannot be deleted or is still being written to. The
// lock is held, but not while files are accessed.
func (m *maker) dropOldest() bool {
	for range len(m.Links) {
		l := m.oldest()
		if l == nil {
			return false
		}
		c, err := m.readOldest(l)
		switch {
		case m.oldest() != l: // a destination has reached it
		case err != nil:
			l.Defer()
			m.reports.Fault("read the oldest segment, to drop it", err)
		case c.unfinished || !m.storeDrop(l, &c):
			return false
		default:
			ok := m.dropLink(l, &c)
			m.clearStoredDrop(true)
			return ok
		}
	}
	return false
}

// storeDrop stores in the cursors which lines their destinations are going to
// lose with a segment. It returns false if a destination has reached the
// segment by then. The lock is held, but not while files are accessed.
func (m *maker) storeDrop(l *deliver.Link, c *content) bool {
	for _, d := range m.Deliveries {
		if !m.noDestination {
			_, d.Lost.Drop = c.shareOf(d, l, m.opened)
		}
	}
	m.Unlock()
	for _, d := range m.Deliveries {
		if x := d.Lost.Drop; x.Segment != 0 { // only this goroutine writes it
			d.PutDrop(x)
		}
	}
	m.Lock()
	if m.oldest() != l {
		m.clearStoredDrop(false)
		return false
	}
	return true
}

// clearStoredDrop ends what storeDrop has begun. The lock is held, but not
// while it waits for cursors.
func (m *maker) clearStoredDrop(complete bool) {
	m.Unlock()
	defer m.Lock()
	for _, d := range m.Deliveries {
		d.EndDrop(complete)
	}
}

// dropLink drops a segment with the content c. The lock is held, but not while
// files are accessed.
func (m *maker) dropLink(l *deliver.Link, c *content) bool {
	m.countOldest(l, c)
	m.publish()
	i := slices.Index(m.Links, l)
	next := m.Links[i+1]
	if next.Placeholder && i+2 < len(m.Links) {
		next = m.Links[i+2]
	}
	write := m.recordDropped(next, next.First-(l.First-l.Skipped))
	old := next.Old
	m.Drop(l)
	m.Unlock()
	defer m.Lock()
	if write {
		m.writeDropped(&old)
	}
	ok := m.remove(l)
	if ok {
		m.peers.dropped(l.Size)
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

// readOldest reads a segment before it is dropped. The lock is held, but not
// while it reads.
func (m *maker) readOldest(l *deliver.Link) (c content, err error) {
	if g := l.Live; g != nil {
		g.Retain()
		defer g.Release()
		m.Unlock()
		lines, whole := g.Lines()
		m.Lock()
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
	m.Unlock()
	defer m.Lock()
	b, err := m.dir.Read(&old)
	if err != nil {
		return c, err
	}
	c.end, c.never = old.End, old.End-old.Sure
	c.lines, c.harmed = old.LinesIn(b, c.end)
	c.harmed = c.harmed || old.Whole
	if n := len(c.lines); n > 0 {
		c.never = min(c.never, c.end-1-c.lines[n-1].Seq)
	}
	if c.own = old.Gen == m.dir.Gen; !c.own && old.HasNotice(b) {
		c.notice = old.Counts(b, segment.SectionReported)
	}
	return c, nil
}

// A share is what a destination loses with a segment that is dropped.
type share struct {
	numbers    uint64 // unsettled numbers that Delivery.Skipped does not have yet
	unfinished uint64 // of numbers: claimed by calls that did not return
	never      uint64 // of numbers: never used, or notices for others
	lines      segment.Tally
}

// shareOf returns what a destination loses with a link: its lines, and the
// notice for all destinations, which has to be repeated for this one. opened is
// the number of the first record of this process. The lock is held.
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
	given := numbers - min(c.never, numbers) // numbers is now the count without a record
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
// that has not left it. The lock is held.
func (m *maker) countOldest(l *deliver.Link, c *content) {
	for _, d := range m.Deliveries {
		lost, x := c.shareOf(d, l, m.opened)
		d.Skipped += lost.numbers
		d.Recovered -= lost.never
		d.Unfinished += lost.unfinished
		switch {
		case m.noDestination && c.own: // lost for whatever destination comes later
			m.dropped = m.dropped.Plus(&lost.lines)
			m.reported = m.reported.Minus(&c.notice)
		case m.noDestination:
			m.dropped = m.dropped.Plus(&lost.lines)
			m.inherited = m.inherited.Plus(&c.notice)
		default:
			d.Dropped = d.Dropped.Plus(&lost.lines)
			d.Drop(x, l.First)
			if repeated := x.Lines.Minus(&lost.lines); !c.own {
				d.Inherited = d.Inherited.Plus(&repeated)
			}
		}
	}
}

// recordDropped records that the numbers before a link were in dropped
// segments, and stores it in the header of the link. Otherwise the next start
// would count them as damaged. It returns true if the caller must call
// writeDropped. The lock is held.
func (ch *chain) recordDropped(l *deliver.Link, numbers uint64) (write bool) {
	if ch.dir == nil {
		return false
	}
	l.Passed(numbers)
	switch {
	case l.Placeholder: // the next segment stores the number
	case l.Live != nil:
		ch.counted(l.Live.SetDropped(numbers))
	default:
		return true
	}
	return false
}

// writeDropped stores the numbers that recordDropped has recorded in the file
// of the segment.
func (m *maker) writeDropped(g *segment.Old) {
	f, err := m.dir.FS.Open(m.dir.Name(store.SegmentName(g.Number)), os.O_RDWR, 0)
	if err == nil {
		if err = g.WriteDropped(f, g.Skipped); err != nil {
			_ = f.Close() // the write has failed already
		} else {
			err = f.Close()
		}
	}
	if store.Ignore(err, fs.ErrNotExist) != nil { // the segment may be settled and deleted by now
		m.reports.Fault("note dropped segments", err)
	}
}
