// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"time"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A Link is a segment in the chain of those that exist, oldest first. The last
// one is active. Each destination is at one link, has settled those before it
// and nothing of those behind it; a link that all have left is deleted. The
// fields are protected by the lock of the spool.
type Link struct {
	segment.Old                  // end is not known as long as live is there
	Live        *segment.Segment // of this process; nil: it is read from its file
	Waiting     int              // destinations that have not left it
	Reported    segment.Tally    // what the notice in it reports, once live is nil
	KeepFile    bool             // a cursor could not be synced: the next start deletes the file
	Placeholder bool             // it stands for the active segment where there is none, see beginFull
	UnreadSince time.Time        // when it could not be read to be dropped
	Quarantine  bool             // pages of the file could not be read, and were given up: it is quarantined
}

// evictedPages returns the pages of a segment that were evicted, for Prefetch.
// The lock of the spool is held.
func (l *Link) evictedPages() (pages []byte) {
	if l.Live == nil {
		return nil
	}
	return l.Live.EvictedPages()
}

// IsAt reports whether the delivery reads l, or has read from it records that
// are not settled. The lock of the spool is held.
func (d *Delivery) IsAt(l *Link) bool {
	return l.Number >= d.cur.Number && l.Number <= d.reading.Number
}

// leave goes on to the next link when all that was read is settled, and reports
// false if there is none.
func (d *Delivery) leave() bool {
	d.spool.Lock()
	next := d.behind(d.reading)
	if next == nil {
		d.spool.Unlock()
		return false
	}
	d.reading, d.scan, d.entered, d.rescued = next, nil, false, false
	pages := next.evictedPages()
	d.spool.Unlock()
	segment.Prefetch(pages)
	d.leaveSettled()
	return true
}

// leaveSettled leaves the links of which all is settled.
func (d *Delivery) leaveSettled() {
	for {
		d.spool.Lock()
		next := d.reading
		if d.cur != next {
			next = d.behind(d.cur)
		}
		done := d.cur != next && (len(d.batch) == 0 || d.Settled >= next.First)
		d.spool.Unlock()
		if !done {
			return
		}
		d.quit(next)
	}
}

// quit leaves cur for the link behind it. A cursor is synced first: else a
// start would take the records of a segment that was deleted for lost ones.
func (d *Delivery) quit(next *Link) {
	var err error
	if d.Cursor != nil {
		if err = d.sync(); err != nil {
			d.spool.Fault("sync the cursor", err)
		}
	}
	d.spool.Lock()
	l := d.cur
	d.cur = next
	l.Waiting--
	l.KeepFile = l.KeepFile || err != nil
	left := l.Waiting == 0
	g := l.Live
	if left && g != nil && d.Dest == nil {
		_, l.End, _ = g.Claimed()
		l.Live, l.Reported = nil, g.Reported
	}
	if left && d.Dest != nil {
		d.spool.Unlink(l)
	}
	d.spool.Unlock()
	switch {
	case left && d.Dest != nil:
		d.spool.Remove(l)
	case left && g != nil:
		g.Done(nil)
	}
}

// behind returns the link behind l, or nil. The lock of the spool is held.
func (d *Delivery) behind(l *Link) *Link {
	if links := d.spool.From(l); len(links) > 1 {
		return links[1]
	}
	return nil
}
