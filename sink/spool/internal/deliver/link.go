// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A Link is a segment in the chain of those that exist, oldest first. The last
// one is active. Each destination is at one link; it has settled all links
// before that one and nothing after it. A link that all destinations have left
// is deleted. The lock of the chain protects the fields.
type Link struct {
	segment.Old // End is not known while Live is set
	// The segment, if it is of this process; nil if it is read from its file.
	Live        *segment.Segment
	Waiting     int       // destinations that have not left it
	KeepFile    bool      // a cursor could not be synced: the file stays while there is room
	Placeholder bool      // stands for the active segment if there is none; see beginFull
	UnreadSince time.Time // time at which it could not be read or dropped
	// Pages of the file were unreadable and count as damaged: it is
	// quarantined.
	Quarantine bool
}

// detach lets go of the segment, whose claims are final: from now on the link
// is read from its file. The lock of the chain is held.
func (l *Link) detach() {
	_, l.End, _ = l.Live.Claimed()
	l.Sure, l.Live = l.End, nil
}

// evictedPages returns the pages of a segment that were evicted, for Prefetch.
// The lock of the chain is held.
func (l *Link) evictedPages() (pages []byte) {
	if l.Live == nil {
		return nil
	}
	return l.Live.EvictedPages()
}

// IsAt reports whether the delivery reads l, or has read from it records that
// are not settled. A placeholder has the Number of the link before, and a link
// without records the First of the link after it. The lock of the chain is
// held.
func (d *account) IsAt(l *Link) bool {
	return l.Number >= d.cur.Number && l.Number <= d.reading.Number &&
		l.First >= d.cur.First && l.First <= d.reading.First
}

// leave moves on to the next link when all records read are settled, and
// returns false if there is no next link.
func (d *Delivery) leave() bool {
	d.chain.Lock()
	next := d.nextLink(d.reading)
	if next == nil {
		d.chain.Unlock()
		return false
	}
	d.reading, d.scan, d.entered, d.rescued = next, nil, false, false
	pages := next.evictedPages()
	d.chain.Unlock()
	segment.Prefetch(pages)
	d.leaveSettled()
	return true
}

// leaveSettled leaves the links whose records are all settled.
func (d *Delivery) leaveSettled() {
	for {
		d.chain.Lock()
		next := d.reading
		if d.cur != next {
			next = d.nextLink(d.cur)
		}
		done := d.cur != next && (len(d.batch) == 0 || d.Settled >= next.First)
		d.chain.Unlock()
		if !done {
			return
		}
		d.leaveLink(next)
	}
}

// leaveLink leaves cur for the next link. The cursor is synced first: otherwise
// a start would count the records of a deleted segment as lost.
func (d *Delivery) leaveLink(next *Link) {
	var err error
	if d.Cursor != nil {
		if err = d.syncCursor(); err != nil {
			d.spool.Fault("sync the cursor", err)
		}
	}
	d.chain.Lock()
	l := d.cur
	d.cur = next
	l.Waiting--
	l.KeepFile = l.KeepFile || err != nil
	left := l.Waiting == 0
	g := l.Live
	if left && g != nil && d.Dest == nil {
		l.detach()
	}
	if left && d.Dest != nil {
		d.chain.Unlink(l)
	}
	d.chain.Unlock()
	switch {
	case left && d.Dest != nil:
		d.spool.Remove(l)
	case left && g != nil:
		d.spool.Leave(g)
	}
}

// nextLink returns the link after l, or nil. The lock of the chain is held.
func (d *account) nextLink(l *Link) *Link {
	if links := d.chain.from(l); len(links) > 1 {
		return links[1]
	}
	return nil
}
