// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"runtime/debug"
	"slices"
	"time"

	"github.com/nib-log/nib"
)

// A link is a segment in the chain of those that exist, oldest first. The last
// one is active. Each destination is at one link, has settled those before it
// and nothing of those behind it; a link that all have left is deleted. The
// fields are protected by Sink.mu.
type link struct {
	oldSegment           // end is not known as long as live is there
	live       *segment  // of this process; nil: it is read from its file
	waiting    int       // destinations that have not left it
	told       tally     // what the notice in it reports, once live is nil
	kept       bool      // a cursor could not be synced: the next start deletes the file
	none       bool      // it stands for the active segment where there is none, see beginFull
	unread     time.Time // when it could not be read to be dropped
	bad        bool      // pages of the file could not be read, and were given up: it is quarantined
}

// link makes a segment of this process the last of the chain. mu is held.
func (s *Sink) link(g *segment) {
	s.chain = append(s.chain, &link{oldSegment: oldSegment{identity: g.identity, start: g.start}, live: g, waiting: len(s.deliveries)})
}

// unload frees the memory of twins that are not being read: they are read from
// their files later, like those of other processes. mu is held.
func (s *Sink) unload() {
	for _, l := range s.chain[:len(s.chain)-1] {
		g := l.live
		if g == nil || g.twin == nil || l.none || slices.ContainsFunc(s.deliveries, func(d *deliverer) bool { return d.isAt(l) }) {
			continue
		}
		if next, whole := g.twin.whole(g); whole {
			l.live, l.end, l.told = nil, next, g.told
			g.drop()
		}
	}
}

// near is how many segments behind the one that is read keep their pages.
const near = 1

// layDown evicts the pages of mapped segments that are not read soon, but keeps
// the mappings: lines that wait for long are in the page cache then, where the
// system can reclaim them, and are not memory of the process. A goroutine that
// reads or writes there nevertheless faults its page in; a reader that begins
// prefetches all. mu is held.
func (s *Sink) layDown() {
	soon := 0 // the next segments are read or near
	for i, l := range s.chain {
		if slices.ContainsFunc(s.deliveries, func(d *deliverer) bool { return d.isAt(l) }) {
			soon = near + 1
		}
		soon--
		g := l.live
		if soon >= 0 || i >= len(s.chain)-2 || g == nil || g.free == nil || g.twin != nil || g.resting {
			continue // the last one is active, and the one before is being copied
		}
		if s.dir.sweeper.count() == mostSpent {
			return // the next time
		}
		g.resting = true
		g.hold()
		s.dir.sweeper.add(&spent{pages: g.b, unmap: g.letGo})
	}
}

// rouse returns the pages of a segment that layDown has evicted, for fetch. mu
// is held.
func (l *link) rouse() (pages []byte) {
	if g := l.live; g != nil && g.resting {
		g.resting = false
		return g.b
	}
	return nil
}

// isAt reports whether the delivery reads l, or has read from it records that are not
// settled. mu is held.
func (d *deliverer) isAt(l *link) bool {
	return l.number >= d.cur.number && l.number <= d.reading.number
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
	pages := next.rouse()
	s.mu.Unlock()
	fetch(pages)
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
		done := d.cur != next && (len(d.batch) == 0 || d.settled >= next.first)
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
		_, l.end, _ = g.claimed()
		l.live, l.told = nil, g.told
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
		g.done(nil)
	}
}

// remove deletes a link that is not in the chain any more, and makes room for
// another.
func (s *Sink) remove(l *link) {
	if l.none {
		l.live.done(nil)
		return
	}
	if l.kept {
		if l.live != nil {
			l.live.done(nil)
		}
	} else if err := s.delete(l); err != nil {
		s.fault("delete a segment", err) // the next start deletes it
	}
	s.mu.Lock()
	s.segments, s.bytes = s.segments-1, s.bytes-l.size
	s.wantMore()
	s.broadcast()
	s.mu.Unlock()
}

