// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"slices"
	"sync"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A Chain is the segments that exist, oldest first; the last one is active. Its
// lock protects the links, and the progress of all deliveries that read them.
type Chain struct {
	sync.Mutex
	Links       []*Link
	Deliveries  []*Delivery   // does not change once the spool is open
	Closed      bool          // no more records are written
	Unlinked    int           // segments that left the chain and are being deleted
	Quarantined int           // files that are going to be quarantined
	changed     chan struct{} // closed when a waiting call should look again; nil if there is none
}

// from returns the links from l on, or nil if l is gone. The lock is held.
func (c *Chain) from(l *Link) []*Link {
	if i := slices.Index(c.Links, l); i >= 0 {
		return c.Links[i:]
	}
	return nil
}

// Append makes a segment of this process the last of the chain. copied reports
// whether it is going to be copied. The lock is held.
func (c *Chain) Append(g *segment.Segment, copied bool) *Link {
	l := c.AppendOld(*g.Old())
	l.Live, l.Copied = g, copied
	return l
}

// AppendOld makes a segment of an earlier process the last of the chain.
func (c *Chain) AppendOld(g segment.Old) *Link {
	l := &Link{Old: g, Waiting: len(c.Deliveries)}
	c.Links = append(c.Links, l)
	return l
}

// AppendPlaceholder appends a link that stands for the active segment, since
// there is none.
func (c *Chain) AppendPlaceholder(g *segment.Segment) { c.Append(g, false).Placeholder = true }

// HasPlaceholder reports whether the last link stands for a segment that does
// not exist. The lock is held.
func (c *Chain) HasPlaceholder() bool {
	n := len(c.Links)
	return n > 0 && c.Links[n-1].Placeholder
}

// IsRead reports whether a delivery reads l, or has read from it records that
// are not settled. The lock is held.
func (c *Chain) IsRead(l *Link) bool {
	return slices.ContainsFunc(c.Deliveries, func(d *Delivery) bool { return d.IsAt(l) })
}

// Unload frees the memory of twins that are not being read: they are read from
// their files later, like segments of other processes. The lock is held.
func (c *Chain) Unload() {
	for _, l := range c.Links[:len(c.Links)-1] {
		g := l.Live
		if g == nil || l.Placeholder || !g.IsWritten() || c.IsRead(l) {
			continue
		}
		if g.Whole() {
			l.detach()
			l.Whole = true
			g.Release()
		}
	}
}

// Unlink removes a link, whose segment is going to be deleted. The lock is
// held.
func (c *Chain) Unlink(l *Link) {
	i := slices.Index(c.Links, l)
	c.Links = slices.Delete(c.Links, i, i+1)
	c.Unlinked++
}

// nextNumber returns the number of the next record that is written. The lock is
// held.
func (c *Chain) nextNumber() uint64 {
	last := c.Links[len(c.Links)-1]
	if last.Live == nil {
		return last.End
	}
	_, next, _ := last.Live.Claimed()
	return next
}

// Change returns a channel that the next Broadcast closes. The lock is held.
func (c *Chain) Change() <-chan struct{} {
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return c.changed
}

// Broadcast wakes everything that waits for a change. The lock is held.
func (c *Chain) Broadcast() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// IsAwaited reports whether any call waits for a change.
func (c *Chain) IsAwaited() bool {
	c.Lock()
	defer c.Unlock()
	return c.changed != nil
}

// IsClosed reports whether no more records are written.
func (c *Chain) IsClosed() bool {
	c.Lock()
	defer c.Unlock()
	return c.Closed
}

// Position returns the number of the first record that some destination has not
// settled.
func (c *Chain) Position() uint64 {
	c.Lock()
	defer c.Unlock()
	return c.Lowest()
}

// Lowest is Position under the lock.
func (c *Chain) Lowest() uint64 {
	lowest := c.Deliveries[0].Settled
	for _, d := range c.Deliveries {
		lowest = min(lowest, d.Settled)
	}
	return lowest
}

// SettledIn returns the number of the first record that some destination has
// not settled, and the offset and the number of a record in a segment of this
// process, before which every record is settled by all, or 0.
func (c *Chain) SettledIn(segment uint64) (settled uint64, at int, seq uint64) {
	c.Lock()
	defer c.Unlock()
	settled = c.Lowest()
	for _, d := range c.Deliveries {
		if d.Settled == settled {
			at, seq = d.settledIn(segment)
			break
		}
	}
	return settled, at, seq
}

// SettledAll reports whether all destinations have settled the records before
// number end, and the losses among them are in the cursors. The lock is held.
func (c *Chain) SettledAll(end uint64) bool {
	for _, d := range c.Deliveries {
		if d.Settled < end || d.unwritten != (segment.Tally{}) {
			return false
		}
	}
	return true
}

// A Spool is the spool that lines are delivered from. Its methods are called
// without the lock of the chain.
type Spool interface {
	Remove(l *Link)           // deletes the segment of a link that was unlinked
	Leave(g *segment.Segment) // g stays, and is no longer read
	Fault(op string, err error)
	Report(op string, err error)
	ReportNoted() // reports the errors that the directory has noted
}