// delete deletes the file of a link. What one in memory had is used again.
func (s *Sink) delete(l *link) error {
	if l.bad {
		if err := s.dir.quarantine(segmentName(l.number)); err != nil {
			return err
		}
		return s.dir.removeItsCopy(l.number)
	}
	if s.dir != nil {
		return s.dir.remove(l.number, l.live)
	}
	if l.live.abandoned {
		return nil
	}
	select {
	case s.spare <- l.live.b: // no writer has anything left to do there
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
	s.noteDropped(next, next.first-(l.first-l.skipped))
	s.chain = slices.Delete(s.chain, i, i+1)
	if err := s.delete(l); err != nil { // all is committed: no writer has anything left to do there
		s.stats.Errors++ // the next start deletes it
	}
	s.segments, s.bytes = s.segments-1, s.bytes-l.size
	s.wantMore()
	s.broadcast()
	return true
}

// countOldest counts the lines of a link that is dropped, for each destination
// that has not left it. mu is held.
func (s *Sink) countOldest(l *link) bool {
	var lines []lineHead
	end, never, harmed := l.end, uint64(0), false
	if time.Since(l.unread) < makePause {
		return false // each line would read it
	}
	if g := l.live; g != nil {
		_, end, _ = g.claimed()
		whole := false
		if lines, whole = g.lines(); !whole {
			return s.cannotDrop(l, errGone)
		}
		if uint64(len(lines)) != end-l.first {
			return false
		}
	} else {
		b, err := s.dir.read(&l.oldSegment)
		if err != nil {
			return s.cannotDrop(l, err)
		}
		lines, harmed = linesIn(b, &l.oldSegment, end)
		never = end - l.sure
		if n := len(lines); n > 0 {
			never = min(never, end-1-lines[n-1].seq)
		}
		if l.gen != s.dir.gen && hasNotice(b, &l.oldSegment) { // not all destinations have read that
			unread := countsIn(b, l.seed(), told)
			s.inherited = s.inherited.plus(&unread)
		}
	}
	for _, d := range s.deliveries {
		numbers := end - min(max(l.first, d.settled), end) // none, if it has left the link
		d.skips += numbers
		for _, x := range lines {
			if x.seq >= d.settled {
				d.dropped.add(oldest, x.level, 1)
				numbers--
			}
		}
		given := numbers - min(never, numbers)
		d.recovered -= numbers - given
		if harmed {
			d.dropped.add(damaged, levelUnknown, given)
		} else {
			d.unfinished += given
		}
	}
	if l.live != nil {
		l.told = l.live.told
	}
	s.told = s.told.minus(&l.told) // not all destinations have read that
	return true
}

// cannotDrop notes that a link cannot be read. mu is held.
func (s *Sink) cannotDrop(l *link, err error) (ok bool) {
	l.unread = time.Now()
	s.faultLocked("read the oldest segment, to drop it", err)
	return false
}

// A lineHead is what is counted of a line.
type lineHead struct {
	seq   uint64
	level nib.Level
}

// lines returns what there is in g. whole is false if a page of it cannot be
// read.
func (g *segment) lines() (lines []lineHead, whole bool) {
	defer g.endGuard(debug.SetPanicOnFault(true))
	at, end, _ := g.claimed()
	lines, _ = linesIn(g.b[:at], &oldSegment{identity: g.identity, start: g.start}, end)
	return lines, true
}

// linesIn returns what there is in b of a segment before number end, and
// whether some of it is damaged.
func linesIn(b []byte, g *oldSegment, end uint64) (lines []lineHead, harmed bool) {
	for sc := newScanner(b, g.identity, g.first); ; {
		rec, gap, ok := sc.next()
		harmed = harmed || gap.damaged
		if !ok || sc.want > end {
			return lines, harmed
		}
		lines = append(lines, lineHead{sc.want - 1, nib.Level(int16(le.Uint16(rec[28:])))})
	}
}
